internal import CXCB
package import SessionModel
import Threading

/// Lets a person pick on the screen what to record: a click takes the window below the pointer, dragging a region.
/// Escape and the other buttons give up.
package struct SourcePicker {
  private let connection: XConnection
  private var band: RubberBand
  private let escape: Set<xcb_keycode_t>
  private var start: (x: Int, y: Int)?

  /// Escape's key symbol (X11's keysymdef.h).
  private static let escapeSymbol: xcb_keysym_t = 0xFF1B
  /// A hand that clicks moves by less than so many pixels.
  private static let clickTolerance = 4
  /// How long another program's menu may hold the pointer, in ns, and how long to wait between two looks.
  private static let (patience, pause): (Int64, Int64) = (5_000_000_000, 50_000_000)

  /// Takes the pointer and the keyboard.
  /// - Parameter display: the X display's name; nil is $DISPLAY.
  /// - Throws: `RecorderError`: unavailable without a display; busy when another program does not let the pointer go.
  package init(display: String?) throws(RecorderError) {
    let connection = try XConnection(display)
    try Self.grab(connection)
    self.connection = connection
    band = RubberBand(connection)
    escape = Self.keys(Self.escapeSymbol, connection)
  }

  private static func keys(_ symbol: xcb_keysym_t, _ connection: XConnection) -> Set<xcb_keycode_t> {
    guard let symbols = xcb_key_symbols_alloc(connection.handle) else { return [] }
    defer { xcb_key_symbols_free(symbols) }
    guard let codes = xcb_key_symbols_get_keycode(symbols, symbol) else { return [] }
    defer { free(codes) }
    // Ended by XCB_NO_SYMBOL, 0.
    var (found, next): (Set<xcb_keycode_t>, UnsafeMutablePointer<xcb_keycode_t>) = ([], codes)
    while next.pointee != 0 {
      found.insert(next.pointee)
      next += 1
    }
    return found
  }

  private static func grab(_ connection: XConnection) throws(RecorderError) {
    let handle = connection.handle
    let events = [XCB_EVENT_MASK_BUTTON_PRESS, XCB_EVENT_MASK_BUTTON_RELEASE, XCB_EVENT_MASK_POINTER_MOTION]
    let mask = UInt16(events.reduce(0) { $0 | $1.rawValue })
    let (asynchronous, now) = (UInt8(XCB_GRAB_MODE_ASYNC.rawValue), xcb_timestamp_t(XCB_CURRENT_TIME))
    let cursor = crosshair(connection)
    let deadline = MonotonicClock.now() + patience
    let wait = try WakeSignal()
    while true {
      let pointer = XReply(
        xcb_grab_pointer_reply(
          handle,
          xcb_grab_pointer(
            handle, 0, connection.root, mask, asynchronous, asynchronous, xcb_window_t(XCB_NONE), cursor, now), nil))
      if pointer?.value.status == UInt8(XCB_GRAB_STATUS_SUCCESS.rawValue) { break }
      try connection.checkAlive()
      guard MonotonicClock.now() < deadline else {
        throw RecorderError(
          .busy, "Another program holds the pointer, so that nothing can be picked.",
          hint: "Close its menu or its lock screen and try again.")
      }
      _ = wait.wait(until: MonotonicClock.now() + pause)
    }
    // Without the keyboard the other buttons still give up.
    _ = XReply(
      xcb_grab_keyboard_reply(
        handle, xcb_grab_keyboard(handle, 0, connection.root, now, asynchronous, asynchronous), nil))
  }

  private static func crosshair(_ connection: XConnection) -> xcb_cursor_t {
    let (font, cursor) = (connection.newID(), connection.newID())
    // The crosshair is glyph 34 of the cursor font, its mask the next one (X11's cursorfont.h).
    let refusal = XReply(
      xcb_request_check(connection.handle, xcb_open_font_checked(connection.handle, font, 6, "cursor")))
    if refusal != nil { return xcb_cursor_t(XCB_NONE) }
    xcb_create_glyph_cursor(connection.handle, cursor, font, font, 34, 35, 0, 0, 0, .max, .max, .max)
    xcb_close_font(connection.handle, font)
    return cursor
  }

  /// Waits for the person's choice. The screen is as it was when this returns.
  /// - Throws: `RecorderError`: interruptedTwice when the person gave up, `SourceLoss.displayLost`.
  package mutating func pick() throws(RecorderError) -> SourceSpecification {
    let wait = try WakeSignal()
    while true {
      while let event = XReply(xcb_poll_for_event(connection.handle)) {
        guard let choice = try event.read({ (event) throws(RecorderError) in try receive(event) }) else { continue }
        release()
        return choice
      }
      try connection.checkAlive()
      xcb_flush(connection.handle)
      _ = wait.wait(orFor: xcb_get_file_descriptor(connection.handle), until: .max)
    }
  }

  private mutating func receive(
    _ event: UnsafePointer<xcb_generic_event_t>
  ) throws(RecorderError) -> SourceSpecification? {
    func read<Body>(_ type: Body.Type) -> Body { event.withMemoryRebound(to: type, capacity: 1) { $0.pointee } }
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_BUTTON_PRESS:
      let press = read(xcb_button_press_event_t.self)
      guard press.detail == 1 else { throw giveUp() }
      start = (Int(press.root_x), Int(press.root_y))
    case XCB_MOTION_NOTIFY:
      let motion = read(xcb_motion_notify_event_t.self)
      if let rect = dragged(to: (Int(motion.root_x), Int(motion.root_y))) { band.show(around: rect) }
    case XCB_BUTTON_RELEASE:
      let release = read(xcb_button_release_event_t.self)
      guard start != nil else { break }
      let end = (x: Int(release.root_x), y: Int(release.root_y))
      return dragged(to: end).map { .region($0) } ?? window(at: end)
    case XCB_KEY_PRESS where escape.contains(read(xcb_key_press_event_t.self).detail): throw giveUp()
    default: break
    }
    return nil
  }

  /// The region from where the button was pressed to `end`; nil for a click.
  private func dragged(to end: (x: Int, y: Int)) -> PixelRect? {
    guard let start, max(abs(end.x - start.x), abs(end.y - start.y)) >= Self.clickTolerance else { return nil }
    return PixelRect(
      x: min(start.x, end.x), y: min(start.y, end.y), width: abs(end.x - start.x) + 1, height: abs(end.y - start.y) + 1)
  }

  /// The application's window at `place`; the whole display where there is none.
  private func window(at place: (x: Int, y: Int)) -> SourceSpecification {
    let children = connection.tree(of: connection.root)?.children ?? []
    let spot = PixelRect(x: place.x, y: place.y, width: 1, height: 1)
    for child in children.reversed() where !band.windows.contains(child) {
      guard let state = connection.windowState(child), state.isViewable, !state.isInputOnly else { continue }
      let rect = state.rect
      let outer = PixelRect(
        x: rect.x - state.border, y: rect.y - state.border, width: rect.width + 2 * state.border,
        height: rect.height + 2 * state.border)
      if outer.contains(spot) { return .window(.id(connection.client(in: child))) }
    }
    return .display
  }

  private mutating func giveUp() -> RecorderError {
    release()
    return RecorderError(.interruptedTwice, "Nothing was picked, and nothing is recorded.")
  }

  /// Gives pointer, keyboard and screen back; done when this returns.
  private mutating func release() {
    band.hide()
    xcb_ungrab_pointer(connection.handle, xcb_timestamp_t(XCB_CURRENT_TIME))
    xcb_ungrab_keyboard(connection.handle, xcb_timestamp_t(XCB_CURRENT_TIME))
    _ = XReply(xcb_get_input_focus_reply(connection.handle, xcb_get_input_focus(connection.handle), nil))
  }
}

/// A frame around a part of the screen: four narrow windows just outside of it, which no compositor smears.
struct RubberBand {
  private let connection: XConnection
  /// Above, below, left and right.
  private(set) var windows: [xcb_window_t] = []

  /// Pixels that its lines are wide.
  private static let width = 2
  /// Pixels of the edge around them.
  private static let edge: UInt16 = 1

  init(_ connection: XConnection) { self.connection = connection }

  /// Shows it around `rect`, in pixels of the root.
  mutating func show(around rect: PixelRect) {
    // With its edge on both sides each line is so wide.
    let width = Self.width + 2 * Int(Self.edge)
    let lines = [
      PixelRect(x: rect.x - width, y: rect.y - width, width: rect.width + 2 * width, height: width),
      PixelRect(x: rect.x - width, y: rect.maxY, width: rect.width + 2 * width, height: width),
      PixelRect(x: rect.x - width, y: rect.y, width: width, height: rect.height),
      PixelRect(x: rect.maxX, y: rect.y, width: width, height: rect.height),
    ]
    if windows.isEmpty { windows = lines.map { _ in make() } }
    for (window, line) in zip(windows, lines) {
      let mask = [XCB_CONFIG_WINDOW_X, XCB_CONFIG_WINDOW_Y, XCB_CONFIG_WINDOW_WIDTH, XCB_CONFIG_WINDOW_HEIGHT]
      let edges = 2 * Int(Self.edge)
      let values = [line.x, line.y, max(1, line.width - edges), max(1, line.height - edges)].map {
        UInt32(bitPattern: Int32(clamping: $0))
      }
      xcb_configure_window(connection.handle, window, UInt16(mask.reduce(0) { $0 | $1.rawValue }), values)
      xcb_map_window(connection.handle, window)
    }
  }

  /// Takes it away.
  mutating func hide() {
    for window in windows { xcb_destroy_window(connection.handle, window) }
    windows = []
  }

  private func make() -> xcb_window_t {
    let (window, screen) = (connection.newID(), connection.screen)
    // White with a black edge of one pixel: one of the two shows on any ground.
    let values = [screen.white_pixel, screen.black_pixel, 1]
    xcb_create_window(
      connection.handle, 0, window, connection.root, 0, 0, 1, 1, Self.edge,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), screen.root_visual,
      XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BORDER_PIXEL.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue, values)
    return window
  }
}
