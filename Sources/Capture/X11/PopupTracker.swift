internal import CXCB
import SessionModel

/// A window's menus, tooltips and dialogs, which are windows of their own: those of the same client that window managers
/// leave alone, and those that say they belong to it (WM_TRANSIENT_FOR). Each is drawn where it is, over the window's
/// picture, from the pixmap that Composite keeps for it.
struct PopupTracker: ~Copyable {
  /// One that is shown.
  final class Popup {
    /// Its window.
    let window: xcb_window_t
    /// The root's child that it is, or is in.
    let top: xcb_window_t
    /// Whether what is below it shines through: it has an alpha channel.
    let isTranslucent: Bool
    /// Where its pixels are.
    var target: GrabTarget
    /// What is drawn in it.
    var damage: DamageTracker
    /// Where it was drawn last, in pixels of the picture.
    var place = PixelRect(x: 0, y: 0, width: 0, height: 0)

    init?(_ window: xcb_window_t, in top: xcb_window_t, like layout: PixelLayout, display: XConnection) {
      guard let state = display.windowState(window), state.isViewable, !state.isInputOnly,
        let own = try? display.pixelLayout(visual: state.visual), own == layout
      else { return nil }
      let source = ResolvedSource(
        display: display.display, source: Manifest.Source(specification: .window(.id(window)), rect: state.rect),
        window: window, canvas: state.rect.size, otherMatches: 0)
      let target = GrabTarget(source, size: state.rect.size, followsSize: true, connection: display)
      guard target.isWindowItself, let damage = DamageTracker(window, connection: display) else { return nil }
      (self.window, self.top) = (window, top)
      isTranslucent = display.depth(ofVisual: state.visual) == 32
      self.target = target
      self.damage = damage
    }
  }

  private let connection: XConnection
  private let owner: xcb_window_t
  private let layout: PixelLayout
  /// Those that are shown, bottom to top.
  private(set) var shown: [Popup] = []
  /// The popup in each child of the root that was looked at, 0 where there is none.
  private var members: [xcb_window_t: xcb_window_t] = [:]
  private var isStale = true

  /// Begins to follow the popups of `owner`.
  /// - Parameter layout: how the owner's pixels lie; popups of another visual are left out.
  /// - Throws: `RecorderError` (unavailable) without XDamage: what was under a popup would stay.
  init(of owner: xcb_window_t, layout: PixelLayout, connection: XConnection) throws(RecorderError) {
    guard connection.extension(recorder_xcb_damage_id()) != nil else {
      throw RecorderError(
        .unavailable, "The X server lacks the DAMAGE extension, which --popups needs.",
        hint: "Start the X server with it, or record the display or a region.")
    }
    (self.owner, self.layout, self.connection) = (owner, layout, connection)
    connection.select(XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue, on: connection.root)
  }

  /// Takes `event`.
  /// - Returns: whether it is for nobody else.
  mutating func receive(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    func window<Body>(_ path: KeyPath<Body, xcb_window_t>) -> xcb_window_t {
      event.withMemoryRebound(to: Body.self, capacity: 1) { $0.pointee[keyPath: path] }
    }
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_MAP_NOTIFY: forget(window(\xcb_map_notify_event_t.window))
    case XCB_UNMAP_NOTIFY: forget(window(\xcb_unmap_notify_event_t.window))
    case XCB_REPARENT_NOTIFY:
      forget(window(\xcb_reparent_notify_event_t.window))
      forget(window(\xcb_reparent_notify_event_t.parent))
    case XCB_DESTROY_NOTIFY:
      forget(window(\xcb_destroy_notify_event_t.window))
      connection.forget(window(\xcb_destroy_notify_event_t.window))
    case XCB_CONFIGURE_NOTIFY, XCB_CIRCULATE_NOTIFY: isStale = true
    default: return shown.contains { $0.damage.isAbout(event) && $0.damage.receive(event.pointee) }
    }
    // A popup's geometry is read again; one that is gone is found to be so then.
    for popup in shown { popup.target.invalidate() }
    return false
  }

  private mutating func forget(_ window: xcb_window_t) {
    members.removeValue(forKey: window)
    isStale = true
  }

  /// Whether a popup came, went, moved or was drawn in.
  var isPending: Bool { isStale || shown.contains { $0.damage.isPending } }

  /// Brings places and damage up to date.
  /// - Parameter place: where the owner is on the root.
  /// - Returns: what has to be fetched anew of the picture; nil when that is nothing.
  mutating func update(over place: PixelRect) -> PixelRect? {
    guard isPending else { return nil }
    var changed = PixelRect(x: 0, y: 0, width: 0, height: 0)
    if isStale {
      isStale = false
      let found = find()
      for popup in shown where !found.contains(where: { $0 === popup }) { changed = changed.union(popup.place) }
      // The order may be another one, which few notice and nobody announces apart.
      if !found.elementsEqual(shown, by: ===) { changed = found.reduce(changed) { $0.union($1.place) } }
      shown = found
    }
    for popup in shown {
      let isDamaged = popup.damage.isPending
      if isDamaged { popup.damage.discard() }
      let isRefetched = popup.target.isStale ? (try? popup.target.refresh()) ?? true : false
      let now =
        popup.target.absence == nil
        ? popup.target.rect.offset(x: -place.x, y: -place.y) : PixelRect(x: 0, y: 0, width: 0, height: 0)
      if isDamaged || isRefetched || now != popup.place { changed = changed.union(popup.place).union(now) }
      popup.place = now
    }
    return changed
  }

  /// The popups that are shown over the owner, bottom to top.
  private mutating func find() -> [Popup] {
    let children = connection.tree(of: connection.root)?.children ?? []
    let own = connection.topLevel(of: owner)
    guard let position = children.firstIndex(of: own) else { return [] }
    return children[(position + 1)...].compactMap { top in
      let window = members[top] ?? member(of: top)
      members[top] = window
      if window == 0 { return nil }
      return shown.first { $0.window == window && $0.top == top }
        ?? Popup(window, in: top, like: layout, display: connection)
    }
  }

  /// The popup of the owner that `top` is, or that is in it; 0 when there is none.
  private func member(of top: xcb_window_t) -> xcb_window_t {
    guard let state = connection.windowState(top), state.isViewable else { return 0 }
    if state.isOverrideRedirect, connection.isSameClient(top, owner) { return top }
    // A window manager's frame is two or three deep; the bound keeps a tree of widgets from being walked.
    var level = [top]
    for _ in 0..<3 {
      if let found = level.first(where: { isTransient($0) }) { return found }
      level = level.flatMap { connection.tree(of: $0)?.children ?? [] }
    }
    return 0
  }

  /// Whether `window` belongs to the owner, or to a window that does.
  private func isTransient(_ window: xcb_window_t) -> Bool {
    var parent = connection.words("WM_TRANSIENT_FOR", of: window).first
    // Dialogs of dialogs nest a few deep; two that name each other would go round for ever.
    for _ in 0..<8 {
      guard let next = parent, next != 0 else { return false }
      if next == owner { return true }
      if next == connection.root { return isSameApplication(window) }
      parent = connection.words("WM_TRANSIENT_FOR", of: next).first
    }
    return false
  }

  /// A dialog for all of an application names the root; its leader says which application (ICCCM 5.1).
  private func isSameApplication(_ window: xcb_window_t) -> Bool {
    guard let leader = connection.words("WM_CLIENT_LEADER", of: window).first, leader != 0 else { return false }
    return connection.words("WM_CLIENT_LEADER", of: owner).first == leader
  }

  /// Draws what the popups have of `rects`, in pixels of the picture, over what `memory` holds.
  func draw(_ rects: UnsafeBufferPointer<PixelRect>, into memory: borrowing PictureMemory) {
    for popup in shown where popup.target.absence == nil {
      for rect in rects {
        var part = rect.intersection(popup.place)
        if part.isEmpty { continue }
        let origin = (popup.target.origin.x - popup.place.x, popup.target.origin.y - popup.place.y)
        withUnsafePointer(to: &part) { part in
          // One that the server refuses is going away, which it tells.
          _ = memory.fetch(
            UnsafeBufferPointer(start: part, count: 1), of: popup.target.drawable, origin: origin,
            over: popup.isTranslucent)
        }
      }
    }
  }

  /// Whether a pointer at `place` is over a popup.
  func isUnder(_ place: PointerTracker.Place) -> Bool {
    shown.contains { $0.top == place.child && $0.target.absence == nil }
  }
}
