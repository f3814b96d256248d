internal import CXCB
import Glibc
package import SessionModel
package import Threading

/// A window on an X display that shows pictures and tells of keys. One thread owns it.
package struct PresentationWindow: ~Copyable {
  private let connection: DisplayConnection
  /// The window's X id.
  package let id: UInt32
  /// The window's size, in pixels.
  package private(set) var size: PixelSize
  private let context: xcb_gcontext_t
  private let keySymbols: OpaquePointer?
  private let isManaged: Bool
  private var pixels: WindowPixels?
  private var mayShare: Bool
  private var isPutPending = false
  private var hasPicture = false
  private var events: [WindowEvent] = []
  /// The place to return to from the full screen, without a window manager.
  private var windowedRect: PixelRect?
  private var origin = (x: 0, y: 0)

  /// Opens a window on `display` (nil: $DISPLAY) and maps it.
  /// - Parameters:
  ///   - size: what the window holds, in pixels; made smaller, in its aspect ratio, to fit the screen.
  ///   - title: shown by the window manager.
  ///   - fullScreen: whether it fills the screen from the start.
  /// - Throws: `RecorderError` (unavailable) when there is no usable display.
  package init(
    display: String? = nil, size wanted: PixelSize, title: String, fullScreen: Bool = false
  ) throws(RecorderError) {
    let connection = try DisplayConnection(display: display)
    let screen = connection.screen
    let handle = connection.handle
    let size = wanted.fitted(
      into: PixelSize(width: Int(screen.width_in_pixels), height: Int(screen.height_in_pixels)))
    let (id, context) = (xcb_generate_id(handle), xcb_generate_id(handle))
    let events =
      XCB_EVENT_MASK_EXPOSURE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_KEY_PRESS.rawValue
    let values = [screen.black_pixel, events]
    xcb_create_window(
      handle, screen.root_depth, id, screen.root, 0, 0, UInt16(size.width), UInt16(size.height), 0,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), screen.root_visual,
      XCB_CW_BACK_PIXEL.rawValue | XCB_CW_EVENT_MASK.rawValue, values)
    xcb_create_gc(handle, context, id, 0, nil)
    self.isManaged = connection.hasWindowManager
    self.mayShare = connection.sharedMemory != nil
    self.connection = connection
    (self.id, self.context, self.size) = (id, context, size)
    keySymbols = xcb_key_symbols_alloc(handle)
    let delete = [self.connection.atom("WM_DELETE_WINDOW")]
    setProperty(self.connection.atom("WM_PROTOCOLS"), type: XCB_ATOM_ATOM.rawValue, format: 32, count: 1, delete)
    setProperty(self.connection.atom("_NET_WM_PID"), type: XCB_ATOM_CARDINAL.rawValue, format: 32, count: 1, [getpid()])
    let className = Array("recorder\0Recorder\0".utf8)
    setProperty(
      XCB_ATOM_WM_CLASS.rawValue, type: XCB_ATOM_STRING.rawValue, format: 8, count: className.count, className)
    setTitle(title)
    if fullScreen, isManaged {
      // EWMH: before it is mapped, a window's state is asked for by the property itself.
      let state = [self.connection.atom("_NET_WM_STATE_FULLSCREEN")]
      setProperty(self.connection.atom("_NET_WM_STATE"), type: XCB_ATOM_ATOM.rawValue, format: 32, count: 1, state)
    }
    xcb_map_window(handle, id)
    if fullScreen, !isManaged { toggleFullScreen() }
    xcb_flush(handle)
  }

  deinit { xcb_key_symbols_free(keySymbols) }

  /// Shows `title`, made printable, in the window's frame.
  package mutating func setTitle(_ title: String) {
    let text = Array(title.printable.utf8)
    setProperty(
      connection.atom("_NET_WM_NAME"), type: connection.atom("UTF8_STRING"), format: 8, count: text.count, text)
    // ICCCM's own name is Latin-1; it is read where EWMH is unknown.
    let latin = title.printable.unicodeScalars.map { $0.value < 0x100 ? UInt8($0.value) : UInt8(ascii: "?") }
    setProperty(XCB_ATOM_WM_NAME.rawValue, type: XCB_ATOM_STRING.rawValue, format: 8, count: latin.count, latin)
    xcb_flush(connection.handle)
  }

  /// Where to draw the next picture, once the server has read the last one: every pixel, unless the window's size is
  /// the last picture's, which is then still there. `show` puts it on the screen.
  /// - Throws: `RecorderError`: unavailable when the display is gone, systemCall when no memory is left.
  package mutating func surface() throws(RecorderError) -> PresentationSurface {
    try waitForPut()
    let bytesPerRow = size.width * 4
    let needed = bytesPerRow * size.height
    if (pixels?.byteCount ?? 0) >= needed, let base = pixels?.base {
      return PresentationSurface(pixels: base, bytesPerRow: bytesPerRow, size: size)
    }
    return PresentationSurface(pixels: try makePixels(needed), bytesPerRow: bytesPerRow, size: size)
  }

  /// Puts what was drawn into `surface` on the screen.
  package mutating func show(_ surface: PresentationSurface) {
    // The window may have got another size while the picture was drawn; the next one will have it.
    guard surface.size == size else { return }
    hasPicture = true
    put()
  }

  /// The next thing that the window tells, without waiting; nil when there is none.
  /// - Throws: `RecorderError` (unavailable) when the display is gone.
  package mutating func nextEvent() throws(RecorderError) -> WindowEvent? {
    while events.isEmpty, let event = xcb_poll_for_event(connection.handle) {
      take(event)
      free(event)
    }
    try checkConnection()
    return events.isEmpty ? nil : events.removeFirst()
  }

  /// Waits until the window has something to tell, `wake` is set, or `deadline` (ns of CLOCK_MONOTONIC; nil is never)
  /// is there.
  /// - Throws: `RecorderError` (unavailable) when the display is gone.
  package mutating func wait(until deadline: Int64?, wake: WakeSignal) throws(RecorderError) {
    xcb_flush(connection.handle)
    if let event = try nextEvent() {
      events.insert(event, at: 0)
      return
    }
    _ = wake.wait(orFor: xcb_get_file_descriptor(connection.handle), until: deadline ?? .max)
  }

  /// Fills the screen with the window, or gives it its former place back.
  package mutating func toggleFullScreen() {
    let handle = connection.handle
    if isManaged {
      var message = xcb_client_message_event_t()
      message.response_type = UInt8(XCB_CLIENT_MESSAGE)
      message.format = 32
      message.window = id
      message.type = connection.atom("_NET_WM_STATE")
      // EWMH: 2 toggles; the source 1 is an application.
      message.data.data32 = (2, connection.atom("_NET_WM_STATE_FULLSCREEN"), 0, 1, 0)
      let mask = XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue
      withUnsafeBytes(of: &message) { bytes in
        _ = xcb_send_event(
          handle, 0, connection.screen.root, mask, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
    } else if let rect = windowedRect {
      windowedRect = nil
      move(to: rect)
    } else {
      windowedRect = PixelRect(x: origin.x, y: origin.y, width: size.width, height: size.height)
      move(
        to: PixelRect(
          x: 0, y: 0, width: Int(connection.screen.width_in_pixels), height: Int(connection.screen.height_in_pixels)))
    }
    xcb_flush(handle)
  }

  // MARK: - Pictures

  private mutating func makePixels(_ byteCount: Int) throws(RecorderError) -> UnsafeMutableRawPointer {
    if let segment = pixels?.segment { xcb_shm_detach(connection.handle, segment) }
    pixels = nil
    let made = try WindowPixels(byteCount: byteCount, connection: connection.handle, shared: mayShare)
    let base = made.base
    pixels = consume made
    return base
  }

  private mutating func put() {
    guard let base = pixels?.base else { return }
    let (width, height) = (UInt16(size.width), UInt16(size.height))
    let depth = connection.screen.root_depth
    if let segment = pixels?.segment {
      xcb_shm_put_image(
        connection.handle, id, context, width, height, 0, 0, width, height, 0, 0, depth,
        UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), 1, segment, 0)
      isPutPending = true
    } else {
      // A request holds so many 4-byte units, its 24-byte header and room for the length extension included.
      let most = Int(xcb_get_maximum_request_length(connection.handle)) * 4 - 28
      let rows = max(1, most / max(4, size.width * 4))
      for top in stride(from: 0, to: size.height, by: rows) {
        let count = min(rows, size.height - top)
        xcb_put_image(
          connection.handle, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), id, context, width, UInt16(count), 0,
          Int16(top), 0, depth, UInt32(count * size.width * 4),
          (base + top * size.width * 4).assumingMemoryBound(to: UInt8.self))
      }
    }
    xcb_flush(connection.handle)
  }

  private mutating func waitForPut() throws(RecorderError) {
    while isPutPending {
      guard let event = xcb_wait_for_event(connection.handle) else { break }
      take(event)
      free(event)
    }
    try checkConnection()
  }

  // MARK: - Events

  private mutating func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    // The top bit says that another client sent it.
    let type = event.pointee.response_type & 0x7F
    let raw = UnsafeRawPointer(event)
    if let first = connection.sharedMemory?.firstEvent, type == first + UInt8(XCB_SHM_COMPLETION) {
      isPutPending = false
      return
    }
    switch Int32(type) {
    case 0: takeError(raw.load(as: xcb_generic_error_t.self))
    case XCB_KEY_PRESS: takeKey(event)
    case XCB_EXPOSE:
      // Only the last of a series of exposures is answered, with the picture as it stands.
      if raw.load(as: xcb_expose_event_t.self).count == 0, hasPicture, !isPutPending { put() }
    case XCB_CONFIGURE_NOTIFY:
      let configured = raw.load(as: xcb_configure_notify_event_t.self)
      origin = (Int(configured.x), Int(configured.y))
      let now = PixelSize(width: Int(configured.width), height: Int(configured.height))
      guard now != size, now.area > 0 else { return }
      size = now
      // Rows have another length now: what is in memory is no picture of this window any more.
      hasPicture = false
      events.append(.resized)
    case XCB_MAP_NOTIFY:
      // Without a window manager nobody else gives a new window the keys.
      if !isManaged {
        xcb_set_input_focus(
          connection.handle, UInt8(XCB_INPUT_FOCUS_POINTER_ROOT.rawValue), id, xcb_timestamp_t(XCB_CURRENT_TIME))
        xcb_flush(connection.handle)
      }
    case XCB_MAPPING_NOTIFY:
      var mapping = raw.load(as: xcb_mapping_notify_event_t.self)
      xcb_refresh_keyboard_mapping(keySymbols, &mapping)
    case XCB_CLIENT_MESSAGE:
      let message = raw.load(as: xcb_client_message_event_t.self)
      if message.type == connection.atom("WM_PROTOCOLS"), message.format == 32,
        message.data.data32.0 == connection.atom("WM_DELETE_WINDOW")
      {
        events.append(.closed)
      }
    default: break
    }
  }

  private mutating func takeError(_ error: xcb_generic_error_t) {
    guard error.major_code == connection.sharedMemory?.opcode else { return }
    // The server attached the segment and yet cannot put from it: no completion will come.
    isPutPending = false
    mayShare = false
    if pixels?.segment != nil {
      pixels = nil
      hasPicture = false
      events.append(.resized)
    }
  }

  private mutating func takeKey(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    let state = UInt32(UnsafeRawPointer(event).load(as: xcb_key_press_event_t.self).state)
    // A key with Control, Alt or Super is the window manager's.
    let others =
      XCB_MOD_MASK_CONTROL.rawValue | XCB_MOD_MASK_1.rawValue | XCB_MOD_MASK_4.rawValue
    guard state & others == 0 else { return }
    // Columns of the keyboard map: 0 plain, 1 with Shift, 4 and 5 the same with AltGr (ISO level 3, modifier 5).
    let column = (state & XCB_MOD_MASK_SHIFT.rawValue != 0 ? 1 : 0) + (state & XCB_MOD_MASK_5.rawValue != 0 ? 4 : 0)
    let keysym = event.withMemoryRebound(to: xcb_key_press_event_t.self, capacity: 1) {
      xcb_key_press_lookup_keysym(keySymbols, $0, Int32(column))
    }
    if let key = PresentationKey(keysym: keysym) { events.append(.key(key)) }
  }

  // MARK: - The server

  private func checkConnection() throws(RecorderError) {
    guard xcb_connection_has_error(connection.handle) == 0 else {
      throw RecorderError(.unavailable, "The display was closed.", hint: "Start its X server again.")
    }
  }

  private func setProperty(
    _ property: xcb_atom_t, type: xcb_atom_t, format: UInt8, count: Int, _ data: UnsafeRawPointer
  ) {
    xcb_change_property(
      connection.handle, UInt8(XCB_PROP_MODE_REPLACE.rawValue), id, property, type, format, UInt32(count), data)
  }

  private func move(to rect: PixelRect) {
    let mask =
      XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue | XCB_CONFIG_WINDOW_WIDTH.rawValue
      | XCB_CONFIG_WINDOW_HEIGHT.rawValue | XCB_CONFIG_WINDOW_STACK_MODE.rawValue
    let values = [
      UInt32(bitPattern: Int32(rect.x)), UInt32(bitPattern: Int32(rect.y)), UInt32(rect.width), UInt32(rect.height),
      XCB_STACK_MODE_ABOVE.rawValue,
    ]
    xcb_configure_window(connection.handle, id, UInt16(mask), values)
  }
}
