import SessionModel

/// How a screen share is captured.
public struct ScreenShareCaptureOptions: Hashable, Sendable {
  /// What the picture is taken from.
  public var source: CaptureSource
  /// The size that the picture is fitted into, keeping its shape; nil is the source's own.
  public var dimensions: Dimensions?
  /// Frames a second, at most, from 1 to 240. A still screen needs none.
  public var fps: Int
  /// Whether the pointer is drawn.
  public var showCursor: Bool
  /// Whether the sound that the applications play is recorded.
  public var appAudio: Bool

  /// Makes options; what is left out is as `recorder record` has it.
  public init(
    source: CaptureSource = .mainDisplay, dimensions: Dimensions? = nil, fps: Int = 30,
    showCursor: Bool = true, appAudio: Bool = false
  ) {
    (self.source, self.dimensions, self.fps) = (source, dimensions, fps)
    (self.showCursor, self.appAudio) = (showCursor, appAudio)
  }
}

extension RecordingOptions {
  /// What of these options a screen share's are.
  var screenShare: ScreenShareCaptureOptions {
    get {
      ScreenShareCaptureOptions(
        source: CaptureSource(source, display: display), dimensions: video.size.map(Dimensions.init),
        fps: video.framesPerSecond, showCursor: video.showsCursor, appAudio: audio.application != nil)
    }
    set {
      (source, display) = (newValue.source.specification, newValue.source.display)
      video.size = newValue.dimensions?.pixelSize
      video.framesPerSecond = newValue.fps
      video.showsCursor = newValue.showCursor
      // A device that was chosen stays chosen.
      audio.application = newValue.appAudio ? audio.application ?? .standard : nil
    }
  }
}
