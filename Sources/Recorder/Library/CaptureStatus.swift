import Control

/// How far a recording is.
public struct CaptureStatus: Hashable, Sendable {
  /// What the recorder is doing.
  public let state: CaptureState
  /// How long the recording is; nil when there is none.
  public let elapsed: Duration?
  /// Frames recorded, and frames that were left to the next one because the encoder was busy.
  public let frames: Int, droppedFrames: Int
  /// Bytes of the media files.
  public let bytes: Int64
  /// The loudest sample of the last moment, 0 to 1, of each sound input that is on: `microphone`, `application`.
  public let levels: [String: Float]
  /// Bytes left on the archive's disk; nil when it is not known.
  public let diskFree: Int64?

  init(_ state: CaptureState, _ status: RecorderStatus) {
    self.state = state
    elapsed = status.elapsed.map { .nanoseconds($0) }
    (frames, droppedFrames) = (status.frames ?? 0, status.droppedFrames ?? 0)
    (bytes, diskFree) = (status.bytes ?? 0, status.diskFree)
    levels = Dictionary(
      status.stages.compactMap { stage in stage.level.map { (stage.name, $0) } }, uniquingKeysWith: { $1 })
  }
}
