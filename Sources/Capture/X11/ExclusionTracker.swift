internal import CXCB
import SessionModel
import Threading

/// The places on the screen that a recording must not show: those of windows that a person excluded, wherever one was
/// since the last frame, and those they left until something else is drawn there.
///
/// The X server tells of every map, move and resize before it answers a request that follows it. So what was told before
/// the answer to a grab came is all that the grab can hold; where a window's place or title is not known yet, it counts
/// as excluded.
struct ExclusionTracker: ~Copyable {
  private let connection: XConnection
  private let matchers: [WindowMatcher]
  private let damage: xcb_damage_damage_t
  private let damageEvent: UInt8
  private var known: [xcb_window_t: RootChild] = [:]
  /// The root's child that each window whose properties are followed is in.
  private var owners: [xcb_window_t: xcb_window_t] = [:]
  /// Children of the root whose windows have to be looked at.
  private var unsure: Set<xcb_window_t> = []
  /// Those of them in which a window went while they were looked at: they are looked at again with the next events.
  private var doubtful: Set<xcb_window_t> = []
  /// Children of the root that hold no excluded window any more, as soon as the events before that was asked are read:
  /// those are still about what was there.
  private var cleared: Set<xcb_window_t> = []
  /// Excluded windows that have gone: a dialog can outlive its window.
  private var departed: Set<xcb_window_t> = []
  /// Where excluded windows were since the last frame.
  private var touched = RectSet()
  /// What they left and nothing was drawn on yet.
  private var vacated = RectSet()
  /// The same when the last frame was taken: a grab that is under way may hold what was there before it was drawn on.
  private var vacatedBefore = RectSet()
  /// Whether something was drawn on what they left since then.
  private var isUncovered = false
  private var isComposited = false
  /// What was drawn on since, and when it is shown again, in ns of `CLOCK_MONOTONIC`; under a compositor alone.
  private var cooling: [(rect: PixelRect, until: Int64)] = []

  /// A compositor shows a window for a while after it has gone, faded for instance; so many ns are longer than any
  /// compositor's default.
  private static let compositorDelay: Int64 = 1_000_000_000
  /// Windows looked at in one frame: openbox's has some forty decorations beside the client. A toolkit's hundreds of
  /// widgets have no titles.
  private static let mostMembers = 256

  /// Begins to follow the windows of `connection`'s screen.
  /// - Throws: `RecorderError` (unavailable) without XDamage, (usage) for a pattern that is none.
  init(_ exclusions: [WindowExclusion], connection: XConnection) throws(RecorderError) {
    let handle = connection.handle
    // The extension answers nothing before its version was asked.
    guard let extensionData = connection.extension(recorder_xcb_damage_id()),
      XReply(xcb_damage_query_version_reply(handle, xcb_damage_query_version(handle, 1, 1), nil)) != nil
    else {
      throw RecorderError(
        .unavailable, "The X server lacks the DAMAGE extension, without which no window can be excluded safely.",
        hint: "Start the X server with it, or record without --exclude.")
    }
    let matchers = try WindowMatcher.all(exclusions)
    (self.connection, self.matchers) = (connection, matchers)
    damage = connection.newID()
    damageEvent = extensionData.first_event
    // Each rectangle is told in its turn between moves and unmaps, which is what says that it was drawn afterwards.
    xcb_damage_create(
      handle, damage, connection.root, UInt8(XCB_DAMAGE_REPORT_LEVEL_RAW_RECTANGLES.rawValue))
    connection.select(XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue, on: connection.root)
    for window in connection.tree(of: connection.root)?.children ?? [] {
      guard let state = connection.windowState(window) else { continue }
      known[window] = RootChild(state)
      unsure.insert(window)
    }
    settle()
  }

  deinit { xcb_damage_destroy(connection.handle, damage) }

  /// Takes `event`.
  /// - Returns: whether it is for nobody else.
  mutating func receive(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    func read<Body>(_ type: Body.Type) -> Body { event.withMemoryRebound(to: type, capacity: 1) { $0.pointee } }
    let type = event.pointee.response_type & 0x7F
    if type == damageEvent {
      let notify = read(xcb_damage_notify_event_t.self)
      guard notify.damage == damage else { return false }
      draw(
        PixelRect(
          x: Int(notify.area.x), y: Int(notify.area.y), width: Int(notify.area.width), height: Int(notify.area.height)))
      return true
    }
    switch Int32(type) {
    case XCB_CREATE_NOTIFY:
      let notify = read(xcb_create_notify_event_t.self)
      guard notify.parent == connection.root else { break }
      departed.remove(notify.window)
      let rect = RootChild.outer(notify.x, notify.y, notify.width, notify.height, notify.border_width)
      known[notify.window] = RootChild(rect: rect, isMapped: false)
      unsure.insert(notify.window)
    case XCB_MAP_NOTIFY: setMapped(true, read(xcb_map_notify_event_t.self).window)
    case XCB_UNMAP_NOTIFY: setMapped(false, read(xcb_unmap_notify_event_t.self).window)
    case XCB_CONFIGURE_NOTIFY:
      let notify = read(xcb_configure_notify_event_t.self)
      move(notify.window, to: RootChild.outer(notify.x, notify.y, notify.width, notify.height, notify.border_width))
    case XCB_REPARENT_NOTIFY:
      let notify = read(xcb_reparent_notify_event_t.self)
      reparent(notify.window, to: notify.parent)
    case XCB_DESTROY_NOTIFY: forget(read(xcb_destroy_notify_event_t.self).window)
    case XCB_PROPERTY_NOTIFY:
      let window = read(xcb_property_notify_event_t.self).window
      if let owner = owners[window] { unsure.insert(owner) }
    default: break
    }
    return false
  }

  private mutating func setMapped(_ isMapped: Bool, _ window: xcb_window_t) {
    guard let before = known[window] else { return }
    if isMapped {
      if before.isExcluded != false { touched.add(before.rect) }
    } else {
      leave(before)
    }
    known[window]?.isMapped = isMapped
    unsure.insert(window)
  }

  private mutating func move(_ window: xcb_window_t, to rect: PixelRect) {
    guard let before = known[window], before.rect != rect else { return }
    if before.isMapped {
      leave(before)
      if before.isExcluded != false { touched.add(rect) }
    }
    known[window]?.rect = rect
  }

  private mutating func reparent(_ window: xcb_window_t, to parent: xcb_window_t) {
    if parent != connection.root {
      let before = known.removeValue(forKey: window)
      if let before { leave(before) }
      // Most often the window manager's frame itself.
      let owner = known[parent] == nil ? connection.topLevel(of: parent) : parent
      guard let frame = known[owner] else { return }
      unsure.insert(owner)
      // By the time the frame is looked at the window may have left it again.
      guard before?.isExcluded != false else { return }
      known[owner]?.isExcluded = true
      known[owner]?.clients.insert(window)
      if frame.isMapped { touched.add(frame.rect) }
    } else if let state = connection.windowState(window) {
      known[window] = RootChild(state)
      unsure.insert(window)
    }
  }

  private mutating func forget(_ window: xcb_window_t) {
    if let before = known.removeValue(forKey: window) {
      leave(before)
      departed.formUnion(before.clients)
      // One that went before it was looked at may have been excluded.
      if before.isExcluded != false { departed.insert(window) }
    }
    unsure.remove(window)
    doubtful.remove(window)
    for member in owners.filter({ $0.key == window || $0.value == window }).keys {
      owners.removeValue(forKey: member)
      connection.forget(member)
    }
  }

  /// What was at a place has gone from there.
  private mutating func leave(_ window: RootChild) {
    guard window.isMapped, window.isExcluded != false else { return }
    vacate(window.rect)
  }

  private mutating func vacate(_ rect: PixelRect) {
    touched.add(rect)
    vacated.add(rect)
    isComposited = connection.hasCompositor
  }

  /// Something was drawn: what was left there is to be seen no more.
  private mutating func draw(_ rect: PixelRect) {
    guard vacated.intersects(rect) else { return }
    isUncovered = true
    if isComposited {
      for left in vacated.rects {
        let drawn = left.intersection(rect)
        if !drawn.isEmpty { cooling.append((drawn, MonotonicClock.now() + Self.compositorDelay)) }
      }
    }
    vacated.subtract(rect)
  }

  /// Looks at the windows whose place or title is new.
  /// - Parameter isCaughtUp: whether all events that have come were taken before.
  mutating func settle(isCaughtUp: Bool = true) {
    for window in isCaughtUp ? cleared.subtracting(unsure) : [] {
      guard let before = known[window], before.isExcluded != false else { continue }
      known[window]?.isExcluded = false
      known[window]?.clients = []
      // What it showed until now is still there.
      if before.isMapped { vacate(before.rect) }
    }
    if isCaughtUp { cleared = [] }
    while let window = unsure.popFirst() { look(at: window) }
    swap(&unsure, &doubtful)
  }

  private mutating func look(at window: xcb_window_t) {
    guard let before = known[window] else { return }
    let clients = excluded(in: window)
    // It has gone already, or something in it, unseen: what that was, or had become, cannot be known any more.
    if clients == nil || doubtful.contains(window) {
      if clients == nil || before.isExcluded == nil { known[window]?.isExcluded = true }
      if before.isMapped { touched.add(before.rect) }
    }
    guard let now = clients else { return }
    guard !now.isEmpty else {
      if doubtful.contains(window) { return }
      if before.isExcluded == true { cleared.insert(window) } else { known[window]?.isExcluded = false }
      return
    }
    known[window]?.clients = now
    known[window]?.isExcluded = true
    guard before.isExcluded != true else { return }
    if before.isMapped { touched.add(before.rect) }
    // Its pop-ups and dialogs are excluded with it.
    for (other, state) in known where state.isMapped && state.isExcluded == false { unsure.insert(other) }
  }

  /// The excluded windows that are `window`, or in it; nil when it has gone.
  private mutating func excluded(in window: xcb_window_t) -> Set<xcb_window_t>? {
    guard let state = connection.windowState(window) else { return nil }
    var found: Set<xcb_window_t> = []
    let all = known.filter { $0.key != window }.values.reduce(into: Set<xcb_window_t>()) { $0.formUnion($1.clients) }
    let members = members(of: window)
    for member in members {
      // Selected first: a later change makes an event.
      connection.select(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue, on: member)
      owners[member] = window
      let parent = connection.words("WM_TRANSIENT_FOR", of: member).first
      // Asked last: it was still there when its owner was asked for.
      guard let info = connection.info(of: member) else {
        if member == window { return nil }
        doubtful.insert(window)
        continue
      }
      let isMatch = matchers.contains { $0.matches(info, on: connection) }
      if isMatch || parent.map({ all.contains($0) || departed.contains($0) }) == true { found.insert(member) }
    }
    // A menu or a tooltip names nobody, but it is the same client's.
    if state.isOverrideRedirect, all.contains(where: { connection.isSameClient($0, window) }) { found.insert(window) }
    return found
  }

  private func members(of window: xcb_window_t) -> [xcb_window_t] {
    var (all, level) = ([window], [window])
    // Frames nest two or three deep.
    for _ in 0..<3 {
      level = level.flatMap { connection.tree(of: $0)?.children ?? [] }
      all += level
      if all.count >= Self.mostMembers { break }
    }
    return Array(all.prefix(Self.mostMembers))
  }

  /// Whether `window`, or the frame it is in, is excluded.
  func isExcluded(_ window: xcb_window_t) -> Bool {
    known[owners[window] ?? window]?.isExcluded == true
  }

  /// When a place is shown again by itself, in ns of `CLOCK_MONOTONIC`.
  var nextRelease: Int64 { cooling.map(\.until).min() ?? .max }

  /// Whether an excluded window came, went, moved or changed its title since the last frame.
  var isPending: Bool { !touched.isEmpty || !cleared.isEmpty || isUncovered }

  /// What must not be shown of a grab that has been answered: places in pixels of the root.
  mutating func take(at now: Int64) -> RectSet {
    cooling.removeAll { $0.until <= now }
    var hidden = touched
    for rect in vacatedBefore.rects + vacated.rects + cooling.map(\.rect) { hidden.add(rect) }
    (touched, vacatedBefore, isUncovered) = (RectSet(), vacated, false)
    for window in known.values where window.isMapped && window.isExcluded != false { hidden.add(window.rect) }
    return hidden
  }
}
