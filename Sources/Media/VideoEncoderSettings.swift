package import SessionModel

/// What a video encoder is asked to do.
package struct VideoEncoderSettings: Hashable, Sendable {
  /// FFmpeg's name of the encoder.
  package var codec: String
  /// The encoder's preset; an encoder without presets is given none.
  package var preset: String
  /// The quality at which the rate is left free (x264: 0 best … 51).
  package var constantRateFactor: Int
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
    (lossless, framesPerSecond) = (options.lossless, options.framesPerSecond)
    pixelFormat = options.lossless || options.codec == "libx264rgb" ? .bgr0 : options.pixelFormat
    if codec == "libx264", pixelFormat == .bgr0 { codec = "libx264rgb" }
    size = Self.encodedSize(for: picture)
  }

  /// The same settings for a picture of `picture` pixels.
  package func sized(for picture: PixelSize) -> VideoEncoderSettings {
    var settings = self
    settings.size = Self.encodedSize(for: picture)
    return settings
  }

  /// The size in pixels at which a picture of `picture` pixels is encoded: even sides, since a 4:2:0 chroma sample
  /// covers 2x2 pixels, and at least 16x16, one macroblock of H.264: x264 codes whole ones, and decoders in hardware
  /// and in browsers refuse less.
  package static func encodedSize(for picture: PixelSize) -> PixelSize {
    let even = picture.paddedToEven
    return PixelSize(width: max(16, even.width), height: max(16, even.height))
  }
}
