internal import CALSA
import Glibc
package import SessionModel
import Threading

/// An ALSA PCM that is captured from: `default`, `hw:…`, a plugin's.
package struct ALSASource: ~Copyable, AudioSource {
  package let format: AudioFormat
  package let deviceName: String
  // ALSA's names lead to one device, or its plugin follows by itself.
  package let isOutdated = false
  // What mutes a card is in its mixer, whose controls mean something else on each.
  package let isMuted = false
  private let pcm: OpaquePointer
  private let sampleFormat: ALSASampleFormat
  /// Frames that are waited for, half a period: some devices tell of each single one, and a block a frame would use up
  /// the blocks that there are for two seconds.
  private let smallestPiece: Int
  /// Where samples that are no floats are read to.
  private let scratch: UnsafeMutablePointer<Int32>
  private var isBeginning = true
  private var isGone = false
  private var hole = AudioHole.none
  private var lastSound = MonotonicClock.now()

  /// Opens the PCM called `name`, at the rate nearest to 48 kHz and the channel count nearest to stereo that it has
  /// without converting.
  /// - Parameters:
  ///   - channel: the one channel of it that is wanted, from 1; nil is all of them.
  ///   - explains: whether the error is to name what there is in its place.
  /// - Throws: `RecorderError`: unavailable when there is no such PCM, or it cannot be captured from; usage when it can,
  ///   and not as it was asked for.
  package init(pcm name: String, channel: Int? = nil, explains: Bool = false) throws(RecorderError) {
    recorder_alsa_silence()
    var opened: OpaquePointer?
    // Without NONBLOCK the call waits for ever while another program has the device.
    let status = snd_pcm_open(&opened, name, SND_PCM_STREAM_CAPTURE, SND_PCM_NONBLOCK)
    guard status >= 0, let pcm = opened else {
      throw ALSAFailure.opening(name, status, explains: explains)
    }
    let negotiated: (format: AudioFormat, samples: ALSASampleFormat)
    do throws(RecorderError) {
      negotiated = try ALSASampleFormat.negotiate(pcm, name: name, channel: channel)
      // A device that is only prepared never delivers, and never says so.
      let status = snd_pcm_start(pcm)
      guard status >= 0 else { throw ALSAFailure.opening(name, status) }
    } catch {
      snd_pcm_close(pcm)
      throw error
    }
    self.pcm = pcm
    (format, sampleFormat) = negotiated
    var (buffer, period) = (snd_pcm_uframes_t(), snd_pcm_uframes_t())
    smallestPiece = snd_pcm_get_params(pcm, &buffer, &period) >= 0 ? max(1, Int(clamping: period / 2)) : 1
    deviceName = name
    scratch = .allocate(capacity: AudioBlock.capacity)
  }

  deinit {
    snd_pcm_close(pcm)
    scratch.deallocate()
  }

  package mutating func read(into block: inout AudioBlock, until deadline: Int64) throws(RecorderError) -> Bool {
    let wanted = snd_pcm_uframes_t(AudioBlock.capacity / format.channels)
    while true {
      var count = snd_pcm_avail_update(pcm)
      // What a device had left when it fell silent is taken at the deadline, lest it be dated with what comes later.
      if count >= smallestPiece || (count > 0 && MonotonicClock.now() >= deadline) {
        count =
          sampleFormat == .float
          ? snd_pcm_readi(pcm, block.samples, wanted) : snd_pcm_readi(pcm, scratch, wanted)
      } else if count > 0 {
        count = 0
      }
      if count > 0 {
        fill(&block, frames: Int(count))
        return true
      }
      let remaining = deadline - MonotonicClock.now()
      guard remaining > 0 else { return false }
      if count == 0 || count == -Int(EAGAIN) {
        // Rounded up: rounded down the last millisecond would be spun away.
        wait(milliseconds: Int32(clamping: (remaining + 999_999) / 1_000_000))
      } else {
        try recover(Int32(count))
      }
    }
  }

  /// Waits until the device has something to say. `snd_pcm_wait` would begin its time anew at each wake-up that brings no
  /// sound, and so never end with a plugin that wakes by a clock while its device stalls.
  private func wait(milliseconds: Int32) {
    let count = min(Int(snd_pcm_poll_descriptors_count(pcm)), Self.pollDescriptors)
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: Self.pollDescriptors) { polled in
      let filled = snd_pcm_poll_descriptors(pcm, polled.baseAddress, UInt32(clamping: count))
      guard filled > 0, poll(polled.baseAddress, nfds_t(filled), milliseconds) > 0 else { return }
      // Some plugins take a wake-up back here; what it means, the next read tells.
      var events: UInt16 = 0
      _ = snd_pcm_poll_descriptors_revents(pcm, polled.baseAddress, UInt32(clamping: filled), &events)
    }
  }

  // More than any plugin has: one a slave.
  private static let pollDescriptors = 16

  /// Starts the device again after an overrun (EPIPE) or a suspended machine (ESTRPIPE).
  private mutating func recover(_ status: Int32) throws(RecorderError) {
    hole = .overrun
    let silently: Int32 = 1
    guard snd_pcm_recover(pcm, status, silently) >= 0 else { throw lost(status) }
    let started = snd_pcm_start(pcm)
    // It may have been started by the recovery already.
    guard started >= 0 || snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING else { throw lost(started) }
  }

  package var outage: AudioHole {
    if isGone { return .lost }
    return switch snd_pcm_state(pcm) {
    case SND_PCM_STATE_DISCONNECTED: .lost
    case SND_PCM_STATE_SUSPENDED: .suspended
    default: .stalled
    }
  }

  private mutating func lost(_ status: Int32) -> RecorderError {
    isGone = true
    return RecorderError(
      .sourceLost,
      "The sound device \(AudioDevice.alsa(pcm: deviceName).description) is gone (\(ALSAFailure.words(status))).")
  }

  private mutating func fill(_ block: inout AudioBlock, frames: Int) {
    sampleFormat.convert(scratch, to: block.samples, count: frames * format.channels)
    let (unread, now) = unreadFrames()
    let age = (unread + Int64(frames)) * 1_000_000_000 / Int64(format.sampleRate)
    if now - lastSound >= AudioBlock.longestPause && hole == .none && !isBeginning { hole = .stalled }
    lastSound = now
    block.time = now - age
    block.format = format
    block.frames = frames
    (block.isBeginning, block.hole) = (isBeginning, hole)
    (block.part, block.isEnd) = (0, false)
    (isBeginning, hole) = (false, .none)
  }
}

extension ALSASource {
  // A thread that was put aside between the two clocks reads them again; neither takes 0.2 ms.
  private static let attempts = 3
  private static let tolerance: Int64 = 200_000

  /// Frames that the device has taken and not given yet, and the time at which that was so, in ns of `CLOCK_MONOTONIC`.
  private func unreadFrames() -> (frames: Int64, time: Int64) {
    var (frames, before): (snd_pcm_sframes_t, Int64) = (0, 0)
    for _ in 0..<Self.attempts {
      before = MonotonicClock.now()
      // A plugin without a delay of its own has at least what can be read.
      if snd_pcm_delay(pcm, &frames) < 0 { frames = max(0, snd_pcm_avail_update(pcm)) }
      if MonotonicClock.now() - before < Self.tolerance { break }
    }
    return (Int64(clamping: frames), before)
  }
}

/// What ALSA's error numbers mean for a person.
enum ALSAFailure {
  /// alsa-lib's words for an error number.
  static func words(_ status: Int32) -> String { snd_strerror(status).map { String(cString: $0) } ?? "\(status)" }

  /// The error for a PCM that could not be opened.
  /// - Parameter explains: whether it is to name what there is in its place.
  static func opening(_ name: String, _ status: Int32, explains: Bool = false) -> RecorderError {
    let device = AudioDevice.alsa(pcm: name).description
    switch -status {
    case ENOENT, ENODEV:
      let there = explains ? ALSAInventory.devices.map(\.specification) : []
      let asked = AudioDevice.alsa(pcm: name).specification
      // One that ALSA knows by its name is just not there.
      return MissingDevice.error(asked, among: Set(there).subtracting([asked]))
    case EBUSY: return RecorderError(.unavailable, "Another program uses the sound device \(device).")
    case ECONNREFUSED:
      return RecorderError(
        .unavailable, "No sound server answers for \(device).", hint: "Start PulseAudio or PipeWire.")
    default: return RecorderError(.unavailable, "The sound device \(device) cannot be opened (\(words(status))).")
    }
  }
}
