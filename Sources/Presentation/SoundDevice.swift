internal import SessionModel

/// Where sound goes: interleaved floats in `AudioFormat.mix`. Made, used and freed on one thread.
protocol SoundDevice: ~Copyable {
  /// Begins to play what is written from now on.
  mutating func start() throws(RecorderError)
  /// Falls silent at once and forgets what was written and not heard.
  mutating func stop() throws(RecorderError)
  /// Frames that can be written now without waiting.
  mutating func writableFrames() throws(RecorderError) -> Int
  /// Writes whole frames, at most as many as are writable.
  mutating func write(_ samples: UnsafeBufferPointer<Float>) throws(RecorderError)
  /// Frames written and not heard yet; nil while the device does not know.
  mutating func latencyFrames() -> Int?
  /// Waits until more can be written, the wake signal is set, or something else happened.
  mutating func wait() throws(RecorderError)
}

/// What both kinds of devices share.
enum SoundTiming {
  /// Sound kept ahead of the listener, in ms: a change of volume is heard that much later; half of it still covers two
  /// late wake-ups of a loaded machine (20 ms each).
  static let bufferMilliseconds = 80
  /// The same in frames.
  static let bufferFrames = AudioFormat.mix.sampleRate * bufferMilliseconds / 1000
  /// The longest wait between two measurements of the position, in ms.
  static let pollMilliseconds: Int32 = 20
  /// Frames handed on at a time: 10.7 ms.
  static let chunkFrames = 512

  /// The most frames that a device may take in the first `nanoseconds`: a hundredth more than its rate says, beyond any
  /// clock's error, and its buffer twice. ALSA's `null` takes everything at once; time would race with it.
  static func mostFrames(in nanoseconds: Int64) -> Int {
    let milliseconds = Int(max(0, nanoseconds) / 1_000_000)
    return milliseconds * AudioFormat.mix.sampleRate / 1000 * 101 / 100 + 2 * bufferFrames
  }
}
