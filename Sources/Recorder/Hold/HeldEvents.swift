import SessionModel

/// The events of a held stretch, and what was in force where it begins. Pure.
struct HeldEvents: ~Copyable {
  private var log = RingBuffer<Event>()
  private var before = StateInForce()
  /// What the events count for.
  private(set) var bytes = 0
  /// How many were added so far, those that were given up too.
  private(set) var total = 0

  /// Adds an event; those that tell of a stretch come after its end, so times are not strictly in order.
  mutating func append(_ event: Event) {
    log.append(event)
    bytes += event.heldBytes
    total += 1
  }

  /// Those that were added after the first `count`, as far as they are held.
  func added(after count: Int) -> [Event] {
    let first = max(0, log.count - (total - count))
    return (first..<log.count).map { log[$0] }
  }

  /// Gives up the events before `time`; what they put in force stays known.
  mutating func drop(before time: Timestamp) {
    while log.count > 0, log[0].time < time, let event = log.removeFirst() {
      bytes -= event.heldBytes
      before.apply(event)
    }
  }

  /// What was in force at `time`.
  func state(at time: Timestamp) -> StateInForce {
    var state = before
    for index in 0..<log.count where log[index].time < time { state.apply(log[index]) }
    return state
  }

  /// The events of a session that is made of the stretch from `start` to `end`, on that session's time line: first what
  /// was in force at its beginning, then what happened in it. A gap that reaches out of it is cut to it.
  /// - Parameter open: gaps that have not ended yet.
  func session(from start: Timestamp, to end: Timestamp, open: [Gap]) -> [Event] {
    var events = state(at: start).restated
    for index in 0..<log.count {
      let event = log[index]
      guard event.gap != nil || event.time >= start && event.time <= end else { continue }
      if let moved = event.moved(to: start, until: end) { events.append(moved) }
    }
    for gap in open {
      if let moved = Event(time: end, kind: .gap, gap: gap).moved(to: start, until: end) { events.append(moved) }
    }
    return events
  }
}

/// What earlier events have put in force, as far as search and replay need to know it.
struct StateInForce: Sendable {
  private(set) var windows: [WindowInfo] = []
  /// Where what is recorded is now; nil as long as that has not changed.
  private(set) var rect: PixelRect?
  /// The window that is recorded now; nil as long as that has not changed.
  private(set) var recorded: WindowInfo?
  private var start: Event?
  private var focus: WindowInfo??
  private var muted: [String] = []
  private var isPaused = false

  /// Takes the next event.
  mutating func apply(_ event: Event) {
    switch event.kind {
    case .start: start = event
    case .opened:
      guard let window = event.window else { return }
      windows.removeAll { $0.id == window.id }
      windows.append(window)
    case .closed:
      windows.removeAll { $0.id == event.window?.id }
      if let id = event.window?.id, focus??.id == id { focus = .some(nil) }
    case .focus, .title:
      focus = .some(event.window)
      update(event.window)
    case .geometry:
      if let window = event.window { update(window) } else { rect = event.to ?? rect }
    case .source: recorded = event.window ?? recorded
    case .mute: if let input = event.text, !muted.contains(input) { muted.append(input) }
    case .unmute: muted.removeAll { $0 == event.text }
    case .pause: isPaused = true
    case .resume: isPaused = false
    default: break
    }
  }

  private mutating func update(_ window: WindowInfo?) {
    guard let window else { return }
    if let index = windows.firstIndex(where: { $0.id == window.id }) { windows[index] = window }
    if focus??.id == window.id { focus = .some(window) }
  }

  /// The events that put a session that begins here into this state, at its time 0.
  var restated: [Event] {
    var events = [Event(time: .zero, kind: .start, text: start?.text)]
    events += windows.map { Event(time: .zero, kind: .opened, window: $0) }
    if let focus { events.append(Event(time: .zero, kind: .focus, window: focus)) }
    events += muted.map { Event(time: .zero, kind: .mute, text: $0) }
    if isPaused { events.append(Event(time: .zero, kind: .pause)) }
    return events
  }
}

extension Event {
  /// What an event counts for in a ring: its own size with room for two windows' texts, and all its words.
  fileprivate var heldBytes: Int {
    let texts = [text, window?.title, window?.titleBytes, window?.className, window?.instance, gap?.track, gap?.reason]
    return texts.reduce(512) { $0 + ($1?.utf8.count ?? 0) }
  }

  /// The event on the time line of a session that begins at `origin`; its times are cut to that session.
  /// - Returns: nil for a gap of which nothing lies in the session.
  func moved(to origin: Timestamp, until end: Timestamp = Timestamp(nanoseconds: .max)) -> Event? {
    func cut(_ time: Timestamp) -> Timestamp { Timestamp(nanoseconds: min(max(time, origin), end) - origin) }
    var event = self
    event.time = cut(time)
    if let gap {
      event.gap?.start = cut(gap.start)
      event.gap?.end = cut(gap.end)
      if let moved = event.gap, moved.start >= moved.end { return nil }
    }
    return event
  }
}
