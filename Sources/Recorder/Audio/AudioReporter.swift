import SessionModel
import Synchronization
internal import Threading

/// Passes on what the sound's threads have to tell, dated on the session's time line. What is told before the session
/// begins waits for it.
final class AudioReporter: Sendable {
  private struct State {
    var waiting: [(kind: Event.Kind, text: String, isAdvice: Bool)] = []
    var epoch: Int64 = 0
    var report: (@Sendable (Event) -> Void)?
    var advise: (@Sendable (Event) -> Void)?
  }
  private let state = Mutex(State())
  private let log: RecorderLog?

  /// - Parameter log: what is for nobody but who looks for a fault; nil leaves it unsaid.
  init(_ log: RecorderLog? = nil) { self.log = log }

  /// Begins to pass on to `report` and `advise`, first what has waited, at the session's beginning.
  func start(
    epoch: Int64, report: @escaping @Sendable (Event) -> Void, advise: @escaping @Sendable (Event) -> Void
  ) {
    let waiting = state.withLock { state in
      (state.epoch, state.report, state.advise) = (epoch, report, advise)
      defer { state.waiting = [] }
      return state.waiting
    }
    for (kind, text, isAdvice) in waiting {
      (isAdvice ? advise : report)(Event(time: .zero, kind: kind, text: text))
    }
  }

  /// Tells `text`, now.
  /// - Parameter isAdvice: whether it is about sound that is there.
  func tell(_ kind: Event.Kind, _ text: String, isAdvice: Bool = false) {
    let now = MonotonicClock.now()
    let target = state.withLock { state in
      if state.report == nil { state.waiting.append((kind, text, isAdvice)) }
      return (isAdvice ? state.advise : state.report).map { (report: $0, epoch: state.epoch) }
    }
    guard let target else { return }
    target.report(Event(time: Timestamp(nanoseconds: max(0, now - target.epoch)), kind: kind, text: text))
  }

  /// Notes what `input`'s device delivers from now on.
  func note(_ format: AudioFormat, of input: AudioInput) {
    log?.note(
      .info, .audio, "A device delivers sound.",
      ["input": input.role.rawValue, "rate": "\(format.sampleRate) Hz", "channels": "\(format.channels)"])
  }

  /// Tells that a track has a gap.
  func tell(_ gap: Gap) {
    let report = state.withLock { $0.report }
    report?(Event(time: gap.end, kind: .gap, gap: gap, text: "The \(gap.track) is silent here: \(gap.reason)."))
  }
}
