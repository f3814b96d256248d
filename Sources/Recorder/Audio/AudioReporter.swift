import SessionModel
import Synchronization
internal import Threading

/// Passes on what the sound's threads have to tell, dated on the session's time line. What is told before the session
/// begins waits for it.
final class AudioReporter: Sendable {
  private struct State {
    var waiting: [(kind: Event.Kind, text: String)] = []
    var epoch: Int64 = 0
    var report: (@Sendable (Event) -> Void)?
  }
  private let state = Mutex(State())

  /// Begins to pass on to `report`, first what has waited, at the session's beginning.
  func start(epoch: Int64, report: @escaping @Sendable (Event) -> Void) {
    let waiting = state.withLock { state in
      (state.epoch, state.report) = (epoch, report)
      defer { state.waiting = [] }
      return state.waiting
    }
    for (kind, text) in waiting { report(Event(time: .zero, kind: kind, text: text)) }
  }

  /// Tells `text`, now.
  func tell(_ kind: Event.Kind, _ text: String) {
    let now = MonotonicClock.now()
    let target = state.withLock { state in
      if state.report == nil { state.waiting.append((kind, text)) }
      return state.report.map { (report: $0, epoch: state.epoch) }
    }
    guard let target else { return }
    target.report(Event(time: Timestamp(nanoseconds: max(0, now - target.epoch)), kind: kind, text: text))
  }

  /// Tells that a track has a gap.
  func tell(_ gap: Gap) {
    let report = state.withLock { $0.report }
    report?(Event(time: gap.end, kind: .gap, gap: gap, text: "The \(gap.track) is silent here: \(gap.reason)."))
  }
}
