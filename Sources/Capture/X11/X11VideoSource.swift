internal import CXCB
package import SessionModel
import Threading

/// The picture of a display, a part of one, or a window, fetched from an X server on a connection of its own.
package struct X11VideoSource: ~Copyable, VideoSource {
  let connection: XConnection
  let options: X11SourceOptions
  var memory: PictureMemory
  var colormap: xcb_colormap_t
  var target: GrabTarget
  var damage: DamageTracker?
  var popups: PopupTracker?
  var pointer: PointerTracker?
  private var plan = GrabPlan()
  private var pace: FramePace
  var isWholeNeeded = true
  private var shown: Shown?
  private var nextMonitorLook: Int64 = 0
  /// When the picture or the pointer last changed, in ns of `CLOCK_MONOTONIC`.
  private var changed: Int64 = 0
  var exclusions: ExclusionTracker?
  /// What the last frame did not show, in pixels of the root.
  private var hidden = RectSet()
  let succession: Succession
  /// When to look for the window to record next, in ns of `CLOCK_MONOTONIC`.
  var nextSearch: Int64 = 0

  /// The pointer as the last frame had it.
  private struct Shown: Hashable {
    var x: Int
    var y: Int
    var serial: UInt32
  }

  /// Nanoseconds between two looks at the monitors: a server sends no event for one that a person defines.
  private static let monitorInterval: Int64 = 500_000_000

  /// Connects to the source's display and prepares to fetch it.
  /// - Throws: `RecorderError`: unavailable (the display, a pixel format), systemCall (memory), usage (a window that
  ///   nothing can follow), `SourceLoss.error`.
  package init(_ source: ResolvedSource, _ options: X11SourceOptions) throws(RecorderError) {
    let connection = try XConnection(source.display)
    options.breaker?.hold(connection)
    let (layout, colormap) = try connection.pixels(of: source.window)
    let size = source.canvas
    let memory = try PictureMemory(size: size, layout: layout, connection: connection)
    let target = GrabTarget(source, size: size, followsSize: options.followsSize, connection: connection)
    let succession = try Self.succession(of: source, options)
    let popups = try Self.popups(of: target, options, layout, connection)
    let exclusions =
      options.exclusions.isEmpty ? nil : try ExclusionTracker(options.exclusions, connection: connection)
    self.succession = succession
    damage = target.isAbandoned ? nil : DamageTracker(target.damaged, connection: connection)
    self.popups = popups
    self.exclusions = exclusions
    pointer = options.cursor ? PointerTracker(connection: connection) : nil
    pace = FramePace(interval: options.frameInterval)
    (self.connection, self.options, self.colormap) = (connection, options, colormap)
    self.memory = memory
    self.target = target
    if self.target.isAbandoned { options.report(.absent(.unfocused), MonotonicClock.now()) }
  }

  package var size: PixelSize { memory.size }
  /// Whether the server writes the pixels into shared memory.
  package var usesSharedMemory: Bool { memory.isShared }
  /// Whether the server says what changed; without that all is fetched and compared at every frame.
  package var usesDamage: Bool { damage != nil }

  package var facts: [String: String] {
    let missing = connection.missingExtensions
    return [
      "display": connection.display, "size": "\(size)", "pixels": usesSharedMemory ? "shared memory" : "GetImage",
      "changes": usesDamage ? "told by the server" : "compared",
      "missing": missing.isEmpty ? "nothing" : missing.joined(separator: " "),
    ]
  }

  package mutating func wait(until deadline: Int64) throws(RecorderError) -> Wake {
    while true {
      let isCaughtUp = try receiveEvents()
      let now = MonotonicClock.now()
      try lookAround(at: now, isBeat: now >= deadline)
      let pending = isPending
      if pending, pace.isDue(at: now) { return .changed }
      if now >= deadline {
        try checkAnswer(at: now)
        return .timedOut
      }
      if !isCaughtUp {
        // More have come than can be waited for: the connection cannot be slept on.
        guard options.wake.wait(until: 0) else { continue }
        options.wake.drain()
        return .woken
      }
      var until = min(deadline, pending ? pace.due : .max)
      if !pending {
        let look = nextLook(at: now)
        if now >= look {
          self.look(at: now)
          continue
        }
        until = min(until, look)
      }
      until = min(until, nextLookAround)
      // While a change waits for its time, more events change nothing: they are left in the socket.
      xcb_flush(connection.handle)
      let descriptor = pending ? nil : xcb_get_file_descriptor(connection.handle)
      if options.wake.wait(orFor: descriptor, until: until) {
        options.wake.drain()
        return .woken
      }
    }
  }

  private var isPending: Bool {
    if isWholeNeeded { return true }
    if target.isAbandoned { return false }
    if exclusions.borrow({ $0.isPending }) ?? false { return true }
    if popups.borrow({ $0.isPending }) ?? false { return true }
    return target.isStale || (damage.borrow { $0.isPending } ?? true) || (pointer.borrow { $0.isPending } ?? false)
  }

  /// A server that is stopped takes what is sent and says nothing: only asking tells. It is asked for the pointer, which
  /// may have been moved without an event.
  private mutating func checkAnswer(at now: Int64) throws(RecorderError) {
    if pointer == nil {
      _ = connection.roundTrip()
    }
    pointer?.look(at: now)
    try connection.checkAlive()
  }

  package mutating func grab(_ body: (borrowing GrabbedFrame) -> Void) throws(RecorderError) -> Bool {
    try receiveEvents()
    var isGeometryNew = isWholeNeeded
    if target.isStale, !target.isAbandoned { isGeometryNew = try refresh() || isGeometryNew }
    if memory.refreshPalette(colormap) { isGeometryNew = true }
    // Damage and pointer come in one round trip.
    let region = damage?.request()
    let place = pointer?.request()
    if let region {
      damage?.receive(region, offset: target.damageOffset, within: target.visible, plan: &plan)
    }
    let time = MonotonicClock.now()
    if let place { pointer?.receive(place, at: time) }
    // After the window's own damage was asked for: what is drawn from here on is in the next frame too.
    if let changed = popups?.update(over: target.rect) {
      plan.set(plan.bounds.union(changed).intersection(target.visible))
    }
    guard fetch(everything: isGeometryNew) else {
      // The geometry changed under the request: all is fetched again with the new one.
      try connection.checkAlive()
      target.invalidate()
      isWholeNeeded = true
      return false
    }
    isWholeNeeded = false
    try blank()
    return show(time: time, body)
  }

  /// Makes what must not be shown black in what was fetched.
  private mutating func blank() throws(RecorderError) {
    guard exclusions != nil else { return }
    // What the server told before it answered the grab is waiting.
    try receiveEvents(through: memory.lastRequest)
    // Where one only was is black in this frame alone.
    let isPassing = exclusions.borrow { $0.isPending } ?? false
    var now = exclusions?.take(at: MonotonicClock.now()) ?? RectSet()
    if let window = target.window, target.isWindowItself {
      // Other windows are not in its picture.
      now = RectSet()
      if exclusions?.isExcluded(window) == true { now.add(target.rect) }
      for popup in popups.borrow({ $0.shown }) ?? [] where exclusions?.isExcluded(popup.window) == true {
        now.add(popup.target.rect)
      }
    }
    let (x, y) = target.rootOrigin
    // What was black until now was not fetched: it is, with the next frame.
    for rect in now.rects + hidden.rects { memory.clear(rect.offset(x: -x, y: -y)) }
    if isPassing || !now.contains(hidden) { isWholeNeeded = true }
    if now != hidden { plan.set(PixelRect(size)) }
    hidden = now
  }

  package mutating func invalidate() { isWholeNeeded = true }

  /// Fetches what is planned, all that is visible, or without XDamage what differs; leaves what changed in the plan.
  private mutating func fetch(everything: Bool) -> Bool {
    if target.absence != nil {
      // The last picture stands.
      plan.set(everything ? PixelRect(size) : PixelRect(x: 0, y: 0, width: 0, height: 0))
      return true
    }
    if everything {
      memory.clear()
      plan.set(target.visible)
      guard memory.fetch(plan.rects, of: target.drawable, origin: target.origin) else { return false }
      popups.borrow { $0.draw(plan.rects, into: memory) }
      // What is black now may not have been before.
      plan.set(PixelRect(size))
      return true
    }
    guard usesDamage else {
      return memory.fetchDifference(target.visible, of: target.drawable, origin: target.origin, plan: &plan)
    }
    guard memory.fetch(plan.rects, of: target.drawable, origin: target.origin) else { return false }
    popups.borrow { $0.draw(plan.rects, into: memory) }
    return true
  }

  /// Gives the frame to `body` when it differs from the last one.
  private mutating func show(time: Int64, _ body: (borrowing GrabbedFrame) -> Void) -> Bool {
    var state: PointerState?
    if let place = pointer.borrow({ $0.place }),
      target.isUnder(place) || popups.borrow({ $0.isUnder(place) }) == true
    {
      state = pointer.borrow { $0.state(origin: target.rootOrigin, within: PixelRect(size)) }
    }
    let serial = pointer.borrow { $0.serial } ?? 0
    let now = state.map { Shown(x: $0.x, y: $0.y, serial: serial) }
    let changed = plan.count > 0 || now != shown
    shown = now
    guard changed else { return false }
    self.changed = time
    body(
      GrabbedFrame(
        time: time, pixels: UnsafeRawPointer(memory.base), size: size, bytesPerRow: memory.bytesPerRow,
        rects: plan.rects, pointer: state))
    return true
  }
}

extension X11VideoSource {
  /// When to look at what no event announces, in ns of `CLOCK_MONOTONIC`.
  private func nextLook(at now: Int64) -> Int64 {
    min(exclusions.borrow { $0.nextRelease } ?? .max, target.isAbandoned ? .max : nextPointerLook(at: now))
  }

  private func nextPointerLook(at now: Int64) -> Int64 {
    let isStill = isStill(at: now)
    return pointer.borrow { $0.nextLook(interval: pace.interval, isStill: isStill) } ?? .max
  }

  private func isStill(at now: Int64) -> Bool { now - changed >= StillScreen.after }

  /// When to look at what may change while the picture does, in ns of `CLOCK_MONOTONIC`.
  private var nextLookAround: Int64 {
    min(isSearching ? nextSearch : .max, target.isMonitor ? nextMonitorLook : .max)
  }

  /// Looks, when it is time, whether something else is to be recorded: however much is drawn, that must not wait.
  /// - Parameter isBeat: whether the wait is over anyway: on a still screen the monitors are looked at only then.
  private mutating func lookAround(at now: Int64, isBeat: Bool) throws(RecorderError) {
    if isSearching, now >= nextSearch { try search(at: now) }
    guard target.isMonitor, now >= nextMonitorLook || isBeat else { return }
    nextMonitorLook = isStill(at: now) ? .max : now + Self.monitorInterval
    if target.isMonitorMoved() { target.invalidate() }
  }

  private mutating func look(at now: Int64) {
    if let release = exclusions.borrow({ $0.nextRelease }), now >= release { isWholeNeeded = true }
    if now >= nextPointerLook(at: now) { pointer?.look(at: now) }
  }

  /// Reads the geometry again and tells what is new.
  /// - Returns: whether all of the picture has to be fetched anew.
  private mutating func refresh() throws(RecorderError) -> Bool {
    let (rect, absence) = (target.rect, target.absence)
    var isNew = false
    do throws(RecorderError) {
      isNew = try target.refresh()
    } catch {
      try lose(error)
      return false
    }
    if target.size != memory.size {
      do throws(RecorderError) {
        memory = try PictureMemory(size: target.size, layout: memory.layout, connection: connection)
        isNew = true
      } catch {
        // A window can be made larger than memory is; what there is room for is recorded.
        target.keep(memory.size)
      }
    }
    let now = MonotonicClock.now()
    if target.absence != absence { options.report(target.absence.map { .absent($0) } ?? .present, now) }
    let isMoved = target.window == nil && rect != target.rect
    if rect.size != target.rect.size || isMoved { options.report(.geometry(from: rect, to: target.rect), now) }
    return isNew
  }
}
