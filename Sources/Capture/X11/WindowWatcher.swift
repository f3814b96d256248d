internal import CXCB
import SessionModel

/// What is known of a display's windows, and what has to be looked at again.
struct WindowWatcher {
  private let connection: XConnection
  private var known: [xcb_window_t: WindowInfo] = [:]
  private var active: xcb_window_t?
  private var isManaged = false
  private var isListStale = true
  private var stale: Set<xcb_window_t> = []
  private var isFirst = true
  private let matchers: [WindowMatcher]
  /// Windows of which nothing is told.
  private var hidden: Set<xcb_window_t> = []
  /// Those of them that have gone: a dialog can outlive its window.
  private var departed: Set<xcb_window_t> = []

  /// Begins to be sent what happens on `connection`'s screen.
  /// - Parameter matchers: windows of which nothing is told.
  init(_ connection: XConnection, without matchers: [WindowMatcher] = []) {
    (self.connection, self.matchers) = (connection, matchers)
    let events = [XCB_EVENT_MASK_PROPERTY_CHANGE, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, XCB_EVENT_MASK_FOCUS_CHANGE]
    connection.select(events.reduce(0) { $0 | $1.rawValue }, on: connection.root)
  }

  /// Takes the waiting events.
  /// - Returns: whether something has to be looked at.
  mutating func receiveEvents() -> Bool {
    while let event = XReply(xcb_poll_for_event(connection.handle)) {
      event.read { receive($0) }
    }
    return isListStale || !stale.isEmpty
  }

  private mutating func receive(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    func read<Body, Value>(_ path: KeyPath<Body, Value>) -> Value {
      event.withMemoryRebound(to: Body.self, capacity: 1) { $0.pointee[keyPath: path] }
    }
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_PROPERTY_NOTIFY:
      let window: xcb_window_t = read(\xcb_property_notify_event_t.window)
      // The window manager's lists and the active window are the root's properties.
      if window == connection.root { isListStale = true } else { stale.insert(window) }
    case XCB_CONFIGURE_NOTIFY:
      stale.insert(read(\xcb_configure_notify_event_t.window))
      // Without a window manager the stack says which window is active.
      if !isManaged { isListStale = true }
    case XCB_CREATE_NOTIFY: departed.remove(read(\xcb_create_notify_event_t.window))
    case XCB_DESTROY_NOTIFY:
      connection.forget(read(\xcb_destroy_notify_event_t.window))
      isListStale = true
    case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_REPARENT_NOTIFY, XCB_CIRCULATE_NOTIFY, XCB_FOCUS_IN,
      XCB_FOCUS_OUT:
      isListStale = true
    default: break
    }
  }

  /// Looks at what may have changed and reports what did.
  mutating func report(_ emit: (Event.Kind, WindowInfo?) -> Void) {
    let (wasListStale, looked) = (isListStale, stale)
    (isListStale, stale) = (false, [])
    if wasListStale { reportList(emit) }
    for window in looked {
      guard let before = known[window], let now = connection.info(of: window) else { continue }
      known[window] = now
      if !isTold(now, before, emit) { continue }
      if now.rect != before.rect { emit(.geometry, now) }
      if window == active, now.title != before.title || now.titleBytes != before.titleBytes { emit(.title, now) }
    }
    if wasListStale { reportActive(emit) }
  }

  private mutating func reportList(_ emit: (Event.Kind, WindowInfo?) -> Void) {
    isManaged = connection.hasWindowManager
    // A window manager lists minimised windows too; without one a hidden window is gone.
    let windows = connection.clientWindows().filter { isManaged || $0.isViewable }.map(\.id)
    for window in known.keys.sorted() where !windows.contains(window) {
      let last = known.removeValue(forKey: window)
      if hidden.remove(window) == nil { emit(.closed, last) } else { departed.insert(window) }
    }
    for window in windows where known[window] == nil {
      let events = [XCB_EVENT_MASK_PROPERTY_CHANGE, XCB_EVENT_MASK_STRUCTURE_NOTIFY, XCB_EVENT_MASK_FOCUS_CHANGE]
      connection.select(events.reduce(0) { $0 | $1.rawValue }, on: window)
      // Read after the selection: a later change makes an event.
      guard let info = connection.info(of: window) else { continue }
      if isExcluded(info) { hidden.insert(window) } else { emit(.opened, info) }
      known[window] = info
    }
  }

  /// Whether there is to be told of a window, which comes and goes with what is excluded.
  private mutating func isTold(
    _ now: WindowInfo, _ before: WindowInfo, _ emit: (Event.Kind, WindowInfo?) -> Void
  ) -> Bool {
    guard !matchers.isEmpty else { return true }
    let isExcluded = isExcluded(now)
    if isExcluded, hidden.insert(now.id).inserted {
      emit(.closed, before)
      if now.id == active { emit(.focus, nil) }
    } else if !isExcluded, hidden.remove(now.id) != nil {
      emit(.opened, now)
      if now.id == active { emit(.focus, now) }
    }
    return !isExcluded
  }

  /// Whether nothing is told of `window`: it matches, or it is a dialog of one that does.
  private func isExcluded(_ window: WindowInfo) -> Bool {
    if matchers.isEmpty { return false }
    if matchers.contains(where: { $0.matches(window, on: connection) }) { return true }
    guard let owner = connection.words("WM_TRANSIENT_FOR", of: window.id).first, ![0, connection.root].contains(owner)
    else {
      // One that has gone by now may have named it.
      return connection.windowState(window.id) == nil
    }
    if hidden.contains(owner) || departed.contains(owner) { return true }
    guard let info = connection.info(of: owner) else {
      // The owner has gone, maybe before it was looked at: only a window that was told of is told of still.
      return known[window.id] == nil || hidden.contains(window.id)
    }
    return matchers.contains { $0.matches(info, on: connection) }
  }

  private mutating func reportActive(_ emit: (Event.Kind, WindowInfo?) -> Void) {
    let now = connection.activeWindow()
    guard now != active || isFirst else { return }
    (active, isFirst) = (now, false)
    let info = now.flatMap { connection.info(of: $0) }
    if let now, known[now] != nil { known[now] = info }
    // Whether it is excluded is looked at anew: its title may be another than when it was opened.
    if let info, isExcluded(info) {
      hidden.insert(info.id)
      return emit(.focus, nil)
    }
    emit(.focus, info)
  }
}
