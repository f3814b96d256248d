/// What a recording is doing, as `status` tells it.
package enum RecordingState: String, Codable, Sendable, CaseIterable {
  /// It has not begun yet.
  case idle
  /// Picture and sound are being recorded.
  case recording
  /// The session's time goes on, and nothing is recorded.
  case paused
  /// The picture is recorded; a sound input is not.
  case degraded
  /// A stage of the picture has stopped working.
  case stalled
  /// It was told to end, and the files are being finished.
  case stopping
  /// It ended as it was asked to.
  case finished
  /// It could not begin, or ended because a part failed.
  case failed

  /// Whether it can still be told to do something.
  package var isLive: Bool { self != .finished && self != .failed }
}

/// What moves a recording from one state to another.
package enum RecordingTrigger: Sendable, CaseIterable {
  case start, pause, resume, degrade, stall, recover, stop, finish, fail
}

/// The states of one recording and the steps between them. Pure.
package struct RecordingStateMachine: Hashable, Sendable {
  /// What it is doing now.
  package private(set) var state: RecordingState

  /// Makes the machine of a recording that is in `state`.
  package init(_ state: RecordingState = .idle) { self.state = state }

  /// The state that `trigger` leads to from `state`; nil when that is no legal step.
  package static func next(_ state: RecordingState, _ trigger: RecordingTrigger) -> RecordingState? {
    switch (state, trigger) {
    case (.idle, .start): .recording
    case (.recording, .pause), (.degraded, .pause), (.stalled, .pause): .paused
    case (.paused, .resume): .recording
    case (.recording, .degrade), (.stalled, .degrade): .degraded
    case (.recording, .stall), (.degraded, .stall): .stalled
    case (.degraded, .recover), (.stalled, .recover): .recording
    case (.idle, .stop), (.recording, .stop), (.paused, .stop), (.degraded, .stop), (.stalled, .stop): .stopping
    case (.stopping, .finish): .finished
    case (.idle, .fail), (.stopping, .fail): .failed
    default: nil
    }
  }

  /// Takes the step, when it is legal.
  /// - Returns: whether it was.
  @discardableResult
  package mutating func apply(_ trigger: RecordingTrigger) -> Bool {
    guard let next = Self.next(state, trigger) else { return false }
    state = next
    return true
  }
}
