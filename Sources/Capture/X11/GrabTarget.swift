internal import CXCB
import SessionModel

/// The drawable that the picture is fetched from, and where in it and on the root the picture is.
///
/// A window is fetched from the pixmap that Composite keeps for it, so that what covers it does not show; without
/// Composite it is the part of the root where the window is. What of the picture the window or the root does not fill is
/// black.
struct GrabTarget: ~Copyable {
  /// What decides where the picture is.
  private enum Kind: Hashable {
    case root
    case region
    case monitor(name: String)
    case window(xcb_window_t)
    /// No window is active, while the active one is followed.
    case nothing
  }

  private let connection: XConnection
  private let kind: Kind
  private let followsSize: Bool
  private let usesComposite: Bool
  private let monitorEvents: ClosedRange<Int32>?
  private var pixmap: xcb_pixmap_t = 0
  private var topLevel: xcb_window_t = 0
  private var isGone = false
  /// Where the source is on the root; while it is absent, where it was.
  private(set) var rect: PixelRect
  /// The picture's size.
  private(set) var size: PixelSize
  /// Why there is nothing to fetch; nil when there is.
  private(set) var absence: SourceChange.Absence?
  /// What to fetch from.
  private(set) var drawable: xcb_drawable_t
  /// The picture's left top corner in the drawable.
  private(set) var origin: (x: Int, y: Int)
  /// What of the picture the drawable holds, in picture pixels; empty while the source is absent.
  private(set) var visible = Self.nothing
  /// Whether the geometry has to be read again.
  private(set) var isStale = true

  private static let nothing = PixelRect(x: 0, y: 0, width: 0, height: 0)

  /// Prepares to fetch `source`.
  /// - Parameters:
  ///   - size: the picture's size at first.
  ///   - followsSize: whether the picture's size follows the source's.
  init(_ source: ResolvedSource, size: PixelSize, followsSize: Bool, connection: XConnection) {
    self.connection = connection
    (self.size, self.followsSize) = (size, followsSize)
    rect = source.source.rect
    origin = (rect.x, rect.y)
    drawable = connection.root
    connection.select(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue, on: connection.root)
    switch (source.window, source.source.specification) {
    case (let window?, _): kind = .window(window)
    case (nil, .monitor(let name)): kind = .monitor(name: name)
    case (nil, .region): kind = .region
    case (nil, .follow): kind = .nothing
    case (nil, _): kind = .root
    }
    monitorEvents = source.window == nil ? connection.selectMonitorChanges() : nil
    guard let window = source.window else {
      usesComposite = false
      if kind == .nothing { (absence, isStale) = (.unfocused, false) }
      return
    }
    connection.select(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue, on: window)
    usesComposite = Self.redirect(window, connection)
  }

  deinit {
    if pixmap != 0 { xcb_free_pixmap(connection.handle, pixmap) }
    // A window that is gone has no redirection, and the next one may have its number.
    guard usesComposite, !isGone, let window else { return }
    xcb_composite_unredirect_window(connection.handle, window, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
  }

  /// The window that is recorded; nil for a part of the root.
  var window: xcb_window_t? {
    // Inlined, it fails in the optimiser of Swift 6.3.1 ("Found ownership error").
    @inline(never) get { if case .window(let window) = kind { window } else { nil } }
  }

  /// The picture's left top corner on the root.
  var rootOrigin: (x: Int, y: Int) { (rect.x, rect.y) }

  private static func redirect(_ window: xcb_window_t, _ connection: XConnection) -> Bool {
    let handle = connection.handle
    // 0.2 brought NameWindowPixmap.
    guard connection.extension(recorder_xcb_composite_id()) != nil,
      let version = XReply(
        xcb_composite_query_version_reply(handle, xcb_composite_query_version(handle, 0, 4), nil)),
      version.value.major_version > 0 || version.value.minor_version >= 2
    else { return false }
    // Automatic: the server keeps painting the window on the screen, beside any compositor's own redirection.
    let cookie = xcb_composite_redirect_window_checked(
      handle, window, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
    return XReply(xcb_request_check(handle, cookie)) == nil
  }

  /// What XDamage has to follow.
  var damaged: xcb_drawable_t { usesComposite ? window ?? connection.root : connection.root }
  /// Whether it is a window's own pixels, with nothing of the windows above it.
  var isWindowItself: Bool { usesComposite }
  /// From the damage's coordinates to the picture's.
  var damageOffset: (x: Int, y: Int) { usesComposite ? (0, 0) : (-rootOrigin.x, -rootOrigin.y) }

  /// Takes `event` if it is about the geometry.
  /// - Throws: `SourceLoss.windowClosed`.
  mutating func receive(_ event: UnsafePointer<xcb_generic_event_t>) throws(RecorderError) {
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_DESTROY_NOTIFY:
      let closed = event.withMemoryRebound(to: xcb_destroy_notify_event_t.self, capacity: 1) { $0.pointee.window }
      // Its number may be that of the next one.
      connection.forget(closed)
      guard closed == window else { break }
      isGone = true
      throw SourceLoss.windowClosed.error
    case XCB_CONFIGURE_NOTIFY, XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_REPARENT_NOTIFY, XCB_GRAVITY_NOTIFY:
      isStale = true
    case let type where monitorEvents?.contains(type) == true: isStale = true
    default: break
    }
  }

  /// Has the geometry read again before the next grab: the server refused one.
  mutating func invalidate() { isStale = true }

  /// Whether it is a monitor.
  var isMonitor: Bool {
    if case .monitor = kind { return true }
    return false
  }

  /// Whether a monitor is not where it was, which servers do not always say.
  func isMonitorMoved() -> Bool {
    guard case .monitor(let name) = kind else { return false }
    let now = connection.monitors().first { $0.name == name }?.rect
    return now == nil ? absence == nil : now != rect || absence != nil
  }

  /// Nothing is fetched any more: the window is gone, or another one is to be recorded.
  mutating func abandon(_ reason: SourceChange.Absence) {
    (absence, visible, isStale) = (reason, Self.nothing, false)
  }

  /// Whether there is nothing that could come back by itself.
  var isAbandoned: Bool { absence == .closed || absence == .unfocused }

  /// Keeps the picture at `size`: there is no memory for another.
  mutating func keep(_ size: PixelSize) {
    self.size = size
    visible = PixelRect(size).intersection(visible)
  }

  /// Reads the geometry again.
  /// - Returns: whether all of the picture has to be fetched anew.
  /// - Throws: `SourceLoss.error`.
  mutating func refresh() throws(RecorderError) -> Bool {
    isStale = false
    let handle = connection.handle
    guard let root = XReply(xcb_get_geometry_reply(handle, xcb_get_geometry(handle, connection.root), nil)) else {
      throw SourceLoss.displayLost.error
    }
    let screen = PixelRect(PixelSize(width: Int(root.value.width), height: Int(root.value.height)))
    switch kind {
    case .root: return show(screen, on: screen)
    case .region: return show(rect, on: screen)
    case .nothing: return false
    case .monitor(let name):
      guard let monitor = connection.monitors().first(where: { $0.name == name }) else {
        try connection.checkAlive()
        (absence, visible) = (.unplugged, Self.nothing)
        return false
      }
      return show(monitor.rect, on: screen)
    case .window(let window): return try refresh(window, on: screen)
    }
  }

  private mutating func refresh(_ window: xcb_window_t, on screen: PixelRect) throws(RecorderError) -> Bool {
    guard let state = connection.windowState(window) else {
      try connection.checkAlive()
      isGone = true
      throw SourceLoss.windowClosed.error
    }
    followTopLevel(of: window)
    // A window that is not shown keeps its last picture; it has no pixels of its own.
    guard state.isViewable else {
      (absence, visible) = (.hidden, Self.nothing)
      rect.x = state.rect.x
      rect.y = state.rect.y
      return false
    }
    guard usesComposite else { return show(state.rect, on: screen) }
    if rect.size != state.rect.size || absence != nil || pixmap == 0 { namePixmap(of: window) }
    guard pixmap != 0 else {
      // Unmapped since the geometry was read; looked at again until the event that says so, or a pixmap, has come.
      (absence, visible, isStale) = (.hidden, Self.nothing, true)
      return false
    }
    let before = (absence, visible, size, rect.size)
    _ = show(state.rect, on: state.rect)
    // The pixmap begins at the border's outer edge.
    (drawable, origin) = (pixmap, (state.border, state.border))
    // A window that only moved shows what it showed.
    return before != (absence, visible, size, rect.size)
  }

  /// The source is at `place` now, of which `available` can be fetched.
  /// - Returns: whether all of the picture has to be fetched anew.
  private mutating func show(_ place: PixelRect, on available: PixelRect) -> Bool {
    let before = (rect, absence, visible, size)
    (rect, absence, origin) = (place, nil, (place.x, place.y))
    if followsSize { size = place.size.recordable }
    visible = PixelRect(size).intersection(available.offset(x: -place.x, y: -place.y))
    return before != (rect, absence, visible, size)
  }

  /// The pixmap of a resized window is another one.
  private mutating func namePixmap(of window: xcb_window_t) {
    let handle = connection.handle
    if pixmap != 0 { xcb_free_pixmap(handle, pixmap) }
    pixmap = connection.newID()
    let refusal = XReply(
      xcb_request_check(handle, xcb_composite_name_window_pixmap_checked(handle, window, pixmap)))
    if refusal != nil { pixmap = 0 }
  }

  /// A window manager's frame moves without the window in it knowing.
  private mutating func followTopLevel(of window: xcb_window_t) {
    let top = connection.topLevel(of: window)
    guard top != topLevel else { return }
    topLevel = top
    if top != window { connection.select(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue, on: top) }
  }

  /// Whether a pointer at `place` is over what is recorded, and not over a window above it.
  func isUnder(_ place: PointerTracker.Place) -> Bool {
    guard window != nil else { return absence == nil }
    let inside = PixelRect(x: place.x, y: place.y, width: 1, height: 1)
    return absence == nil && place.child == topLevel && rect.contains(inside)
  }
}
