internal import CXCB
import SessionModel

extension XConnection {
  /// A window's geometry and state.
  struct WindowState: Hashable {
    /// The area inside its border, on the root, in pixels.
    var rect: PixelRect
    /// Its border's width in pixels.
    var border: Int
    /// Whether it and all around it are mapped.
    var isViewable: Bool
    /// Whether it has no pixels.
    var isInputOnly: Bool
    /// Whether window managers leave it alone: a menu, a tooltip.
    var isOverrideRedirect: Bool
    /// Its visual.
    var visual: xcb_visualid_t
    /// Its colour map.
    var colormap: xcb_colormap_t
  }

  /// An application's window.
  struct ClientWindow: Hashable {
    /// Its X id.
    var id: xcb_window_t
    /// Whether it is mapped.
    var isViewable: Bool
  }

  /// The state of `window`, in one round trip; nil when there is no such window.
  func windowState(_ window: xcb_window_t) -> WindowState? {
    let cookies = (
      xcb_get_window_attributes(handle, window), xcb_get_geometry(handle, window),
      xcb_translate_coordinates(handle, window, root, 0, 0)
    )
    let attributes = XReply(xcb_get_window_attributes_reply(handle, cookies.0, nil))
    let geometry = XReply(xcb_get_geometry_reply(handle, cookies.1, nil))
    let place = XReply(xcb_translate_coordinates_reply(handle, cookies.2, nil))
    guard let attributes, let geometry, let place else { return nil }
    let (state, size) = (attributes.value, geometry.value)
    return WindowState(
      rect: PixelRect(
        x: Int(place.value.dst_x), y: Int(place.value.dst_y), width: Int(size.width), height: Int(size.height)),
      border: Int(size.border_width), isViewable: state.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue),
      isInputOnly: state._class == UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue),
      isOverrideRedirect: state.override_redirect != 0, visual: state.visual,
      colormap: state.colormap)
  }

  /// How pixels of `window`, or the root's, are to be read.
  /// - Throws: `RecorderError` (unavailable) that names a visual that is not known.
  func pixels(of window: xcb_window_t?) throws(RecorderError) -> (layout: PixelLayout, colormap: xcb_colormap_t) {
    let state = window.flatMap { windowState($0) }
    let layout = try pixelLayout(visual: state?.visual ?? screen.root_visual)
    return (layout, state?.colormap ?? screen.default_colormap)
  }

  /// The parent and the children of `window`, bottom to top; nil when there is no such window.
  func tree(of window: xcb_window_t) -> (parent: xcb_window_t, children: [xcb_window_t])? {
    guard let reply = XReply(xcb_query_tree_reply(handle, xcb_query_tree(handle, window), nil)) else { return nil }
    return reply.read { tree in
      let children = UnsafeBufferPointer(
        start: xcb_query_tree_children(tree), count: Int(xcb_query_tree_children_length(tree)))
      return (tree.pointee.parent, Array(children))
    }
  }

  /// The root's child that `window` is or is in: the window manager's frame, where there is one.
  func topLevel(of window: xcb_window_t) -> xcb_window_t {
    var top = window
    while let parent = tree(of: top)?.parent, parent != 0, parent != root { top = parent }
    return top
  }

  /// What is known of `window`; nil when there is no such window.
  func info(of window: xcb_window_t) -> WindowInfo? {
    let title = title(of: window)
    var info = WindowInfo(id: window, title: title.text)
    info.titleBytes = title.bytes
    // WM_CLASS: instance and class, each ended by a NUL.
    if let bytes = property("WM_CLASS", of: window)?.bytes {
      let names = bytes.split(separator: 0, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      info.instance = names.first
      if names.count > 1 { info.className = names[1] }
    }
    info.pid = words("_NET_WM_PID", of: window).first.map { Int($0) }
    // Asked last: of a window that goes meanwhile only a part may have been read, and by its title alone nobody could say
    // whether it must not be told of.
    guard let state = windowState(window) else { return nil }
    info.rect = state.rect
    return info
  }

  /// Whether a window manager that speaks EWMH runs: the window that its property names still has the property.
  var hasWindowManager: Bool {
    guard let check = words("_NET_SUPPORTING_WM_CHECK", of: root).first else { return false }
    return words("_NET_SUPPORTING_WM_CHECK", of: check).first == check
  }

  /// The applications' windows, bottom to top: those the window manager lists, without one the root's children.
  func clientWindows() -> [ClientWindow] {
    let listed: [xcb_window_t]
    if hasWindowManager {
      let stacked = words("_NET_CLIENT_LIST_STACKING", of: root)
      listed = stacked.isEmpty ? words("_NET_CLIENT_LIST", of: root) : stacked
    } else {
      listed =
        tree(of: root)?.children.compactMap { child in
          guard let state = windowState(child), !state.isOverrideRedirect else { return nil }
          return client(in: child)
        } ?? []
    }
    return listed.compactMap { window in
      guard let state = windowState(window), !state.isInputOnly else { return nil }
      return ClientWindow(id: window, isViewable: state.isViewable)
    }
  }

  /// The window that has WM_STATE in `frame`, as window managers without EWMH mark it; `frame` itself without one.
  func client(in frame: xcb_window_t) -> xcb_window_t {
    var level = [frame]
    // Frames nest two or three deep; the bound keeps a tree of widgets from being walked.
    for _ in 0..<3 {
      if let found = level.first(where: { property("WM_STATE", of: $0) != nil }) { return found }
      level = level.flatMap { tree(of: $0)?.children ?? [] }
    }
    return frame
  }

  /// The active window: the window manager's; without one the window with the focus, or the topmost that is shown.
  func activeWindow() -> xcb_window_t? {
    if hasWindowManager, let active = words("_NET_ACTIVE_WINDOW", of: root).first {
      return active != 0 && windowState(active) != nil ? active : nil
    }
    let windows = clientWindows()
    let focus = XReply(xcb_get_input_focus_reply(handle, xcb_get_input_focus(handle), nil))?.value.focus ?? 0
    var window = focus
    while window > XCB_INPUT_FOCUS_POINTER_ROOT.rawValue, window != root {
      if windows.contains(where: { $0.id == window }) { return window }
      window = tree(of: window)?.parent ?? 0
    }
    return windows.last(where: \.isViewable)?.id
  }
}
