internal import CXCB
import Glibc

/// The window and its picture. The picture is the window's background: the server repaints what was covered by itself,
/// and a frame appears whole, by one request.
struct PatternWindow: ~Copyable {
  private let connection: OpaquePointer
  private let screen: xcb_screen_t
  private var pixmap: xcb_pixmap_t
  /// The menu that is open; 0 when none is.
  private var popup: xcb_window_t = 0
  private let context: xcb_gcontext_t
  /// The bits of red, green and blue; 0 when pixels are numbers of a colour map's cells.
  private let masks: [UInt32]
  private let hasBackground: Bool
  /// The window's X id.
  let id: xcb_window_t
  /// Whether it has been shown.
  private(set) var isShown = false
  /// Its size in pixels.
  private(set) var size: (width: Int, height: Int)

  /// Makes the window, not yet shown; nil when the display cannot be opened.
  init?(_ options: PatternOptions) {
    var number: Int32 = 0
    guard let connection = xcb_connect(options.display, &number), xcb_connection_has_error(connection) == 0,
      let screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data?.pointee
    else { return nil }
    (self.connection, self.screen) = (connection, screen)
    masks = Self.masks(of: screen.root_visual, connection)
    size = options.size ?? (Int(screen.width_in_pixels), Int(screen.height_in_pixels))
    (id, pixmap, context) = (
      xcb_generate_id(connection), xcb_generate_id(connection), xcb_generate_id(connection)
    )
    let (width, height) = (UInt16(clamping: size.width), UInt16(clamping: size.height))
    xcb_create_pixmap(connection, screen.root_depth, pixmap, screen.root, width, height)
    // A window without pixels has no background.
    let kind = options.isInputOnly ? XCB_WINDOW_CLASS_INPUT_ONLY : XCB_WINDOW_CLASS_INPUT_OUTPUT
    hasBackground = options.hasBackground && !options.isInputOnly
    var values = hasBackground ? [pixmap] : []
    let watched = XCB_EVENT_MASK_EXPOSURE.rawValue | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue
    values.append(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | (options.isWatched ? watched : 0))
    xcb_create_window(
      connection, 0, id, screen.root, Int16(clamping: options.place.x), Int16(clamping: options.place.y), width,
      height, 0, UInt16(kind.rawValue), screen.root_visual,
      (hasBackground ? XCB_CW_BACK_PIXMAP.rawValue : 0) | XCB_CW_EVENT_MASK.rawValue, &values)
    if options.isKept {
      var always = XCB_BACKING_STORE_ALWAYS.rawValue
      xcb_change_window_attributes(connection, id, XCB_CW_BACKING_STORE.rawValue, &always)
    }
    xcb_create_gc(connection, context, pixmap, 0, nil)
    describe(options)
  }

  deinit { xcb_disconnect(connection) }

  /// The descriptor that can be read when events wait.
  var fileDescriptor: Int32 { xcb_get_file_descriptor(connection) }
  /// Whether the server is still there.
  var isAlive: Bool { xcb_connection_has_error(connection) == 0 }

  private func describe(_ options: PatternOptions) {
    if options.isTitleCompound {
      setProperty(XCB_ATOM_WM_NAME.rawValue, type: atom("COMPOUND_TEXT"), bytes: options.title)
    } else {
      setTitle(options.title)
    }
    let names = Array(options.className.utf8)
    setProperty(XCB_ATOM_WM_CLASS.rawValue, type: XCB_ATOM_STRING.rawValue, bytes: names + [0] + names + [0])
    setProperty(atom("_NET_WM_PID"), type: XCB_ATOM_CARDINAL.rawValue, words: [UInt32(getpid())])
    if let owner = options.owner {
      setProperty(XCB_ATOM_WM_TRANSIENT_FOR.rawValue, type: XCB_ATOM_WINDOW.rawValue, words: [owner])
    }
    if let leader = options.leader {
      setProperty(atom("WM_CLIENT_LEADER"), type: XCB_ATOM_WINDOW.rawValue, words: [leader])
    }
    // WM_NORMAL_HINTS (ICCCM 4.1.2.3): the place and the size are the user's, so that no window manager picks others.
    var hints = [UInt32](repeating: 0, count: 18)
    hints[0] = 1 | 2
    setProperty(XCB_ATOM_WM_NORMAL_HINTS.rawValue, type: XCB_ATOM_WM_SIZE_HINTS.rawValue, words: hints)
  }

  /// Changes the title, which may be any bytes.
  func setTitle(_ bytes: [UInt8]) {
    setProperty(atom("_NET_WM_NAME"), type: atom("UTF8_STRING"), bytes: bytes)
    setProperty(XCB_ATOM_WM_NAME.rawValue, type: XCB_ATOM_STRING.rawValue, bytes: bytes)
  }

  private func setProperty(_ name: xcb_atom_t, type: xcb_atom_t, bytes: [UInt8]) {
    setProperty(name, type: type, bytes: bytes, of: id)
  }

  private func setProperty(_ name: xcb_atom_t, type: xcb_atom_t, bytes: [UInt8], of window: xcb_window_t) {
    xcb_change_property(
      connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, name, type, 8, UInt32(bytes.count), bytes)
  }

  private func setProperty(_ name: xcb_atom_t, type: xcb_atom_t, words: [UInt32]) {
    xcb_change_property(
      connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), id, name, type, 32, UInt32(words.count), words)
  }

  private func atom(_ name: String) -> xcb_atom_t {
    let cookie = xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name)
    let reply = xcb_intern_atom_reply(connection, cookie, nil)
    defer { free(reply) }
    return reply?.pointee.atom ?? 0
  }

  private static func masks(of visual: xcb_visualid_t, _ connection: OpaquePointer) -> [UInt32] {
    var depths = xcb_screen_allowed_depths_iterator(xcb_setup_roots_iterator(xcb_get_setup(connection)).data)
    while depths.rem > 0, let depth = depths.data {
      var visuals = xcb_depth_visuals_iterator(depth)
      while visuals.rem > 0, let one = visuals.data?.pointee {
        if one.visual_id == visual { return [one.red_mask, one.green_mask, one.blue_mask] }
        xcb_visualtype_next(&visuals)
      }
      xcb_depth_next(&depths)
    }
    return []
  }

  /// The pixel that shows a colour (0xRRGGBB), as near as the visual can.
  private func pixel(_ color: UInt32) -> UInt32 {
    let channels = [color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF]
    if masks.contains(where: { $0 != 0 }) {
      return zip(channels, masks).reduce(0) { sum, channel in
        // Eight bits are repeated below themselves, and the highest of the sixteen taken.
        let bits = 16 - channel.1.nonzeroBitCount
        return sum | ((channel.0 * 0x101) >> UInt32(bits)) << UInt32(channel.1.trailingZeroBitCount)
      }
    }
    let wide = channels.map { UInt16($0 * 0x101) }
    let cookie = xcb_alloc_color(connection, screen.default_colormap, wide[0], wide[1], wide[2])
    let reply = xcb_alloc_color_reply(connection, cookie, nil)
    defer { free(reply) }
    return reply?.pointee.pixel ?? screen.black_pixel
  }

  /// Fills a part of the picture with a colour (0xRRGGBB); it shows after `present`.
  func fill(_ color: UInt32, x: Int, y: Int, width: Int, height: Int) {
    var value = pixel(color)
    xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, &value)
    var rectangle = xcb_rectangle_t(
      x: Int16(clamping: x), y: Int16(clamping: y), width: UInt16(clamping: width), height: UInt16(clamping: height))
    xcb_poly_fill_rectangle(connection, pixmap, context, 1, &rectangle)
  }

  /// Fills the whole picture with a colour (0xRRGGBB).
  func fill(_ color: UInt32) { fill(color, x: 0, y: 0, width: size.width, height: size.height) }

  /// Fills the whole picture with black and white pixels in turn, the left top one white.
  func fillCheckerboard() {
    let tile = xcb_generate_id(connection)
    xcb_create_pixmap(connection, screen.root_depth, tile, screen.root, 2, 2)
    for (color, points) in [(0xFF_FFFF, [(0, 0), (1, 1)]), (0, [(1, 0), (0, 1)])]
      as [(UInt32, [(Int16, Int16)])]
    {
      var value = pixel(color)
      xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, &value)
      let pixels = points.map { xcb_point_t(x: $0.0, y: $0.1) }
      xcb_poly_point(connection, UInt8(XCB_COORD_MODE_ORIGIN.rawValue), tile, context, UInt32(pixels.count), pixels)
    }
    var values = [XCB_FILL_STYLE_TILED.rawValue, tile]
    xcb_change_gc(connection, context, XCB_GC_FILL_STYLE.rawValue | XCB_GC_TILE.rawValue, &values)
    var all = xcb_rectangle_t(
      x: 0, y: 0, width: UInt16(clamping: size.width), height: UInt16(clamping: size.height))
    xcb_poly_fill_rectangle(connection, pixmap, context, 1, &all)
    var solid = XCB_FILL_STYLE_SOLID.rawValue
    xcb_change_gc(connection, context, XCB_GC_FILL_STYLE.rawValue, &solid)
    xcb_free_pixmap(connection, tile)
  }

  /// Shows the picture, or the given part of it, in one request.
  func present(x: Int = 0, y: Int = 0, width: Int = 0, height: Int = 0) {
    guard hasBackground else {
      xcb_copy_area(
        connection, pixmap, id, context, Int16(clamping: x), Int16(clamping: y), Int16(clamping: x), Int16(clamping: y),
        UInt16(clamping: width == 0 ? size.width : width), UInt16(clamping: height == 0 ? size.height : height))
      return
    }
    // Clearing paints the background; a width of 0 reaches to the edge.
    xcb_clear_area(
      connection, 0, id, Int16(clamping: x), Int16(clamping: y), UInt16(clamping: width), UInt16(clamping: height))
  }

  /// Opens a menu, which window managers leave alone, at a place of the screen; the last one is closed.
  mutating func openPopup(_ color: UInt32, hasAlpha: Bool, x: Int, y: Int, width: Int, height: Int) {
    closePopup()
    popup = xcb_generate_id(connection)
    let depth = hasAlpha ? 32 : screen.root_depth
    let visual = hasAlpha ? Self.visual(depth: 32, connection) ?? screen.root_visual : screen.root_visual
    let colormap = xcb_generate_id(connection)
    xcb_create_colormap(connection, UInt8(XCB_COLORMAP_ALLOC_NONE.rawValue), colormap, screen.root, visual)
    var values = [hasAlpha ? color : pixel(color), 0, 1, colormap]
    xcb_create_window(
      connection, depth, popup, screen.root, Int16(clamping: x), Int16(clamping: y), UInt16(clamping: width),
      UInt16(clamping: height), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), visual,
      XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BORDER_PIXEL.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue
        | XCB_CW_COLORMAP.rawValue, &values)
    xcb_map_window(connection, popup)
  }

  /// Closes the menu.
  mutating func closePopup() {
    if popup != 0 { xcb_destroy_window(connection, popup) }
    popup = 0
  }

  /// Makes and closes `count` windows, a few of them open at once, each at a moment of its own.
  func storm(_ count: Int) {
    var open: [xcb_window_t] = []
    for number in 1...max(1, count) {
      let window = xcb_generate_id(connection)
      var values = [pixel(UInt32.random(in: 0...0xFF_FFFF))]
      xcb_create_window(
        connection, 0, window, screen.root, Int16.random(in: -50...300), Int16.random(in: -50...200),
        UInt16.random(in: 1...100), UInt16.random(in: 1...100), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
        screen.root_visual, XCB_CW_BACK_PIXEL.rawValue, &values)
      setProperty(
        XCB_ATOM_WM_NAME.rawValue, type: XCB_ATOM_STRING.rawValue, bytes: Array("storm \(number)".utf8), of: window)
      xcb_map_window(connection, window)
      open.append(window)
      if open.count > 4 { xcb_destroy_window(connection, open.remove(at: Int.random(in: 0..<open.count))) }
      flush()
      usleep(UInt32.random(in: 0..<2000))
    }
    for window in open { xcb_destroy_window(connection, window) }
  }

  private static func visual(depth: UInt8, _ connection: OpaquePointer) -> xcb_visualid_t? {
    var depths = xcb_screen_allowed_depths_iterator(xcb_setup_roots_iterator(xcb_get_setup(connection)).data)
    while depths.rem > 0, let one = depths.data {
      if one.pointee.depth == depth { return xcb_depth_visuals_iterator(one).data?.pointee.visual_id }
      xcb_depth_next(&depths)
    }
    return nil
  }

  /// Hands waiting requests to the server.
  func flush() { xcb_flush(connection) }

  /// Waits until the server has carried out all requests.
  func synchronize() {
    free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil))
  }

  /// Shows or hides the window.
  func setMapped(_ mapped: Bool) {
    if mapped { xcb_map_window(connection, id) } else { xcb_unmap_window(connection, id) }
  }

  /// Gives the window the keyboard.
  func takeFocus() {
    xcb_set_input_focus(connection, UInt8(XCB_INPUT_FOCUS_POINTER_ROOT.rawValue), id, 0)
  }

  /// Changes geometry or stacking: `mask` is xcb's, `values` its values in order.
  func configure(_ mask: xcb_config_window_t, _ values: [Int]) {
    xcb_configure_window(
      connection, id, UInt16(mask.rawValue), values.map { UInt32(bitPattern: Int32(clamping: $0)) })
  }

  /// Takes the waiting events.
  /// - Parameter tell: told of each that a watched window gets.
  /// - Returns: whether the window has another size, and with it an empty picture.
  mutating func receiveEvents(_ tell: (String) -> Void) -> Bool {
    var isResized = false
    while let event = xcb_poll_for_event(connection) {
      defer { free(event) }
      let type = Int32(event.pointee.response_type & 0x7F)
      if type == XCB_MAP_NOTIFY { isShown = true }
      if type == XCB_EXPOSE { tell("expose") }
      if type == XCB_VISIBILITY_NOTIFY { tell("visibility") }
      guard type == XCB_CONFIGURE_NOTIFY else { continue }
      let notify = event.withMemoryRebound(to: xcb_configure_notify_event_t.self, capacity: 1) { $0.pointee }
      let now = (width: Int(notify.width), height: Int(notify.height))
      if now != size {
        size = now
        isResized = true
      }
    }
    if isResized {
      xcb_free_pixmap(connection, pixmap)
      pixmap = xcb_generate_id(connection)
      xcb_create_pixmap(
        connection, screen.root_depth, pixmap, screen.root, UInt16(clamping: size.width), UInt16(clamping: size.height))
      var value = pixmap
      if hasBackground { xcb_change_window_attributes(connection, id, XCB_CW_BACK_PIXMAP.rawValue, &value) }
    }
    return isResized
  }
}
