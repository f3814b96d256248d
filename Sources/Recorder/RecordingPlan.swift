package import Media
package import SessionModel

/// What a recording will do, worked out from the options and the source that was found. Pure: nothing is opened, and
/// nothing is checked again later.
package struct RecordingPlan: Hashable, Sendable {
  /// The options, every one in its range.
  package let options: RecordingOptions
  /// The picture's true size in pixels, bars of a letterbox included.
  package let pictureSize: PixelSize
  /// The encoder and what it is told.
  package let encoder: VideoEncoderSettings

  /// Works out the plan of `options` for a source of `sourceSize` pixels.
  /// - Throws: `RecorderError` (usage) that names the first option out of its range.
  package static func resolve(
    _ options: RecordingOptions, sourceSize: PixelSize
  ) throws(RecorderError) -> RecordingPlan {
    try check(options)
    let picture = options.video.size ?? sourceSize
    let encoder = VideoEncoderSettings(options.video, picture: picture)
    var resolved = options
    resolved.video.codec = encoder.codec
    resolved.video.pixelFormat = encoder.pixelFormat
    resolved.exclusions = options.exclusions?.map(\.redacted)
    return RecordingPlan(options: resolved, pictureSize: picture, encoder: encoder)
  }

  /// Checks what needs no source, so that a wrong option is named before anything is opened.
  /// - Throws: `RecorderError` (usage) that names the first option out of its range.
  package static func check(_ options: RecordingOptions) throws(RecorderError) {
    let video = options.video
    let rates = VideoOptions.framesPerSecondRange
    guard rates.contains(video.framesPerSecond) else {
      throw RecorderError(
        .usage, "\(video.framesPerSecond) frames a second cannot be recorded.",
        hint: "Give --fps a number from \(rates.lowerBound) to \(rates.upperBound).")
    }
    if let size = video.size {
      let sides = 1...PixelSize.largestSide
      guard sides.contains(size.width), sides.contains(size.height) else {
        throw RecorderError(
          .usage, "A picture of \(size) pixels cannot be recorded.",
          hint: "Give --size two numbers from 1 to \(PixelSize.largestSide), as 1280x720.")
      }
    }
    guard (0...51).contains(video.constantRateFactor) else {
      throw RecorderError(
        .usage, "\(video.constantRateFactor) is no rate factor.", hint: "Give --crf a number from 0 (best) to 51.")
    }
    if let duration = options.duration, duration < 1_000_000 {
      throw RecorderError(.usage, "The duration is shorter than a millisecond.", hint: "Give --duration as 20s or 5m.")
    }
  }
}
