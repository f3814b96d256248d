package import Media
package import SessionModel

/// What a recording will do, worked out from the options and the source that was found. Pure: nothing is opened, and
/// nothing is checked again later.
package struct RecordingPlan: Hashable, Sendable {
  /// The options, every one in its range.
  package internal(set) var options: RecordingOptions
  /// The picture's true size in pixels, bars of a letterbox included.
  package let pictureSize: PixelSize
  /// The encoder and what it is told.
  package let encoder: VideoEncoderSettings

  /// Works out the plan of `options` for a source of `sourceSize` pixels.
  /// - Throws: `RecorderError` (usage) that names the first option out of its range.
  package static func resolve(
    _ options: RecordingOptions, sourceSize: PixelSize
  ) throws(RecorderError) -> RecordingPlan {
    try options.check()
    let picture = options.video.size ?? sourceSize
    let encoder = VideoEncoderSettings(options.video, picture: picture)
    var resolved = options
    resolved.video.codec = encoder.codec
    resolved.video.pixelFormat = encoder.pixelFormat
    resolved.exclusions = options.exclusions?.map(\.redacted)
    return RecordingPlan(options: resolved, pictureSize: picture, encoder: encoder)
  }
}
