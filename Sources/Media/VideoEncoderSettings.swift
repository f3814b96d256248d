import Glibc
package import SessionModel

/// What a video encoder is asked to do.
package struct VideoEncoderSettings: Hashable, Sendable {
  /// FFmpeg's name of the encoder.
  package var codec: String
  /// The encoder's preset; an encoder without presets is given none.
  package var preset: String
  /// The quality at which the rate is left free (x264: 0 best … 51).
  package var constantRateFactor: Int
  /// The quantiser of every picture, in place of that; nil leaves it to the rate factor.
  package var quantiser: Int?
  /// What x264 is told beside these, in its own words; nil is nothing.
  package var parameters: String?
  /// Whether pictures come as they are drawn, and the settings are known to leave time between them.
  package var isPaced = false
  /// The format of the pixels it is given.
  package var pixelFormat: PixelFormat
  /// Whether every pixel is kept exactly.
  package var lossless: Bool
  /// The encoded size in pixels; `encodedSize(for:)` makes it.
  package var size: PixelSize
  /// At most so many frames a second: what the rate control reckons with.
  package var framesPerSecond: Int

  /// Makes the settings that `options` ask for, for a picture of `picture` pixels (its true size, bars included).
  ///
  /// libx264 takes RGB under the name `libx264rgb`, so lossless and `bgr0` change the name.
  package init(_ options: VideoOptions, picture: PixelSize) {
    (codec, preset, constantRateFactor) = (options.codec, options.preset, options.constantRateFactor)
    quantiser = options.quantiser
    (lossless, framesPerSecond) = (options.lossless, options.framesPerSecond)
    pixelFormat = options.lossless || options.codec == "libx264rgb" ? .bgr0 : options.pixelFormat
    if codec == "libx264", pixelFormat == .bgr0 { codec = "libx264rgb" }
    size = Self.encodedSize(for: picture)
    guard codec.hasPrefix("libx264") else { return }
    isPaced = Self.quickPresets.contains(preset)
    // Who names a preset gets it as it is.
    if let quality = options.quality, preset == quality.preset { parameters = quality.parameters }
  }

  /// The same settings for a picture of `picture` pixels.
  package func sized(for picture: PixelSize) -> VideoEncoderSettings {
    var settings = self
    settings.size = Self.encodedSize(for: picture)
    return settings
  }

  /// Threads that the encoder may use within a picture; 0 leaves it to the encoder, which takes one a processor. One encodes
  /// 1080p at 30 frames a second in a fifth to a third of its time, and each more makes the picture larger and waits for the
  /// others.
  var threads: Int {
    guard isPaced else { return 0 }
    let oneThread = 1920 * 1080 * 30
    return max(1, min(Self.processors, (size.area * framesPerSecond + oneThread - 1) / oneThread))
  }

  /// x264's presets with which it does.
  private static let quickPresets: Set<String> = ["ultrafast", "superfast", "veryfast"]

  private static let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))

  /// The size in pixels at which a picture of `picture` pixels is encoded: even sides, since a 4:2:0 chroma sample
  /// covers 2x2 pixels, and at least 16x16, one macroblock of H.264: x264 codes whole ones, and decoders in hardware
  /// and in browsers refuse less.
  package static func encodedSize(for picture: PixelSize) -> PixelSize {
    let even = picture.paddedToEven
    return PixelSize(width: max(16, even.width), height: max(16, even.height))
  }
}
