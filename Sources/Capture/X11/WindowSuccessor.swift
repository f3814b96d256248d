import SessionModel

/// Finds the window that follows one that was closed: one that was asked for by the same words, or, when the words named
/// one window alone (an id, the active one), one of the same class.
struct WindowSuccessor {
  private let matcher: WindowMatcher
  private let source: ResolvedSource

  /// Prepares to look for one that follows `source`.
  /// - Throws: `RecorderError` (usage) when nothing says what would follow it.
  init(of source: ResolvedSource) throws(RecorderError) {
    self.source = source
    switch source.source.specification {
    case .window(.id), .window(.active):
      guard let name = source.source.window?.className, !name.isEmpty else {
        throw RecorderError(
          .usage, "The window has no class by which one that follows it could be found.",
          hint: "Name it by title, class, pid or command, or leave --on-close wait out.")
      }
      matcher = try WindowMatcher(.className(name))
    case .window(let selector): matcher = try WindowMatcher(selector)
    case .display, .monitor, .region, .follow:
      throw RecorderError(.usage, "--on-close wait needs a window to record.", hint: "Give it with window:….")
    }
  }

  /// The topmost shown window that matches; nil when there is none.
  func find(on connection: XConnection) -> ResolvedSource? {
    for client in connection.topmost(matcher) {
      // With decorations it is the window manager's frame that is recorded.
      let window = source.window == source.source.window?.id ? client : connection.topLevel(of: client)
      guard let state = connection.windowState(window), state.isViewable, let info = connection.info(of: client) else {
        continue
      }
      let found = Manifest.Source(specification: source.source.specification, rect: state.rect, window: info)
      return ResolvedSource(
        display: source.display, source: found, window: window, canvas: source.canvas, otherMatches: 0)
    }
    return nil
  }
}
