internal import CXCB
import SessionModel

/// Finds the window that is active, for a source that follows the focus.
struct FocusFollower {
  private let source: ResolvedSource
  private let decorations: Bool

  /// Prepares to follow the focus for `source`.
  /// - Parameter decorations: takes each window with its window manager's frame.
  init(for source: ResolvedSource, decorations: Bool) { (self.source, self.decorations) = (source, decorations) }

  /// Has the server tell of what changes which window is active, as far as it does.
  func listen(on connection: XConnection, to window: xcb_window_t?) {
    // The window manager's word for it is a property of the root.
    connection.select(
      XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_FOCUS_CHANGE.rawValue, on: connection.root)
    if let window { connection.select(XCB_EVENT_MASK_FOCUS_CHANGE.rawValue, on: window) }
  }

  /// Whether another window may be active after `event`.
  func isNews(_ event: UnsafePointer<xcb_generic_event_t>, on connection: XConnection) -> Bool {
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_FOCUS_IN, XCB_FOCUS_OUT: true
    case XCB_PROPERTY_NOTIFY:
      event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) { $0.pointee.window }
        == connection.root
    // Without a window manager the stack can say it.
    case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_DESTROY_NOTIFY, XCB_CONFIGURE_NOTIFY: true
    default: false
    }
  }

  /// The active window, as something to record; nil when none is.
  func find(on connection: XConnection) -> ResolvedSource? {
    guard let client = connection.activeWindow(), client != connection.root, let info = connection.info(of: client)
    else { return nil }
    let window = decorations ? connection.topLevel(of: client) : client
    guard let state = connection.windowState(window), !state.isInputOnly else { return nil }
    return ResolvedSource(
      display: source.display,
      source: Manifest.Source(specification: source.source.specification, rect: state.rect, window: info),
      window: window, canvas: source.canvas, otherMatches: 0)
  }
}
