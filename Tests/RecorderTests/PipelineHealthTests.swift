import Control
import SessionModel
import Synchronization
import Testing
import Threading

@testable import Recorder

/// What becomes of a stage that hangs for good.
@Suite struct PipelineHealthTests {
  private static let second: Int64 = 1_000_000_000

  /// A pipeline whose grab thread was last heard of ten seconds ago, looked at once.
  private func look(lastPatience: Int64) throws -> (state: RecordingState, failure: RecorderError?, events: [Event]) {
    let control = try PipelineControl(epoch: MonotonicClock.now() - 10 * Self.second)
    let events = Mutex<[Event]>([])
    let report: @Sendable (Event) -> Void = { event in events.withLock { $0.append(event) } }
    let controls = SessionControls(control: control, audio: nil, isHeld: false, report: report, follow: { _, _ in })
    let health = try PipelineHealth(
      control: control, audio: nil, controls: controls, restart: nil, lastPatience: lastPatience, report: report)
    #expect(health.stages().filter { $0.state == .stalled }.map(\.name) == ["grab"])
    let state = controls.current.state
    health.stop()
    return (state, control.firstFailure, events.withLock { $0 })
  }

  @Test func aServerThatAnswersNobodyIsWaitedForAndThenEndsTheRecording() throws {
    let waiting = try look(lastPatience: 60 * Self.second)
    #expect(waiting.state == .stalled)
    #expect(waiting.failure == nil)
    let ended = try look(lastPatience: 9 * Self.second)
    #expect(ended.failure?.code == .sourceLost)
    #expect(ended.failure?.message.contains("X server does not answer") == true)
    // What is missing is written down either way, from the last sign of life on.
    for events in [waiting.events, ended.events] {
      #expect(events.filter { $0.kind == .warning }.count == 1)
      let gap = try #require(events.compactMap(\.gap).first)
      #expect(gap.track == "video" && gap.reason == "grab stalled" && gap.start == .zero)
      #expect(gap.end - gap.start >= 10 * Self.second)
    }
  }
}
