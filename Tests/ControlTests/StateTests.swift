import Control
import Testing

@Suite struct StateTests {
  /// Every legal step; all others are refused.
  static let legal: [(RecordingState, RecordingTrigger, RecordingState)] = [
    (.idle, .start, .recording), (.idle, .hold, .holding), (.idle, .stop, .stopping), (.idle, .fail, .failed),
    (.recording, .pause, .paused), (.recording, .degrade, .degraded), (.recording, .stall, .stalled),
    (.recording, .stop, .stopping),
    (.paused, .resume, .recording), (.paused, .stop, .stopping),
    (.degraded, .pause, .paused), (.degraded, .stall, .stalled), (.degraded, .recover, .recording),
    (.degraded, .stop, .stopping),
    (.stalled, .pause, .paused), (.stalled, .degrade, .degraded), (.stalled, .recover, .recording),
    (.stalled, .stop, .stopping),
    (.stopping, .finish, .finished), (.stopping, .fail, .failed),
  ]

  /// The same while nothing is kept.
  static let held: [(RecordingState, RecordingTrigger, RecordingState)] = [
    (.holding, .pause, .paused), (.holding, .degrade, .degraded), (.holding, .stall, .stalled),
    (.holding, .stop, .stopping), (.holding, .publish, .recording),
    (.paused, .resume, .holding), (.paused, .stop, .stopping), (.paused, .publish, .paused),
    (.degraded, .pause, .paused), (.degraded, .stall, .stalled), (.degraded, .recover, .holding),
    (.degraded, .stop, .stopping), (.degraded, .publish, .degraded),
    (.stalled, .pause, .paused), (.stalled, .degrade, .degraded), (.stalled, .recover, .holding),
    (.stalled, .stop, .stopping), (.stalled, .publish, .stalled),
    (.stopping, .finish, .finished), (.stopping, .fail, .failed),
  ]

  @Test func theTableIsComplete() {
    for state in RecordingState.allCases {
      for trigger in RecordingTrigger.allCases {
        let expected = Self.legal.first { $0.0 == state && $0.1 == trigger }?.2
        #expect(RecordingStateMachine.next(state, trigger) == expected, "\(state) \(trigger)")
        guard state != .idle else { continue }
        let whileHeld = Self.held.first { $0.0 == state && $0.1 == trigger }?.2
        #expect(RecordingStateMachine.next(state, trigger, isHeld: true) == whileHeld, "held: \(state) \(trigger)")
        var machine = RecordingStateMachine(state)
        let applied = state == .holding ? whileHeld : expected
        #expect(machine.apply(trigger) == (applied != nil))
        #expect(machine.state == applied ?? state)
      }
    }
  }

  @Test func whatIsPublishedReturnsToRecording() {
    var machine = RecordingStateMachine()
    for (trigger, state) in [
      (RecordingTrigger.hold, RecordingState.holding), (.pause, .paused), (.publish, .paused), (.resume, .recording),
    ] {
      let isTaken = machine.apply(trigger)
      #expect(isTaken && machine.state == state)
    }
    let isTakenAgain = machine.apply(.publish)
    #expect(!machine.isHeld && !isTakenAgain)
  }
}
