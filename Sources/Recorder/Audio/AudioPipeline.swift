internal import Capture
package import Media
package import SessionModel
import Synchronization
internal import Threading

/// A recording's sound, from the devices to the packets of its tracks, 48 kHz and stereo: first the mix, then each input
/// by itself when there are more than one.
///
/// A thread captures each input; one mixes and encodes. Each track has every frame from the session's epoch to its end:
/// where an input has nothing there is silence, and a gap event when that lasts 50 ms.
///
/// A device that is missing at the start is a warning: the recording goes on, silent, until it is there. Of a strict
/// recording it is an error before anything is recorded.
package final class AudioPipeline: Sendable {
  /// What the file's header has to know of the tracks, in their order: the mix is the first.
  package let streams: [StreamDescription]
  /// Which of `inputs` each track carries.
  package let trackInputs: [[String]]
  /// The inputs that the mix is made of, as the manifest names them: `application`, `microphone`.
  package let inputs: [String]
  private let shared: AudioShared
  private let captures: [AudioThread]
  private let mix: AudioMixThread

  /// How long opening the devices may take, in ns: two servers' patience of three seconds each.
  private static let patience: Int64 = 7_000_000_000

  /// Opens the devices and the encoder, and begins to capture. Nil when `options` ask for no sound.
  /// - Parameters:
  ///   - windowProcess: the process of the recorded window, as far as it is known.
  ///   - server: the sound server's address; nil is $PULSE_SERVER or the default.
  ///   - off: those of `inputs` that begin switched off: silent, their devices closed.
  ///   - isStrict: whether every device has to be there.
  ///   - log: what is noticed on the way; nil leaves it unsaid.
  /// - Throws: `RecorderError`: unavailable when the encoder, the window's process, or of a strict recording a device is not
  ///   there; usage when a device that was named cannot be recorded as it was asked for.
  package init?(
    _ options: AudioOptions, windowProcess: Int? = nil, server: String? = nil, off: Set<String> = [],
    isStrict: Bool = false, log: RecorderLog? = nil
  ) throws(RecorderError) {
    var inputs: [AudioInput] = []
    let wanted: [(AudioInput.Role, AudioDeviceSpecification?, Double)] = [
      (.application, options.application, options.gains.application),
      (.microphone, options.microphone, options.gains.microphone),
    ]
    for (role, device, gain) in wanted {
      guard let device else { continue }
      inputs.append(
        try AudioInput(
          role, index: inputs.count, specification: device,
          channel: role == .microphone ? options.microphoneChannel : nil, gain: gain, windowProcess: windowProcess,
          server: server, isOff: off.contains(role.rawValue)))
    }
    guard !inputs.isEmpty else { return nil }
    let shared = AudioShared(inputs: inputs, log: log)
    let mix = try AudioMixThread(shared, options)
    var captures: [AudioThread] = []
    do throws(RecorderError) {
      for input in inputs { captures.append(try AudioThread(input, shared)) }
      let deadline = MonotonicClock.now() + Self.patience
      for capture in captures { try capture.waitForDevice(until: deadline, isStrict: isStrict) }
    } catch {
      for capture in captures { capture.stop() }
      _ = mix.finish()
      throw error
    }
    streams = mix.streams
    for (index, stream) in streams.enumerated() {
      log?.note(
        .info, .encode, "A sound encoder is open.",
        ["track": "\(index + 1)", "codec": stream.codecName, "rate": "\(stream.sampleRate) Hz"])
    }
    let names = inputs.map(\.role.rawValue)
    trackInputs = [names] + (streams.count > 1 ? names.map { [$0] } : [])
    self.inputs = names
    (self.shared, self.captures, self.mix) = (shared, captures, mix)
  }

  /// Begins to mix. Sound from two seconds before this call on is there, so it may come a little after the epoch.
  /// - Parameters:
  ///   - epoch: the session's, in ns of `CLOCK_MONOTONIC`.
  ///   - emit: takes the packets of each track in order, with the track's place in `streams`, on the mix thread; while it
  ///     waits, sound is kept for two seconds. The first begins before the epoch by the encoder's delay, so that the
  ///     first sample is heard at the epoch.
  ///   - report: takes events (warning, device, gap), on any of the sound's threads.
  ///   - advise: takes warnings of sound that is there and most likely not as it was meant: silent, muted, clipped.
  ///   - heldSince: since when a held capture is held; nil when all is kept. Asked on the mix thread.
  ///   - fail: takes what ended the mix before its time, on the mix thread.
  package func start(
    epoch: Int64, emit: @escaping @Sendable (consuming Packet, Int) -> Void,
    report: @escaping @Sendable (Event) -> Void, advise: @escaping @Sendable (Event) -> Void,
    heldSince: @escaping @Sendable () -> Timestamp? = { nil }, fail: @escaping @Sendable (RecorderError) -> Void
  ) {
    shared.reporter.start(epoch: epoch, report: report, advise: advise)
    mix.start(epoch: epoch, emit: emit, heldSince: heldSince, fail: fail)
  }

  /// Says where the track is to end, as soon as that is known: what ends before the sound may take a while.
  func willStop(at time: Timestamp) { shared.end = Timestamp(nanoseconds: max(0, time.nanoseconds)) }

  /// Ends the track exactly at `time`: what was played later is cut, what is missing is filled with silence. Hands on
  /// the last packets and joins the threads. A time more than 100 ms ago is passed already and becomes the end of what
  /// has been encoded. Later calls do nothing.
  /// - Returns: what went wrong while encoding.
  package func stop(at time: Timestamp) -> RecorderError? {
    willStop(at: time)
    let error = mix.finish()
    for capture in captures { capture.stop() }
    return error
  }

  /// Makes an input louder or softer in the mix, from `time` on.
  /// - Parameter decibels: over what the device delivers.
  package func setGain(_ decibels: Double, of input: String, from time: Timestamp) {
    for own in shared.inputs where own.role.rawValue == input { own.gain.set(decibels, at: time.frame) }
  }

  /// Opens the device of `input`, or closes it at once: from `time` (monotonic ns) on the input is silent then, and that
  /// is a gap.
  /// - Returns: whether it was otherwise before.
  package func set(_ input: String, isOn: Bool, at time: Int64) -> Bool {
    guard let own = shared.inputs.first(where: { $0.role.rawValue == input }), isOn == (own.offSince != nil) else {
      return false
    }
    if isOn {
      own.onSince.store(time, ordering: .relaxed)
      // One that has just been switched on has not been missed yet.
      own.lastSound.store(time, ordering: .relaxed)
    }
    own.offSince = isOn ? nil : time
    // Closing the device may take longer than the mix waits for it.
    if !isOn { own.outage = .off }
    own.wake.notify()
    return true
  }

  /// By how many dB each of `inputs` is louder in the mix than its device delivers it.
  var gains: [Double] { shared.inputs.map(\.gain.decibels) }

  /// What was heard of all that is kept: the mix, then each input. Complete after `stop`.
  package var statistics: [Manifest.Sound] { mix.heard.map(\.all) }

  /// What was heard of a held capture from `start` to `end`, as far as it is held: the mix, then each input.
  func heard(from start: Timestamp, to end: Timestamp) -> [Manifest.Sound] {
    mix.heard.map { $0.measure(from: start, to: end) }
  }

  /// Keeps all of a held capture that is heard from `start` on: the statistics are of that.
  func keepHeard(from start: Timestamp) { for sound in mix.heard { sound.keep(from: start) } }

  /// Makes `input`, or every input when it is nil, silent from `time` on.
  func silence(_ input: String?, from time: Timestamp, because cause: AudioQuiet.Cause) {
    for own in shared.inputs where input == nil || own.role.rawValue == input {
      shared.quiet.begin(own.index, at: time.frame, cause)
    }
  }

  /// Lets `input`, or every input when it is nil, be heard again from `time` on, as far as `cause` goes.
  func hear(_ input: String?, from time: Timestamp, because cause: AudioQuiet.Cause) {
    for own in shared.inputs where input == nil || own.role.rawValue == input {
      shared.quiet.end(own.index, at: time.frame, cause)
    }
  }

  /// When each of `inputs` last delivered sound, in monotonic ns; 0 when it never did.
  var lastSound: [(isOn: Bool, isLive: Bool, time: Int64)] {
    shared.inputs.map { input in
      (input.offSince == nil, input.isLive.load(ordering: .relaxed), input.lastSound.load(ordering: .relaxed))
    }
  }

  /// Why each of `inputs` is silent, in the words that the person was told; nil when it is not.
  var failures: [String?] { shared.inputs.map(\.failure) }

  /// The gaps of inputs that are switched off, or whose device is not there, as far as they have come at `time`.
  package func openGaps(at time: Timestamp, epoch: Int64) -> [Gap] {
    shared.inputs.compactMap { input -> Gap? in
      let off = input.offSince
      guard off != nil || !input.isLive.load(ordering: .relaxed) else { return nil }
      let since = Timestamp(nanoseconds: max(0, (off ?? input.lastSound.load(ordering: .relaxed)) - epoch))
      let reason = (off != nil ? .off : input.outage).reason
      return since < time ? Gap(track: input.role.rawValue, start: since, end: time, reason: reason) : nil
    }
  }

  /// The loudest sample of each of `inputs` since the last call, 1 being full scale.
  package var levels: [Float] { shared.inputs.map { $0.takeLevel() } }

  deinit { _ = stop(at: .zero) }
}
