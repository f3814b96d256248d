/// What a recording is doing, as `status` tells it.
package enum RecordingState: String, Codable, Sendable, CaseIterable {
  /// It has not begun yet.
  case idle
  /// The newest stretch is held in memory, and nothing is kept.
  case holding
  /// Picture and sound are being recorded.
  case recording
  /// The session's time goes on, and nothing is recorded.
  case paused
  /// It is recorded, but not all of it: a sound input is missing, or the encoder or the disk is too slow for all frames.
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
  case start, hold, publish, pause, resume, degrade, stall, recover, stop, finish, fail
}

/// The states of one recording and the steps between them. Pure.
package struct RecordingStateMachine: Hashable, Sendable {
  /// What it is doing now.
  package private(set) var state: RecordingState
  /// Whether nothing is kept: what it returns to from a pause or a fault is `holding` then.
  package private(set) var isHeld: Bool

  /// Makes the machine of a recording that is in `state`.
  package init(_ state: RecordingState = .idle) { (self.state, isHeld) = (state, state == .holding) }

  /// The state that `trigger` leads to from `state`; nil when that is no legal step.
  /// - Parameter isHeld: whether nothing is kept.
  package static func next(
    _ state: RecordingState, _ trigger: RecordingTrigger, isHeld: Bool = false
  ) -> RecordingState? {
    let live: RecordingState = isHeld ? .holding : .recording
    switch (state, trigger) {
    case (.idle, .start): return .recording
    case (.idle, .hold): return .holding
    case (.holding, .publish): return isHeld ? .recording : nil
    case (.paused, .publish), (.degraded, .publish), (.stalled, .publish): return isHeld ? state : nil
    case (live, .pause), (.degraded, .pause), (.stalled, .pause): return .paused
    case (.paused, .resume): return live
    case (live, .degrade), (.stalled, .degrade): return .degraded
    case (live, .stall), (.degraded, .stall): return .stalled
    case (.degraded, .recover), (.stalled, .recover): return live
    case (.idle, .stop), (live, .stop), (.paused, .stop), (.degraded, .stop), (.stalled, .stop): return .stopping
    case (.stopping, .finish): return .finished
    case (.idle, .fail), (.stopping, .fail): return .failed
    default: return nil
    }
  }

  /// Takes the step, when it is legal.
  /// - Returns: whether it was.
  @discardableResult
  package mutating func apply(_ trigger: RecordingTrigger) -> Bool {
    guard let next = Self.next(state, trigger, isHeld: isHeld) else { return false }
    if trigger == .hold { isHeld = true } else if trigger == .publish { isHeld = false }
    state = next
    return true
  }
}
