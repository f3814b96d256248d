import Control
import Testing

@Suite struct StateTests {
  /// Every legal step; all others are refused.
  static let legal: [(RecordingState, RecordingTrigger, RecordingState)] = [
    (.idle, .start, .recording), (.idle, .stop, .stopping), (.idle, .fail, .failed),
    (.recording, .pause, .paused), (.recording, .degrade, .degraded), (.recording, .stall, .stalled),
    (.recording, .stop, .stopping),
    (.paused, .resume, .recording), (.paused, .stop, .stopping),
    (.degraded, .pause, .paused), (.degraded, .stall, .stalled), (.degraded, .recover, .recording),
    (.degraded, .stop, .stopping),
    (.stalled, .pause, .paused), (.stalled, .degrade, .degraded), (.stalled, .recover, .recording),
    (.stalled, .stop, .stopping),
    (.stopping, .finish, .finished), (.stopping, .fail, .failed),
  ]

  @Test func theTableIsComplete() {
    for state in RecordingState.allCases {
      for trigger in RecordingTrigger.allCases {
        let expected = Self.legal.first { $0.0 == state && $0.1 == trigger }?.2
        #expect(RecordingStateMachine.next(state, trigger) == expected, "\(state) \(trigger)")
        var machine = RecordingStateMachine(state)
        #expect(machine.apply(trigger) == (expected != nil))
        #expect(machine.state == expected ?? state)
      }
    }
  }
}
