internal import CXCB
import SessionModel
import Threading

/// The pointer's place and shape, and what wakes the grab thread for it. The pointer is no damage on any X server.
struct PointerTracker: ~Copyable {
  /// Nanoseconds between looks at a pointer that no event announces: a program can warp it.
  static let slowLook: Int64 = 250_000_000

  /// Where the pointer is.
  struct Place: Hashable {
    /// Pixels from the root's left edge.
    var x = 0
    /// Pixels from the root's top edge.
    var y = 0
    /// The child of the root that it is over.
    var child: xcb_window_t = 0
    /// Whether it is on this screen at all.
    var isOnScreen = false
  }

  private let connection: XConnection
  /// nil when the server lacks XFixes, which knows the pointer's shape.
  private let cursorEvent: UInt8?
  private let inputOpcode: UInt8?
  private var image: XReply<xcb_xfixes_get_cursor_image_reply_t>?
  /// What is drawn as long as there is no image.
  private let arrow = ArrowImage()
  private var isImageStale = true
  private var isImageRefused = false
  private var query: UInt32 = 0
  private var looked: Int64 = 0
  private var mayHaveMoved = true
  /// Where it was at the last look.
  private(set) var place = Place()

  /// Begins to follow the pointer.
  init(connection: XConnection) {
    self.connection = connection
    cursorEvent = Self.selectShapes(connection)
    inputOpcode = Self.selectRawMotion(connection)
  }

  /// Asks for an event at each new shape.
  private static func selectShapes(_ connection: XConnection) -> UInt8? {
    let handle = connection.handle
    guard let fixes = connection.extension(recorder_xcb_xfixes_id()),
      XReply(xcb_xfixes_query_version_reply(handle, xcb_xfixes_query_version(handle, 5, 0), nil)) != nil
    else { return nil }
    xcb_xfixes_select_cursor_input(
      handle, connection.root, XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue)
    return fixes.first_event + UInt8(XCB_XFIXES_CURSOR_NOTIFY)
  }

  /// Whether the server can tell of each move of any pointing device: from version 2.0 of XInput on.
  static func hasRawMotion(_ connection: XConnection) -> Bool {
    let handle = connection.handle
    return connection.extension(recorder_xcb_input_id()) != nil
      && XReply(xcb_input_xi_query_version_reply(handle, xcb_input_xi_query_version(handle, 2, 2), nil)) != nil
  }

  /// Asks for an event at each move of any pointing device, wherever it is.
  private static func selectRawMotion(_ connection: XConnection) -> UInt8? {
    let handle = connection.handle
    guard hasRawMotion(connection), let input = connection.extension(recorder_xcb_input_id()) else { return nil }
    // The request's mask list: a device and, behind it, its mask words.
    var selection = (
      xcb_input_event_mask_t(deviceid: UInt16(XCB_INPUT_DEVICE_ALL_MASTER.rawValue), mask_len: 1),
      XCB_INPUT_XI_EVENT_MASK_RAW_MOTION.rawValue
    )
    withUnsafePointer(to: &selection) { pointer in
      pointer.withMemoryRebound(to: xcb_input_event_mask_t.self, capacity: 2) {
        _ = xcb_input_xi_select_events(handle, connection.root, 1, $0)
      }
    }
    return input.major_opcode
  }

  /// Whether place or shape may have changed since the last look.
  var isPending: Bool { mayHaveMoved || isImageStale }

  /// When to look although no event came, in ns of `CLOCK_MONOTONIC`.
  /// - Parameters:
  ///   - interval: the frame interval, the rate to look at on a server without XInput2.
  ///   - isStill: whether a look now and then, which the caller takes, is enough where moves are told.
  func nextLook(interval: Int64, isStill: Bool) -> Int64 {
    guard inputOpcode != nil else { return looked + interval }
    return isStill ? .max : looked + Self.slowLook
  }

  /// Takes `event` if it is about the pointer.
  mutating func receive(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    let type = event.pointee.response_type & 0x7F
    if let cursorEvent, type == cursorEvent {
      isImageStale = true
      return true
    }
    // A generic event names its extension in the byte after its type.
    guard type == UInt8(XCB_GE_GENERIC), let inputOpcode, event.pointee.pad0 == inputOpcode else { return false }
    if Int32(bitPattern: event.pointee.full_sequence &- query) >= 0 { mayHaveMoved = true }
    return true
  }

  /// Asks for the pointer's place.
  mutating func request() -> xcb_query_pointer_cookie_t {
    mayHaveMoved = false
    let cookie = xcb_query_pointer(connection.handle, connection.root)
    query = cookie.sequence
    return cookie
  }

  /// Takes the pointer's place, and fetches its image when that changed.
  mutating func receive(_ cookie: xcb_query_pointer_cookie_t, at now: Int64) {
    looked = now
    if let reply = XReply(xcb_query_pointer_reply(connection.handle, cookie, nil)) {
      let value = reply.value
      place = Place(
        x: Int(value.root_x), y: Int(value.root_y), child: value.child, isOnScreen: value.same_screen != 0)
    }
    if isImageStale { fetchImage() }
  }

  /// Asks for the image. A server refuses the cursor of a client that is gone (its SECURITY extension finds no owner)
  /// until another one gets that client's number: the last image, or the arrow, is kept, and it is asked for again at
  /// each slow look.
  private mutating func fetchImage() {
    isImageStale = false
    guard cursorEvent != nil else { return }
    let handle = connection.handle
    let reply = XReply(xcb_xfixes_get_cursor_image_reply(handle, xcb_xfixes_get_cursor_image(handle), nil))
    isImageRefused = reply == nil
    if !isImageRefused { image = reply }
  }

  /// Looks whether the pointer moved or got its image although no event came.
  mutating func look(at now: Int64) {
    let before = place
    receive(request(), at: now)
    if place != before { mayHaveMoved = true }
    guard isImageRefused else { return }
    fetchImage()
    if !isImageRefused { mayHaveMoved = true }
  }

  /// The pointer over the picture whose left top corner is `origin` on the root; nil when no part of it is inside `bounds`.
  func state(origin: (x: Int, y: Int), within bounds: PixelRect) -> PointerState? {
    guard place.isOnScreen else { return nil }
    var (pixels, hotSpot) = (arrow.pixels, (x: 0, y: 0))
    var size = PixelSize(width: ArrowImage.width, height: ArrowImage.height)
    if let value = image.borrow({ $0.value }),
      let own = image.borrow({ $0.read { xcb_xfixes_get_cursor_image_cursor_image($0) } })
    {
      (pixels, hotSpot) = (UnsafePointer(own), (Int(value.xhot), Int(value.yhot)))
      size = PixelSize(width: Int(value.width), height: Int(value.height))
    }
    let rect = PixelRect(
      x: place.x - hotSpot.x - origin.x, y: place.y - hotSpot.y - origin.y, width: size.width, height: size.height)
    if rect.intersection(bounds).isEmpty { return nil }
    return PointerState(image: pixels, width: size.width, height: size.height, x: rect.x, y: rect.y)
  }

  /// The image's serial number; 0 without an image.
  var serial: UInt32 { image.borrow { $0.value.cursor_serial } ?? 0 }
}
