internal import CXCB
import Glibc

extension DisplayConnection {
  /// Whether a window manager runs that can fill the screen with a window (EWMH).
  var hasWindowManager: Bool {
    let check = property(atom("_NET_SUPPORTING_WM_CHECK"), XCB_ATOM_WINDOW.rawValue, of: screen.root)
    // The window that the root names must exist and name itself: a manager that died leaves the property behind.
    guard let window = check.first,
      property(atom("_NET_SUPPORTING_WM_CHECK"), XCB_ATOM_WINDOW.rawValue, of: window) == [window]
    else { return false }
    return property(atom("_NET_SUPPORTED"), XCB_ATOM_ATOM.rawValue, of: screen.root)
      .contains(atom("_NET_WM_STATE_FULLSCREEN"))
  }

  private func property(
    _ property: xcb_atom_t, _ type: xcb_atom_t, of window: xcb_window_t
  ) -> [UInt32] {
    // 1024 units of 4 bytes: EWMH has some 80 atoms in all.
    let cookie = xcb_get_property(handle, 0, window, property, type, 0, 1024)
    guard let reply = xcb_get_property_reply(handle, cookie, nil) else { return [] }
    defer { free(reply) }
    guard reply.pointee.format == 32, let value = xcb_get_property_value(reply) else { return [] }
    let count = Int(xcb_get_property_value_length(reply)) / 4
    return Array(
      UnsafeBufferPointer(start: value.assumingMemoryBound(to: UInt32.self), count: count))
  }
}
