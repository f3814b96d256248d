internal import CXCB
import Glibc
import SessionModel

/// One connection to an X server and the screen it is about. Made, used and freed on one thread.
final class XConnection {
  /// xcb's handle.
  let handle: OpaquePointer
  /// The display's name, as it was opened.
  let display: String
  /// The screen, as it was at the start: its root resizes, its visuals do not.
  let screen: xcb_screen_t
  /// The root window.
  var root: xcb_window_t { screen.root }
  /// The screen's number on the display.
  private let number: Int32
  /// Atoms by name, as far as they were asked for.
  var atoms: [String: xcb_atom_t] = [:]
  /// The events that were chosen, by window.
  private var masks: [xcb_window_t: UInt32] = [:]
  private let formats: [xcb_format_t]
  private let isLittleEndian: Bool
  /// Whether the server bears that a client leaves while others stay. The one of xorg-server 21.1 without XFIXES does not:
  /// it asks each of them for XFIXES 6's mode of disconnecting, which was not set up, and aborts.
  private let canBeLeft: Bool
  private let visuals: [(depth: UInt8, visual: xcb_visualtype_t)]

  /// Opens `display`; nil is $DISPLAY.
  /// - Throws: `RecorderError` (unavailable) that names the display, DISPLAY and XAUTHORITY.
  init(_ display: String?) throws(RecorderError) {
    let name = try DisplayName(display)
    var number: Int32 = 0
    guard let handle = xcb_connect(name.name, &number) else { throw name.unreachable }
    guard xcb_connection_has_error(handle) == 0, let setup = xcb_get_setup(handle) else {
      xcb_disconnect(handle)
      throw name.unreachable
    }
    var screens = xcb_setup_roots_iterator(setup)
    for _ in 0..<number where screens.rem > 0 { xcb_screen_next(&screens) }
    guard screens.rem > 0, let screen = screens.data else {
      xcb_disconnect(handle)
      throw name.unreachable
    }
    let firstFormat = xcb_setup_pixmap_formats(setup)
    formats = Array(
      UnsafeBufferPointer(start: firstFormat, count: Int(xcb_setup_pixmap_formats_length(setup))))
    isLittleEndian = setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue)
    visuals = Self.visuals(of: screen)
    self.handle = handle
    self.number = number
    self.display = name.name
    self.screen = screen.pointee
    canBeLeft = xcb_get_extension_data(handle, recorder_xcb_xfixes_id())?.pointee.present ?? 0 != 0
  }

  // Else it is the process's end that closes it: when nothing more is asked of the server.
  deinit { if canBeLeft || !isAlive { xcb_disconnect(handle) } }

  private static func visuals(
    of screen: UnsafeMutablePointer<xcb_screen_t>
  ) -> [(depth: UInt8, visual: xcb_visualtype_t)] {
    var found: [(depth: UInt8, visual: xcb_visualtype_t)] = []
    var depths = xcb_screen_allowed_depths_iterator(screen)
    while depths.rem > 0, let depth = depths.data {
      var visuals = xcb_depth_visuals_iterator(depth)
      while visuals.rem > 0, let visual = visuals.data {
        found.append((depth.pointee.depth, visual.pointee))
        xcb_visualtype_next(&visuals)
      }
      xcb_depth_next(&depths)
    }
    return found
  }

  /// Whether the server still answers.
  var isAlive: Bool { xcb_connection_has_error(handle) == 0 }

  /// Throws `SourceLoss.displayLost` when the server is gone.
  func checkAlive() throws(RecorderError) {
    guard isAlive else { throw SourceLoss.displayLost.error }
  }

  /// Has the server answer once.
  /// - Returns: the number of the request: what was told before its answer has come.
  func roundTrip() -> UInt32 {
    let cookie = xcb_get_input_focus(handle)
    _ = XReply(xcb_get_input_focus_reply(handle, cookie, nil))
    return cookie.sequence
  }

  /// A new X id of this connection.
  func newID() -> UInt32 { xcb_generate_id(handle) }

  /// What the server says of an extension; nil when it lacks it.
  func `extension`(_ id: OpaquePointer?) -> xcb_query_extension_reply_t? {
    guard let data = xcb_get_extension_data(handle, id), data.pointee.present != 0 else { return nil }
    return data.pointee
  }

  /// Chooses events of `window` to be sent, beside those that were chosen before.
  func select(_ mask: UInt32, on window: xcb_window_t) {
    let before = masks[window] ?? 0
    guard before | mask != before else { return }
    masks[window] = before | mask
    var value = before | mask
    xcb_change_window_attributes(handle, window, XCB_CW_EVENT_MASK.rawValue, &value)
  }

  /// Forgets a window that is gone; its number may be another's later.
  func forget(_ window: xcb_window_t) { masks.removeValue(forKey: window) }

  /// Whether two windows were made by the same client.
  func isSameClient(_ one: xcb_window_t, _ other: xcb_window_t) -> Bool {
    guard let setup = xcb_get_setup(handle) else { return false }
    return (one ^ other) & ~setup.pointee.resource_id_mask == 0
  }

  /// Whether a compositor draws the screen (EWMH: it owns this selection).
  var hasCompositor: Bool {
    let selection = atom("_NET_WM_CM_S\(number)")
    guard selection != 0 else { return false }
    let owner = XReply(xcb_get_selection_owner_reply(handle, xcb_get_selection_owner(handle, selection), nil))
    return owner?.value.owner ?? 0 != 0
  }

  /// Bits a pixel of `visual`; 0 when the server does not describe it.
  func depth(ofVisual id: xcb_visualid_t) -> UInt8 { visuals.first { $0.visual.visual_id == id }?.depth ?? 0 }

  /// How pixels of `visual` lie in images.
  /// - Throws: `RecorderError` (unavailable) that names the visual.
  func pixelLayout(visual id: xcb_visualid_t) throws(RecorderError) -> PixelLayout {
    guard let (depth, visual) = visuals.first(where: { $0.visual.visual_id == id }) else {
      throw RecorderError(.unavailable, "The server does not describe its visual 0x\(String(id, radix: 16)).")
    }
    let format = formats.first { $0.depth == depth }
    let colours = [XCB_VISUAL_CLASS_TRUE_COLOR, XCB_VISUAL_CLASS_DIRECT_COLOR]
    return try PixelLayout(
      PixelLayout.Description(
        id: id, depth: Int(depth), bitsPerPixel: Int(format?.bits_per_pixel ?? 0),
        rowPadding: Int(format?.scanline_pad ?? 0), isLittleEndian: isLittleEndian,
        isIndexed: !colours.contains { $0.rawValue == UInt32(visual._class) },
        masks: [visual.red_mask, visual.green_mask, visual.blue_mask]))
  }
}
