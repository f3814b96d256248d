import SessionModel

/// Makes moments of a session's events, given in the order they were written.
struct MomentBuilder {
  /// A window that was active, or on the screen, from a time on.
  private struct Span {
    let window: WindowInfo
    let start: Timestamp
  }
  /// What makes two descriptions the same on the screen.
  private struct Look: Hashable {
    let id: UInt32
    let title: String
  }

  private var moments: [Moment] = []
  private var active: Span?
  private var opened: [Look: (span: Span, end: Timestamp?)] = [:]
  private var looksSeen: Set<Look> = []
  private var lastTime = Timestamp.zero

  /// How long after an event the picture may take to show it, in ns: a window that was just given the focus has yet to
  /// draw itself and the next frame to be grabbed.
  static let settlingTime: Int64 = 200_000_000

  /// Takes the next event.
  mutating func add(_ event: Event) {
    // Times are outside data: they only grow, so that no span is negative.
    let time = max(event.time, lastTime)
    lastTime = time
    switch event.kind {
    case .focus, .title: activate(event.window, at: time)
    case .opened:
      guard let window = event.window else { return }
      let look = Look(id: window.id, title: window.title)
      if opened[look] == nil { opened[look] = (Span(window: window, start: time), nil) }
    case .closed:
      guard let id = event.window?.id else { return }
      if active?.window.id == id { activate(nil, at: time) }
      for look in opened.keys where look.id == id && opened[look]?.end == nil { opened[look]?.end = time }
    case .marker: add(.marker, event.text, at: time)
    case .text: add(.text, event.text, at: time)
    case .warning: add(.warning, event.text, at: time)
    case .device: add(.device, event.text, at: time)
    case .gap:
      guard let gap = event.gap else { return }
      let start = min(max(gap.start, .zero), time)
      add(.gap, "\(gap.track): \(gap.reason)", at: start, length: max(gap.start, gap.end) - start)
    case .redacted:
      // Which window was active at its end is gone with the rest.
      activate(nil, at: time)
      add(.gap, event.text, at: time, length: max(0, (event.gap?.end ?? time) - time))
    default: break
    }
  }

  /// All moments, in the order of their times.
  /// - Parameters:
  ///   - duration: the session's length.
  ///   - source: the window that was recorded, which shows without ever being active.
  mutating func finish(duration: Timestamp, source: WindowInfo?) -> [Moment] {
    let end = max(duration, lastTime)
    activate(nil, at: end)
    if let source, !looksSeen.contains(where: { $0.id == source.id }) {
      opened[Look(id: source.id, title: source.title)] = (Span(window: source, start: .zero), end)
    }
    // A window that was active later is found at a time when it surely showed.
    for (look, entry) in opened where !looksSeen.contains(look) { close(entry.span, at: entry.end ?? end) }
    return moments.sorted { left, right in
      (left.time, left.kind.rawValue, left.words) < (right.time, right.kind.rawValue, right.words)
    }
  }

  private mutating func activate(_ window: WindowInfo?, at time: Timestamp) {
    if let active, let window, active.window.id == window.id, active.window.title == window.title,
      active.window.className == window.className
    {
      return
    }
    if let active { close(active, at: time) }
    active = window.map { Span(window: $0, start: time) }
    if let window { looksSeen.insert(Look(id: window.id, title: window.title)) }
  }

  private mutating func close(_ span: Span, at end: Timestamp) {
    let words = Self.words(of: span.window)
    if words.isEmpty { return }
    let length = end - span.start
    // Late enough to be drawn, and early enough for the next window not to be drawn already.
    let time = span.start + min(Self.settlingTime, length / 2)
    moments.append(
      Moment(kind: .window, time: time, length: length, words: words, window: Self.label(of: span.window)))
  }

  private mutating func add(_ kind: Moment.Kind, _ text: String?, at time: Timestamp, length: Int64 = 0) {
    let words = text ?? ""
    if words.isEmpty && kind != .marker { return }
    let window = active.map { Self.label(of: $0.window) } ?? ""
    moments.append(Moment(kind: kind, time: time, length: length, words: words, window: window))
  }

  /// What a window is found by and shown as: its title and, after it, its class.
  private static func words(of window: WindowInfo) -> String {
    guard let name = window.className, !name.isEmpty else { return window.title }
    return window.title.isEmpty ? name : "\(window.title) (\(name))"
  }

  /// What `--window` looks at.
  private static func label(of window: WindowInfo) -> String {
    [window.title, window.className, window.instance].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
  }
}
