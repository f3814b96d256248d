internal import CXCB
import SessionModel
import Threading

// Which window is recorded: the one that was asked for, the next one when it closes, or the active one.
extension X11VideoSource {
  /// Nanoseconds between two looks for the window to record next: no event tells of every change of a title, nor of
  /// every change of the focus.
  private static var searchInterval: Int64 { 250_000_000 }

  static func succession(
    of source: ResolvedSource, _ options: X11SourceOptions
  ) throws(RecorderError) -> Succession {
    if case .follow = source.source.specification {
      return .focus(FocusFollower(for: source, decorations: options.decorations))
    }
    return options.waitsWhenClosed ? .afterClose(try WindowSuccessor(of: source)) : .none
  }

  /// The popups of the window that is recorded; nil when it is none, they are not wanted, or are in its picture anyway.
  static func popups(
    of target: borrowing GrabTarget, _ options: X11SourceOptions, _ layout: PixelLayout, _ connection: XConnection
  ) throws(RecorderError) -> PopupTracker? {
    guard options.popups, target.isWindowItself, let window = target.window else { return nil }
    return try PopupTracker(of: window, layout: layout, connection: connection)
  }

  /// Whether there may be another window to record.
  var isSearching: Bool {
    switch succession {
    case .none: false
    case .afterClose: target.isAbandoned
    case .focus: true
    }
  }

  /// Whether another window may be active after `event`.
  func isNewsOfFocus(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    guard case .focus(let follower) = succession else { return false }
    return follower.isNews(event, on: connection)
  }

  /// The recorded window is closed: that is the end, or another is waited for.
  mutating func lose(_ error: RecorderError) throws(RecorderError) {
    guard SourceLoss(error) == .windowClosed else { throw error }
    switch succession {
    case .none: throw error
    case .afterClose: leave(.closed)
    case .focus: leave(.unfocused)
    }
  }

  /// Records nothing until there is a window again.
  private mutating func leave(_ reason: SourceChange.Absence) {
    if target.absence == reason { return }
    target.abandon(reason)
    damage = nil
    popups = nil
    nextSearch = 0
    options.report(.absent(reason), MonotonicClock.now())
  }

  /// Looks for the window to record next.
  mutating func search(at now: Int64) throws(RecorderError) {
    nextSearch = now + Self.searchInterval
    switch succession {
    case .none: return
    case .afterClose(let successor):
      let found = successor.find(on: connection)
      try connection.checkAlive()
      if let found { try record(found, at: now) }
    case .focus(let follower):
      follower.listen(on: connection, to: target.window)
      let found = follower.find(on: connection)
      // What was told of that window before the answers came is known before it is judged.
      try receiveEvents(through: connection.roundTrip())
      guard let found, let window = found.window, exclusions.borrow({ $0.isExcluded(window) }) != true else {
        return leave(.unfocused)
      }
      if target.isAbandoned || window != target.window { try record(found, at: now) }
    }
  }

  /// Records `found` from here on.
  private mutating func record(_ found: ResolvedSource, at now: Int64) throws(RecorderError) {
    guard let window = found.window, let info = found.source.window else { return }
    // One of a visual that is not known is left alone, and another waited for.
    guard let (layout, colormap) = try? connection.pixels(of: window) else { return }
    if layout != memory.layout { memory = try PictureMemory(size: size, layout: layout, connection: connection) }
    let (before, wasAbandoned) = (target.rect, target.isAbandoned)
    target = GrabTarget(found, size: size, followsSize: options.followsSize, connection: connection)
    damage = DamageTracker(target.damaged, connection: connection)
    popups = try Self.popups(of: target, options, layout, connection)
    (self.colormap, isWholeNeeded) = (colormap, true)
    if wasAbandoned { options.report(.present, now) }
    options.report(.replaced(info), now)
    if before.size != target.rect.size { options.report(.geometry(from: before, to: target.rect), now) }
  }
}
