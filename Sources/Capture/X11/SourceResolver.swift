internal import CXCB
package import SessionModel

/// Finds on an X display what a person named. Opens a connection of its own and closes it when it goes.
package struct SourceResolver: ~Copyable {
  private let connection: XConnection

  /// Connects to `display`; nil is $DISPLAY.
  /// - Throws: `RecorderError` (unavailable) that names DISPLAY, XAUTHORITY or Wayland.
  package init(display: String?) throws(RecorderError) { connection = try XConnection(display) }

  /// The display's name, as it was opened.
  package var display: String { connection.display }

  /// Finds `specification`.
  /// - Parameters:
  ///   - decorations: takes a window with its window manager's frame.
  ///   - exclusions: windows that must not be shown.
  /// - Throws: `RecorderError`: unavailable, which names what was not found and what there is; usage when what is asked
  ///   for is what must not be shown.
  package func resolve(
    _ specification: SourceSpecification, decorations: Bool = false, exclusions: [WindowExclusion] = []
  ) throws(RecorderError) -> ResolvedSource {
    let source = try find(specification, decorations: decorations)
    let matchers = try WindowMatcher.all(exclusions)
    guard let window = source.source.window, matchers.contains(where: { $0.matches(window, on: connection) }) else {
      return source
    }
    guard case .follow = specification else {
      throw RecorderError(.usage, "The window to record is one of those that --exclude leaves out.")
    }
    return try unfocused(specification)
  }

  private func find(
    _ specification: SourceSpecification, decorations: Bool
  ) throws(RecorderError) -> ResolvedSource {
    let screen = PixelRect(connection.rootSize)
    switch specification {
    case .window, .follow: break
    case .display, .monitor, .region: try refuseXWayland()
    }
    switch specification {
    case .display: return try resolved(specification, screen)
    case .monitor(let name): return try resolved(specification, monitor(named: name))
    case .region(let rect):
      guard !rect.intersection(screen).isEmpty else {
        throw RecorderError(
          .unavailable, "The region \(rect) is outside the display, which is \(screen.size) pixels.")
      }
      return try resolved(specification, rect)
    case .window(let selector):
      return try window(selector, specification, decorations: decorations)
    case .follow:
      let nothing = try unfocused(specification)
      return FocusFollower(for: nothing, decorations: decorations).find(on: connection) ?? nothing
    }
  }

  /// What is recorded while no window is active and the active one is followed.
  private func unfocused(_ specification: SourceSpecification) throws(RecorderError) -> ResolvedSource {
    try resolved(specification, PixelRect(connection.rootSize))
  }

  /// Whether there is what `specification` names now; a window counts once it is shown.
  /// - Throws: `RecorderError` (sourceLost) when the display is gone.
  package func isPresent(_ specification: SourceSpecification) throws(RecorderError) -> Bool {
    try connection.checkAlive()
    switch specification {
    case .display, .region, .follow: return true
    case .monitor(let name): return connection.monitors().contains { $0.name == name }
    case .window(let selector):
      return try match(selector).flatMap { connection.windowState($0.window) }?.isViewable == true
    }
  }

  private func resolved(
    _ specification: SourceSpecification, _ rect: PixelRect, info: WindowInfo? = nil, window: xcb_window_t? = nil,
    others: Int = 0
  ) throws(RecorderError) -> ResolvedSource {
    guard max(rect.width, rect.height) <= PixelSize.largestSide else {
      throw RecorderError(
        .unavailable,
        "The source is \(rect.size) pixels; more than \(PixelSize.largestSide) on a side cannot be recorded.",
        hint: "Record a part of it with region:WxH+X+Y.")
    }
    _ = try connection.pixels(of: window)
    return ResolvedSource(
      display: connection.display, source: Manifest.Source(specification: specification, rect: rect, window: info),
      window: window, canvas: rect.size, otherMatches: others)
  }

  /// XWayland's root window is black: the picture on the screen is the Wayland compositor's alone. It names its outputs
  /// XWAYLAND0 and so on.
  private func refuseXWayland() throws(RecorderError) {
    guard connection.monitors().contains(where: { $0.name.hasPrefix("XWAYLAND") }) else { return }
    throw RecorderError(
      .unavailable,
      "The X display \"\(connection.display.printable(atMost: 100))\" is XWayland, part of a Wayland session, which "
        + "lets no program record the screen through X11.",
      hint: "Log in to an X11 session to record the screen, or record an X11 window (window:…).")
  }

  private func monitor(named name: String) throws(RecorderError) -> PixelRect {
    let monitors = connection.monitors()
    if let monitor = monitors.first(where: { $0.name == name }) { return monitor.rect }
    let names = monitors.map { $0.name.printable }.joined(separator: ", ")
    throw RecorderError(
      .unavailable, "There is no monitor \"\(name.printable(atMost: 60))\".",
      hint: monitors.isEmpty ? "The display names no monitors; record display." : "There is \(names).")
  }

  private func window(
    _ selector: SourceSpecification.WindowSelector, _ specification: SourceSpecification, decorations: Bool
  ) throws(RecorderError) -> ResolvedSource {
    let (client, others) = try find(selector)
    if client == connection.root { return try resolved(specification, PixelRect(connection.rootSize)) }
    let window = decorations ? connection.topLevel(of: client) : client
    guard let info = connection.info(of: client), let state = connection.windowState(window) else {
      try connection.checkAlive()
      throw RecorderError(.unavailable, "The window 0x\(String(client, radix: 16)) was closed just now.")
    }
    guard !state.isInputOnly else {
      throw RecorderError(
        .unavailable, "The window 0x\(String(client, radix: 16)) takes input only and shows nothing.")
    }
    return try resolved(specification, state.rect, info: info, window: window, others: others)
  }

  private func find(_ selector: SourceSpecification.WindowSelector) throws(RecorderError) -> (
    window: xcb_window_t, others: Int
  ) {
    if let found = try match(selector) { return found }
    try connection.checkAlive()
    throw RecorderError(.unavailable, Self.missing(selector), hint: existing)
  }

  private func match(_ selector: SourceSpecification.WindowSelector) throws(RecorderError) -> (
    window: xcb_window_t, others: Int
  )? {
    switch selector {
    case .id(let id): return connection.windowState(id).map { _ in (id, 0) }
    case .active: return connection.activeWindow().map { ($0, 0) }
    default:
      let matches = connection.topmost(try WindowMatcher(selector))
      return matches.first.map { ($0, matches.count - 1) }
    }
  }

  private static func missing(_ selector: SourceSpecification.WindowSelector) -> String {
    switch selector {
    case .id(let id): "There is no window 0x\(String(id, radix: 16))."
    case .active: "No window is active."
    case .title(let text): "No window's title contains \"\(text.printable(atMost: 60))\"."
    case .titlePattern(let text): "No window's title matches \"\(text.printable(atMost: 60))\"."
    case .className(let name): "No window has the class \"\(name.printable(atMost: 60))\"."
    case .pid(let pid): "No window is of the process \(pid)."
    case .command(let name): "No window is of the program \"\(name.printable(atMost: 60))\"."
    }
  }

  /// The windows there are, at most ten, in one sentence.
  private var existing: String {
    let windows = connection.clientWindows().reversed().compactMap { connection.info(of: $0.id) }
    if windows.isEmpty { return "The display has no windows." }
    let list = windows.prefix(10).map { window in
      "0x\(String(window.id, radix: 16)) \"\(window.title.printable(atMost: 40))\""
        + (window.className.map { " (\($0.printable(atMost: 30)))" } ?? "")
    }
    return "There is \(list.joined(separator: ", "))\(windows.count > 10 ? " and \(windows.count - 10) more" : "")."
  }
}
