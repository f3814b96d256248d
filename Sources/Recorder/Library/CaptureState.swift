import Control

/// What a ``ScreenRecorder`` is doing.
public struct CaptureState: Hashable, Sendable {
  /// The one word for it.
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// Nothing has been captured yet.
    case idle
    /// The newest stretch is held in memory, and nothing is kept.
    case holding
    /// Picture and sound are being recorded.
    case recording
    /// The session's time goes on, and nothing is recorded.
    case paused
    /// It is recorded, but not all of it: a sound input is missing, or the encoder or the disk is too slow for all frames.
    case degraded
    /// A stage of the picture has stopped working; it is waited for.
    case stalled
    /// The files are being finished.
    case stopping
    /// The last recording ended as it was asked to; a next one can begin.
    case finished
    /// The last recording could not begin, or ended because a part failed; a next one can begin.
    case failed
  }

  /// The one word for it.
  public var phase: Phase
  /// One sentence why, when something is wrong.
  public var message: String?
  /// The session that is recorded, or the last one; nil before the first, and while a capture is held.
  public var session: CapturedSession?

  init(_ phase: Phase, message: String? = nil, session: CapturedSession? = nil) {
    (self.phase, self.message, self.session) = (phase, message, session)
  }

  /// Whether something is captured: recorded when there is a ``session``, else held.
  public var isCapturing: Bool {
    switch phase {
    case .idle, .finished, .failed: false
    case .holding, .recording, .paused, .degraded, .stalled, .stopping: true
    }
  }
}

extension CaptureState.Phase {
  init(_ state: RecordingState) {
    self =
      switch state {
      case .idle: .idle
      case .holding: .holding
      case .recording: .recording
      case .paused: .paused
      case .degraded: .degraded
      case .stalled: .stalled
      case .stopping: .stopping
      case .finished: .finished
      case .failed: .failed
      }
  }
}
