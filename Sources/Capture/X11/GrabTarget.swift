internal import CXCB
import SessionModel

/// The drawable that the picture is fetched from, and where in it and on the root the picture is.
///
/// A window is fetched from the pixmap that Composite keeps for it, so that what covers it does not show; without
/// Composite it is the part of the root where the window is. The picture's size never changes: what the window or the
/// root does not fill is black.
struct GrabTarget: ~Copyable {
  private let connection: XConnection
  private let window: xcb_window_t?
  private let size: PixelSize
  private let usesComposite: Bool
  private var pixmap: xcb_pixmap_t = 0
  private var windowSize = PixelSize(width: 0, height: 0)
  private var topLevel: xcb_window_t = 0
  private var isViewable = true
  /// What to fetch from.
  private(set) var drawable: xcb_drawable_t
  /// The picture's left top corner in the drawable.
  private(set) var origin: (x: Int, y: Int)
  /// The picture's left top corner on the root.
  private(set) var rootOrigin: (x: Int, y: Int)
  /// What of the picture the drawable holds, in picture pixels; empty while a window is not shown.
  private(set) var visible = PixelRect(x: 0, y: 0, width: 0, height: 0)
  /// Whether the geometry has to be read again.
  private(set) var isStale = true

  /// Prepares to fetch `source`.
  init(_ source: ResolvedSource, connection: XConnection) {
    self.connection = connection
    let rect = source.source.rect
    (window, size) = (source.window, rect.size)
    (rootOrigin, origin) = ((rect.x, rect.y), (rect.x, rect.y))
    drawable = connection.root
    connection.select(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue, on: connection.root)
    guard let window else {
      usesComposite = false
      return
    }
    connection.select(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue, on: window)
    usesComposite = Self.redirect(window, connection)
  }

  deinit { if pixmap != 0 { xcb_free_pixmap(connection.handle, pixmap) } }

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
  /// From the damage's coordinates to the picture's.
  var damageOffset: (x: Int, y: Int) { usesComposite ? (0, 0) : (-rootOrigin.x, -rootOrigin.y) }

  /// Takes `event` if it is about the geometry.
  /// - Throws: `SourceLoss.windowClosed`.
  mutating func receive(_ event: UnsafePointer<xcb_generic_event_t>) throws(RecorderError) {
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_DESTROY_NOTIFY:
      let closed = event.withMemoryRebound(to: xcb_destroy_notify_event_t.self, capacity: 1) { $0.pointee.window }
      if closed == window { throw SourceLoss.windowClosed.error }
    case XCB_CONFIGURE_NOTIFY, XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_REPARENT_NOTIFY, XCB_GRAVITY_NOTIFY:
      isStale = true
    default: break
    }
  }

  /// Has the geometry read again before the next grab: the server refused one.
  mutating func invalidate() { isStale = true }

  /// Reads the geometry again.
  /// - Returns: whether all of the picture has to be fetched anew.
  /// - Throws: `SourceLoss.error`.
  mutating func refresh() throws(RecorderError) -> Bool {
    isStale = false
    let handle = connection.handle
    guard let root = XReply(xcb_get_geometry_reply(handle, xcb_get_geometry(handle, connection.root), nil)) else {
      throw SourceLoss.displayLost.error
    }
    let rootSize = PixelSize(width: Int(root.value.width), height: Int(root.value.height))
    guard let window else {
      return update(PixelRect(rootSize).offset(x: -rootOrigin.x, y: -rootOrigin.y))
    }
    guard let state = connection.windowState(window) else {
      try connection.checkAlive()
      throw SourceLoss.windowClosed.error
    }
    followTopLevel(of: window)
    let moved = rootOrigin != (state.rect.x, state.rect.y)
    rootOrigin = (state.rect.x, state.rect.y)
    let resized = windowSize != state.rect.size || isViewable != state.isViewable
    (windowSize, isViewable) = (state.rect.size, state.isViewable)
    // A window that is not shown keeps its last picture; it has no pixels of its own.
    guard isViewable else {
      visible = PixelRect(x: 0, y: 0, width: 0, height: 0)
      return false
    }
    if usesComposite {
      if resized || pixmap == 0 { namePixmap(of: window) }
      // The pixmap begins at the border's outer edge.
      (drawable, origin) = (pixmap, (state.border, state.border))
      let changed = update(pixmap == 0 ? PixelRect(x: 0, y: 0, width: 0, height: 0) : PixelRect(windowSize))
      return changed || resized
    }
    origin = rootOrigin
    let onRoot = state.rect.intersection(PixelRect(rootSize))
    let changed = update(onRoot.offset(x: -rootOrigin.x, y: -rootOrigin.y))
    return changed || moved || resized
  }

  private mutating func update(_ available: PixelRect) -> Bool {
    let before = visible
    visible = PixelRect(size).intersection(available)
    return visible != before
  }

  /// The pixmap of a resized window is another one.
  private mutating func namePixmap(of window: xcb_window_t) {
    let handle = connection.handle
    if pixmap != 0 { xcb_free_pixmap(handle, pixmap) }
    pixmap = connection.newID()
    let refusal = XReply(
      xcb_request_check(handle, xcb_composite_name_window_pixmap_checked(handle, window, pixmap)))
    // Unmapped since the geometry was read: the event that says so is on its way.
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
    guard window != nil else { return true }
    let inside = PixelRect(x: place.x - rootOrigin.x, y: place.y - rootOrigin.y, width: 1, height: 1)
    return isViewable && place.child == topLevel && PixelRect(windowSize).contains(inside)
  }
}
