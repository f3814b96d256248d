internal import Capture
import Control
import SessionModel
import Synchronization

/// Makes events and gaps of what happens to the source. What is told before the session begins waits for it.
final class SourceReporter: Sendable {
  private struct State {
    var report: (@Sendable (Event) -> Void)?
    var waiting: [Event] = []
    /// Why there is nothing to record, and since when.
    var absence: (reason: String, start: Timestamp)?
  }

  private let epoch: Int64
  private let state = Mutex(State())

  /// Makes a reporter of a recording that begins at `epoch` (monotonic ns).
  init(epoch: Int64) { self.epoch = epoch }

  /// Begins to pass on to `report`, first what has waited.
  func start(_ report: @escaping @Sendable (Event) -> Void) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.report = report
      return state.waiting
    }
    for event in waiting { report(event) }
  }

  /// Takes what happened at `time` (monotonic ns).
  func note(_ change: SourceChange, at time: Int64) {
    let time = Timestamp(nanoseconds: max(0, time - epoch))
    switch change {
    case .geometry(let from, let to):
      var event = Event(time: time, kind: .geometry, text: "What is recorded changed from \(from) to \(to).")
      (event.from, event.to) = (from, to)
      tell(event)
    case .absent(let absence):
      begin(absence, at: time)
    case .present:
      end(at: time)
      tell(Event(time: time, kind: .source, text: "What is recorded is there again."))
    case .replaced(let window):
      tell(Event(time: time, kind: .source, window: window, text: "Another window is recorded from here on."))
    }
  }

  /// Takes a warning about what became of the source, of `time` (monotonic ns).
  func warn(_ text: String, at time: Int64) {
    tell(Event(time: Timestamp(nanoseconds: max(0, time - epoch)), kind: .warning, text: text))
  }

  /// Ends the gap that is open when the recording ends.
  func finish(at time: Timestamp) { end(at: time) }

  /// The gap that is open at `time`, as far as it has come.
  func openGaps(at time: Timestamp) -> [Gap] {
    guard let absence = state.withLock({ $0.absence }), absence.start < time else { return [] }
    return [Gap(track: Track.video, start: absence.start, end: time, reason: absence.reason)]
  }

  private func begin(_ absence: SourceChange.Absence, at time: Timestamp) {
    end(at: time)
    let (reason, text, kind): (String, String, Event.Kind) =
      switch absence {
      case .hidden: ("the window is hidden", "The recorded window is hidden; its last picture stands.", .source)
      case .closed:
        ("the window was closed", "The recorded window was closed; one that matches is waited for.", .warning)
      case .unplugged:
        ("the monitor is not there", "The recorded monitor is not there; its last picture stands.", .warning)
      case .unfocused:
        ("no window is active", "No window is active that may be recorded; the last picture stands.", .source)
      }
    state.withLock { $0.absence = (reason, time) }
    tell(Event(time: time, kind: kind, text: text))
  }

  private func end(at time: Timestamp) {
    let absence = state.withLock { state in
      defer { state.absence = nil }
      return state.absence
    }
    guard let absence, time > absence.start else { return }
    let gap = Gap(track: Track.video, start: absence.start, end: time, reason: absence.reason)
    tell(Event(time: time, kind: .gap, gap: gap))
  }

  private func tell(_ event: Event) {
    let report = state.withLock { state in
      if state.report == nil { state.waiting.append(event) }
      return state.report
    }
    report?(event)
  }
}
