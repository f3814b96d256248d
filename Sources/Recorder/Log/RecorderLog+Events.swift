import Control
import SessionModel

extension RecorderLog {
  /// Notes what `event` tells of the recorder's work. Titles, words and places of windows stay in the event track alone.
  func note(_ event: Event, _ category: LogEntry.Category) {
    let level: LogEntry.Level = event.kind == .warning ? .warning : .info
    switch event.kind {
    case .warning, .device, .clock: note(level, category, event.text ?? event.kind.rawValue)
    case .gap:
      guard let gap = event.gap else { return }
      note(
        level, category, "A track has a gap.",
        ["track": gap.track, "reason": gap.reason, "start": "\(gap.start)", "end": "\(gap.end)"])
    case .geometry:
      guard event.window == nil, let from = event.from, let to = event.to else { return }
      note(level, category, "What is recorded changed its place.", ["from": "\(from)", "to": "\(to)"])
    case .source: note(level, category, event.window == nil ? event.text ?? "" : "Another window is recorded.")
    case .pause, .resume, .mute, .unmute:
      note(
        level, category, "The recording's state was changed.",
        ["to": event.kind.rawValue, "input": event.text ?? "all"])
    case .start, .stop, .split:
      note(level, category, "The session goes on.", ["event": event.kind.rawValue, "what": event.text ?? ""])
    default: break
    }
  }

  /// Notes that the recording is in `state` from now on, and why when something is wrong.
  func note(state: RecordingState, _ why: String?) {
    let fields = ["state": state.rawValue, "why": why].compactMapValues(\.self)
    note(.info, .control, "The recording has another state.", fields)
  }

  /// `report`, and a line for what it is given.
  func noting(
    _ category: LogEntry.Category, _ report: @escaping @Sendable (Event) -> Void
  ) -> @Sendable (Event) -> Void {
    { [self] event in
      note(event, category)
      report(event)
    }
  }
}
