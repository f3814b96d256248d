internal import CXCB
package import SessionModel
package import Threading

/// The picture of a display, a part of one, or a window, fetched from an X server on a connection of its own.
package struct X11VideoSource: ~Copyable, VideoSource {
  /// The picture's size in pixels, as the source was resolved.
  package let size: PixelSize
  private let connection: XConnection
  private let wake: WakeSignal
  private let memory: PictureMemory
  private var target: GrabTarget
  private var damage: DamageTracker?
  private var pointer: PointerTracker?
  private var plan = GrabPlan()
  private var pace: FramePace
  private var isWholeNeeded = true
  private var shown: Shown?

  /// The pointer as the last frame had it.
  private struct Shown: Hashable {
    var x: Int
    var y: Int
    var serial: UInt32
  }

  /// Connects to the source's display and prepares to fetch it.
  /// - Parameters:
  ///   - cursor: whether the pointer is reported.
  ///   - frameInterval: ns between frames at the most frequent.
  ///   - wake: ends a `wait` when it is notified.
  /// - Throws: `RecorderError`: unavailable (the display, a pixel format), systemCall (memory), `SourceLoss.error`.
  package init(
    _ source: ResolvedSource, cursor: Bool, frameInterval: Int64, wake: WakeSignal
  ) throws(RecorderError) {
    let connection = try XConnection(source.display)
    try connection.checkPixels(visual: connection.visual(of: source.window))
    let memory = try PictureMemory(size: source.source.rect.size, connection: connection)
    let target = GrabTarget(source, connection: connection)
    damage = DamageTracker(target.damaged, connection: connection)
    pointer = cursor ? PointerTracker(connection: connection) : nil
    size = source.source.rect.size
    pace = FramePace(interval: frameInterval)
    (self.connection, self.wake) = (connection, wake)
    self.memory = memory
    self.target = target
  }

  /// Whether the server writes the pixels into shared memory.
  package var usesSharedMemory: Bool { memory.isShared }
  /// Whether the server says what changed; without that all is fetched and compared at every frame.
  package var usesDamage: Bool { damage != nil }

  package mutating func wait(until deadline: Int64) throws(RecorderError) -> Wake {
    while true {
      try receiveEvents()
      let now = MonotonicClock.now()
      let pending = isPending
      if pending, pace.isDue(at: now) { return .changed }
      if now >= deadline { return .timedOut }
      var until = min(deadline, pending ? pace.due : .max)
      if !pending, let look = pointer.borrow({ $0.nextLook(interval: pace.interval) }) {
        if now >= look {
          pointer?.look(at: now)
          continue
        }
        until = min(until, look)
      }
      // While a change waits for its time, more events change nothing: they are left in the socket.
      xcb_flush(connection.handle)
      let descriptor = pending ? nil : xcb_get_file_descriptor(connection.handle)
      if wake.wait(orFor: descriptor, until: until) {
        wake.drain()
        return .woken
      }
    }
  }

  private var isPending: Bool {
    isWholeNeeded || target.isStale || (damage.borrow { $0.isPending } ?? true)
      || (pointer.borrow { $0.isPending } ?? false)
  }

  private mutating func receiveEvents() throws(RecorderError) {
    while let event = XReply(xcb_poll_for_event(connection.handle)) {
      if damage?.receive(event.value) == true { continue }
      try event.read { (event) throws(RecorderError) in
        if pointer?.receive(event) != true { try target.receive(event) }
      }
    }
    try connection.checkAlive()
  }

  package mutating func grab(_ body: (borrowing GrabbedFrame) -> Void) throws(RecorderError) -> Bool {
    try receiveEvents()
    var isGeometryNew = isWholeNeeded
    if target.isStale { isGeometryNew = try target.refresh() || isGeometryNew }
    // Damage and pointer come in one round trip.
    let region = damage?.request()
    let place = pointer?.request()
    if let region {
      damage?.receive(region, offset: target.damageOffset, within: target.visible, plan: &plan)
    }
    let time = MonotonicClock.now()
    if let place { pointer?.receive(place, at: time) }
    guard fetch(everything: isGeometryNew) else {
      // The geometry changed under the request: all is fetched again with the new one.
      try connection.checkAlive()
      target.invalidate()
      isWholeNeeded = true
      return false
    }
    isWholeNeeded = false
    return show(time: time, body)
  }

  package mutating func invalidate() { isWholeNeeded = true }

  /// Fetches what is planned, all that is visible, or without XDamage what differs; leaves what changed in the plan.
  private mutating func fetch(everything: Bool) -> Bool {
    if everything {
      memory.clear()
      plan.set(target.visible)
      guard memory.fetch(plan.rects, of: target.drawable, origin: target.origin) else { return false }
      // What is black now may not have been before.
      plan.set(PixelRect(size))
      return true
    }
    guard usesDamage else {
      return memory.fetchDifference(target.visible, of: target.drawable, origin: target.origin, plan: &plan)
    }
    return memory.fetch(plan.rects, of: target.drawable, origin: target.origin)
  }

  /// Gives the frame to `body` when it differs from the last one.
  private mutating func show(time: Int64, _ body: (borrowing GrabbedFrame) -> Void) -> Bool {
    var state: PointerState?
    if let place = pointer.borrow({ $0.place }), target.isUnder(place) {
      state = pointer.borrow { $0.state(origin: target.rootOrigin, size: size) }
    }
    let serial = pointer.borrow { $0.serial } ?? 0
    let now = state.map { Shown(x: $0.x, y: $0.y, serial: serial) }
    let changed = plan.count > 0 || now != shown
    shown = now
    guard changed else { return false }
    body(
      GrabbedFrame(
        time: time, pixels: UnsafeRawPointer(memory.base), bytesPerRow: memory.bytesPerRow, rects: plan.rects,
        pointer: state))
    return true
  }
}
