internal import CXCB
import SessionModel

/// Tells whether a window is what a person named.
struct WindowMatcher {
  private enum Test {
    case id(UInt32)
    case title(lowercased: String)
    case titlePattern(TitlePattern)
    case className(lowercased: String)
    case pid(Int)
    case command(lowercased: String)
    case nothing
  }

  private let test: Test

  /// Prepares to look for `selector`; `active` says nothing about a window, and matches none.
  /// - Throws: `RecorderError` (usage) when its pattern is no regular expression.
  init(_ selector: SourceSpecification.WindowSelector) throws(RecorderError) {
    test =
      switch selector {
      case .id(let id): .id(id)
      case .title(let text): .title(lowercased: text.lowercased())
      case .titlePattern(let text): .titlePattern(try TitlePattern(text))
      case .className(let name): .className(lowercased: name.lowercased())
      case .pid(let pid): .pid(pid)
      case .command(let name): .command(lowercased: name.lowercased())
      case .active: .nothing
      }
  }

  /// Matchers of all `exclusions`.
  /// - Throws: `RecorderError` (usage) when a pattern is no regular expression.
  static func all(_ exclusions: [WindowExclusion]) throws(RecorderError) -> [WindowMatcher] {
    var matchers: [WindowMatcher] = []
    for exclusion in exclusions {
      switch exclusion {
      case .className(let name): matchers.append(try WindowMatcher(.className(name)))
      case .titlePattern(let pattern): matchers.append(try WindowMatcher(.titlePattern(pattern)))
      }
    }
    return matchers
  }

  /// Whether `window` is meant.
  func matches(_ window: WindowInfo, on connection: XConnection) -> Bool {
    switch test {
    case .id(let id): window.id == id
    case .title(let text): window.title.lowercased().contains(text)
    case .titlePattern(let pattern): pattern.matches(window.title)
    case .className(let name): [window.className, window.instance].contains { $0?.lowercased() == name }
    case .pid(let pid): window.pid == pid
    case .command(let name): connection.command(of: window)?.lowercased() == name
    case .nothing: false
    }
  }
}

extension XConnection {
  /// The windows that match, from the topmost down, shown ones first.
  func topmost(_ matcher: WindowMatcher) -> [xcb_window_t] {
    let windows = clientWindows().reversed()
    return [true, false].flatMap { shown in
      windows.filter { window in
        window.isViewable == shown && info(of: window.id).map { matcher.matches($0, on: self) } ?? false
      }.map(\.id)
    }
  }
}
