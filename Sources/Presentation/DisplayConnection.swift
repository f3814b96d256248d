internal import CXCB
import Glibc
internal import SessionModel

/// The sole owner of a connection to an X server, with what the window needs to know of its first screen.
struct DisplayConnection: ~Copyable {
  /// The connection; valid as long as this value.
  let handle: OpaquePointer
  /// The screen that the display's name means.
  let screen: xcb_screen_t
  /// The numbers of the atoms in `names`, by name.
  let atoms: [String: xcb_atom_t]
  /// MIT-SHM's event and request numbers; nil when the server lacks it.
  let sharedMemory: (firstEvent: UInt8, opcode: UInt8)?

  private static let names = [
    "WM_PROTOCOLS", "WM_DELETE_WINDOW", "UTF8_STRING", "_NET_WM_NAME", "_NET_WM_PID", "_NET_WM_STATE",
    "_NET_WM_STATE_FULLSCREEN", "_NET_SUPPORTED", "_NET_SUPPORTING_WM_CHECK",
  ]

  /// Opens `display`, or $DISPLAY when that is nil.
  /// - Throws: `RecorderError` (unavailable) when there is none, or when it does not show 24-bit colour in the byte
  ///   order blue, green, red, unused.
  init(display: String?) throws(RecorderError) {
    let name = display ?? getenv("DISPLAY").map { String(cString: $0) } ?? ""
    guard !name.isEmpty else {
      throw RecorderError(
        .unavailable, "There is no display: DISPLAY is not set.",
        hint: getenv("WAYLAND_DISPLAY") == nil
          ? "Run it in a desktop session, or name one, as in DISPLAY=:0."
          : "The window needs an X server: start XWayland, which sets DISPLAY.")
    }
    var screenNumber: Int32 = 0
    // xcb_connect always returns a connection, which is then good or not.
    guard let handle = xcb_connect(name, &screenNumber) else {
      throw RecorderError(.systemCall, "No memory is left for a connection to the display.")
    }
    var opened = false
    defer { if !opened { xcb_disconnect(handle) } }
    guard xcb_connection_has_error(handle) == 0, let setup = xcb_get_setup(handle) else {
      throw RecorderError(
        .unavailable, "The display \"\(name.printable(atMost: 60))\" cannot be opened.",
        hint: "See that DISPLAY names a running X server and XAUTHORITY the file with its key.")
    }
    var roots = xcb_setup_roots_iterator(setup)
    for _ in 0..<max(0, screenNumber) where roots.rem > 1 { xcb_screen_next(&roots) }
    guard let screen = roots.data, Self.showsTrueColour(screen, setup) else {
      throw RecorderError(
        .unavailable, "The display \"\(name.printable(atMost: 60))\" does not show 24-bit colour.",
        hint: "Use a display of depth 24.")
    }
    self.handle = handle
    self.screen = screen.pointee
    atoms = Self.intern(handle)
    if let extensionData = xcb_get_extension_data(handle, recorder_xcb_shm_id()), extensionData.pointee.present != 0 {
      sharedMemory = (extensionData.pointee.first_event, extensionData.pointee.major_opcode)
    } else {
      sharedMemory = nil
    }
    opened = true
  }

  deinit { xcb_disconnect(handle) }

  /// The atom called `name`, one of `names`; 0 (none) when the server refused it.
  func atom(_ name: String) -> xcb_atom_t { atoms[name] ?? 0 }

  private static func intern(_ handle: OpaquePointer) -> [String: xcb_atom_t] {
    let cookies = names.map { xcb_intern_atom(handle, 0, UInt16($0.utf8.count), $0) }
    var atoms: [String: xcb_atom_t] = [:]
    for (name, cookie) in zip(names, cookies) {
      guard let reply = xcb_intern_atom_reply(handle, cookie, nil) else { continue }
      atoms[name] = reply.pointee.atom
      free(reply)
    }
    return atoms
  }

  /// Whether the root window's pixels are 4 bytes: blue, green, red and one unused.
  private static func showsTrueColour(
    _ screen: UnsafePointer<xcb_screen_t>, _ setup: UnsafePointer<xcb_setup_t>
  ) -> Bool {
    guard screen.pointee.root_depth == 24, setup.pointee.image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST.rawValue else {
      return false
    }
    var formats = xcb_setup_pixmap_formats_iterator(setup)
    var hasFourBytes = false
    while formats.rem > 0, let format = formats.data?.pointee {
      if format.depth == 24, format.bits_per_pixel == 32 { hasFourBytes = true }
      xcb_format_next(&formats)
    }
    // The depths lie behind the screen in memory: a copy of it would have none.
    var depths = xcb_screen_allowed_depths_iterator(screen)
    while depths.rem > 0, let depth = depths.data {
      var visuals = xcb_depth_visuals_iterator(depth)
      while visuals.rem > 0, let visual = visuals.data?.pointee {
        if visual.visual_id == screen.pointee.root_visual {
          return hasFourBytes && (visual.red_mask, visual.green_mask, visual.blue_mask) == (0xFF0000, 0xFF00, 0xFF)
        }
        xcb_visualtype_next(&visuals)
      }
      xcb_depth_next(&depths)
    }
    return false
  }
}
