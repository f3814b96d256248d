import Control
import SessionModel
import Synchronization
import TestSupport
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

  /// Frames that are left out are the encoder's fault, or the disk's when what was encoded waits for it: for longer than a
  /// second. Each is told once, and is over when no more are left out.
  @Test func whoCannotKeepUpIsNamed() throws {
    let began = MonotonicClock.now()
    func make(unwritten: Int64) throws -> (PipelineControl, SessionControls, PipelineHealth, Collected) {
      let (control, told) = (try PipelineControl(epoch: began), Collected())
      control.lastEncoded.store(5 * Self.second, ordering: .relaxed)
      control.lastWritten.store(5 * Self.second - unwritten, ordering: .relaxed)
      let report: @Sendable (Event) -> Void = { event in told.events.withLock { $0.append(event) } }
      let controls = SessionControls(control: control, audio: nil, isHeld: false, report: report, follow: { _, _ in })
      let health = try PipelineHealth(control: control, audio: nil, controls: controls, restart: nil, report: report)
      return (control, controls, health, told)
    }
    let parts = try [make(unwritten: Self.second), make(unwritten: Self.second + 1)]
    let sentences = [
      "The encoder cannot keep up: fewer frames are recorded. A smaller --size, a lower --fps or --quality fast takes less "
        + "of the processor.",
      "The disk cannot keep up: fewer frames are recorded. A smaller --size or --quality small makes less.",
    ]
    /// Looks until all are in `state`; of four frames that are due so many are left out.
    func look(until state: RecordingState, leavingOut dropped: Int) throws {
      try waitUntil("\(state)") {
        for (control, _, health, _) in parts {
          control.heartbeat.store(MonotonicClock.now(), ordering: .relaxed)
          control.frames.add(4 - dropped, ordering: .relaxed)
          control.droppedFrames.add(dropped, ordering: .relaxed)
          _ = health.stages()
        }
        return parts.allSatisfy { $0.1.current.state == state }
      }
    }
    try look(until: .degraded, leavingOut: 2)
    for ((_, controls, _, told), sentence) in zip(parts, sentences) {
      #expect(controls.current.message == sentence)
      #expect(told.events.withLock { $0 }.map(\.text) == [sentence])
    }
    try look(until: .recording, leavingOut: 1)
    for (_, controls, health, told) in parts {
      #expect(controls.current.message == nil)
      #expect(told.events.withLock { $0.count } == 1)
      health.stop()
    }
  }

  private final class Collected: Sendable { let events = Mutex<[Event]>([]) }

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
