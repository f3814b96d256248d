/// Finds sound that is there and most likely not as it was meant, in what one device delivers. Pure.
struct SoundGuard {
  /// What there is to say.
  enum Finding: Hashable {
    /// Nothing but digital silence has come for a while.
    case silent
    /// The sound is louder than the device can take.
    case clipped
  }

  /// Whether the silence that follows sound is worth telling: a living microphone is never digitally silent, an
  /// application often.
  private let isNeverSilent: Bool
  private var silentSeconds = 0.0
  private var hasToldSilence = false
  private var clippedSamples = 0
  private var secondsSinceClipped = 0.0
  private var hasToldClipping = false

  // Told within five seconds, which the block and the way to the person are part of.
  private static let longestSilence = 4.0
  // The highest 16-bit sample is 32767 of 32768.
  private static let fullScale: Float = 32_767.0 / 32_768
  // A millisecond at 48 kHz, within a second: a single sample at full scale is no distortion.
  private static let clippedSamplesToTell = 48

  /// Makes the guard of a device.
  init(isNeverSilent: Bool) { self.isNeverSilent = isNeverSilent }

  /// Looks at what came.
  /// - Parameters:
  ///   - samples: full scale being ±1.
  ///   - seconds: how much time they are, 0 when other samples of the same time count already.
  /// - Returns: what is to be told; each once, silence once a silence.
  mutating func look(at samples: UnsafeBufferPointer<Float>, seconds: Double) -> Finding? {
    var (loudest, clipped): (Float, Int) = (0, 0)
    for sample in samples {
      loudest = max(loudest, sample.magnitude)
      if sample.magnitude >= Self.fullScale { clipped += 1 }
    }
    return lookForClipping(clipped, seconds: seconds) ?? lookForSilence(loudest, seconds: seconds)
  }

  private mutating func lookForClipping(_ count: Int, seconds: Double) -> Finding? {
    secondsSinceClipped = count > 0 ? 0 : secondsSinceClipped + seconds
    clippedSamples = secondsSinceClipped < 1 ? clippedSamples + count : 0
    guard clippedSamples >= Self.clippedSamplesToTell, !hasToldClipping else { return nil }
    hasToldClipping = true
    return .clipped
  }

  private mutating func lookForSilence(_ loudest: Float, seconds: Double) -> Finding? {
    guard loudest == 0 else {
      silentSeconds = 0
      // What has been heard once is known to work.
      hasToldSilence = !isNeverSilent
      return nil
    }
    silentSeconds += seconds
    guard silentSeconds >= Self.longestSilence, !hasToldSilence else { return nil }
    hasToldSilence = true
    return .silent
  }
}
