internal import CALSA
internal import SessionModel
import Threading

/// ALSA's `default` output.
struct ALSASoundDevice: ~Copyable, SoundDevice {
  private let pcm: OpaquePointer
  private let wake: WakeSignal
  private var isRunning = false

  /// Opens the device.
  /// - Parameter wake: ends `wait` while the device stands still.
  /// - Throws: `RecorderError` (unavailable) when it cannot be opened, or does not take stereo at 48 kHz.
  init(wake: WakeSignal) throws(RecorderError) {
    recorder_alsa_silence()
    var opened: OpaquePointer?
    let status = snd_pcm_open(&opened, "default", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK)
    guard status >= 0, let pcm = opened else { throw Self.failure(status) }
    let set = snd_pcm_set_params(
      pcm, SND_PCM_FORMAT_FLOAT_LE, SND_PCM_ACCESS_RW_INTERLEAVED, UInt32(AudioFormat.mix.channels),
      UInt32(AudioFormat.mix.sampleRate), 1, UInt32(SoundTiming.bufferMilliseconds * 1000))
    guard set >= 0 else {
      snd_pcm_close(pcm)
      throw Self.failure(set)
    }
    (self.pcm, self.wake) = (pcm, wake)
  }

  deinit { snd_pcm_close(pcm) }

  mutating func start() throws(RecorderError) {
    // It begins by itself once the buffer is full (snd_pcm_set_params).
    try check(snd_pcm_prepare(pcm))
    isRunning = true
  }

  mutating func stop() throws(RecorderError) {
    isRunning = false
    try check(snd_pcm_drop(pcm))
  }

  mutating func writableFrames() throws(RecorderError) -> Int {
    let frames = snd_pcm_avail_update(pcm)
    if frames >= 0 { return frames }
    // EPIPE is an underrun, ESTRPIPE a machine that slept: both are recovered from, all else is not.
    try check(snd_pcm_recover(pcm, Int32(clamping: frames), 1))
    return max(0, snd_pcm_avail_update(pcm))
  }

  mutating func write(_ samples: UnsafeBufferPointer<Float>) throws(RecorderError) {
    let frames = snd_pcm_uframes_t(samples.count / AudioFormat.mix.channels)
    let written = snd_pcm_writei(pcm, samples.baseAddress, frames)
    if written < 0, written != -Int(EAGAIN) { try check(snd_pcm_recover(pcm, Int32(clamping: written), 1)) }
  }

  mutating func latencyFrames() -> Int? {
    var delay = snd_pcm_sframes_t(0)
    return snd_pcm_delay(pcm, &delay) >= 0 ? delay : nil
  }

  mutating func wait() throws(RecorderError) {
    if isRunning {
      let status = snd_pcm_wait(pcm, SoundTiming.pollMilliseconds)
      if status < 0 { try check(snd_pcm_recover(pcm, status, 1)) }
    } else {
      _ = wake.wait(until: .max)
    }
  }

  private func check(_ status: Int32) throws(RecorderError) {
    if status < 0 { throw Self.failure(status) }
  }

  private static func failure(_ status: Int32) -> RecorderError {
    let reason = snd_strerror(status).map { String(cString: $0) } ?? "unknown"
    return RecorderError(
      .unavailable, "ALSA's default output cannot be used: \(reason).", hint: "See what `aplay -L` lists.")
  }
}
