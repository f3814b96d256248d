internal import CXCB
import SessionModel

/// What XDamage reports of one drawable. Owns the damage and the region it is subtracted into.
struct DamageTracker: ~Copyable {
  private let connection: XConnection
  private let damage: xcb_damage_damage_t
  private let region: xcb_xfixes_region_t
  private let notifyEvent: UInt8
  private var subtraction: UInt32 = 0
  /// Whether there is damage that was not yet subtracted.
  private(set) var isPending = false

  /// Begins to follow `drawable` (a window with all that is in it); nil when the server lacks XDamage or XFixes.
  init?(_ drawable: xcb_drawable_t, connection: XConnection) {
    guard let extensionData = connection.extension(recorder_xcb_damage_id()),
      connection.extension(recorder_xcb_xfixes_id()) != nil
    else { return nil }
    let handle = connection.handle
    // Both extensions answer nothing before their version was asked.
    guard XReply(xcb_damage_query_version_reply(handle, xcb_damage_query_version(handle, 1, 1), nil)) != nil,
      XReply(xcb_xfixes_query_version_reply(handle, xcb_xfixes_query_version(handle, 5, 0), nil)) != nil
    else { return nil }
    (damage, region) = (connection.newID(), connection.newID())
    // NON_EMPTY: one event when damage begins, none until it was taken.
    xcb_damage_create(handle, damage, drawable, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
    xcb_xfixes_create_region(handle, region, 0, nil)
    notifyEvent = extensionData.first_event
    self.connection = connection
  }

  deinit {
    xcb_damage_destroy(connection.handle, damage)
    xcb_xfixes_destroy_region(connection.handle, region)
  }

  /// Whether `event` is about this damage, of several on one connection.
  func isAbout(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    event.pointee.response_type & 0x7F == notifyEvent
      && event.withMemoryRebound(to: xcb_damage_notify_event_t.self, capacity: 1) { $0.pointee.damage } == damage
  }

  /// Takes `event` if it is about this damage.
  mutating func receive(_ event: xcb_generic_event_t) -> Bool {
    guard event.response_type & 0x7F == notifyEvent else { return false }
    // One that was sent before the last subtraction has been dealt with by it.
    if event.follows(subtraction) { isPending = true }
    return true
  }

  /// Asks for the damage so far, which starts to gather anew.
  mutating func request() -> xcb_xfixes_fetch_region_cookie_t {
    isPending = false
    // Never `parts = None`: damage between the grab and that would be lost.
    subtraction = xcb_damage_subtract(connection.handle, damage, 0, region).sequence
    return xcb_xfixes_fetch_region(connection.handle, region)
  }

  /// Lets the damage gather anew without asking what it was.
  mutating func discard() {
    isPending = false
    subtraction = xcb_damage_subtract(connection.handle, damage, 0, 0).sequence
  }

  /// Plans what to fetch for the damage that `cookie` brings.
  /// - Parameter offset: from the drawable's coordinates to the picture's.
  func receive(
    _ cookie: xcb_xfixes_fetch_region_cookie_t, offset: (x: Int, y: Int), within bounds: PixelRect,
    plan: inout GrabPlan
  ) {
    guard let reply = XReply(xcb_xfixes_fetch_region_reply(connection.handle, cookie, nil)) else {
      // The region is lost: everything may have changed.
      return plan.set(bounds)
    }
    reply.read { region in
      guard let rects = xcb_xfixes_fetch_region_rectangles(region) else { return plan.clear() }
      let count = Int(xcb_xfixes_fetch_region_rectangles_length(region))
      plan.plan(damaged: count, within: bounds) { index in
        let rect = rects[index]
        return PixelRect(
          x: Int(rect.x) + offset.x, y: Int(rect.y) + offset.y, width: Int(rect.width), height: Int(rect.height))
      }
    }
  }
}
