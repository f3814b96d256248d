/// What a recording takes its picture from, as a person names it.
package enum SourceSpecification: Hashable, Sendable {
  /// The whole of the display.
  case display
  /// One RandR monitor, by its name.
  case monitor(name: String)
  /// One window.
  case window(WindowSelector)
  /// A part of the display, in pixels of the root window.
  case region(PixelRect)
  /// One window after the other, as something leads to them.
  case follow(Lead)

  /// What leads from one window to the next.
  package enum Lead: String, Hashable, Sendable {
    /// The active window is recorded, whichever it is.
    case focus
  }

  /// How a window is named.
  package enum WindowSelector: Hashable, Sendable {
    /// By its X id.
    case id(UInt32)
    /// The topmost whose title contains the text, in any case.
    case title(String)
    /// The topmost whose title the regular expression is found in; upper and lower case differ.
    case titlePattern(String)
    /// The topmost whose class or instance is the text, in any case.
    case className(String)
    /// The topmost of the process, as the window says.
    case pid(Int)
    /// The topmost of a process whose program has this name, in any case.
    case command(String)
    /// The one that is active when the recording begins.
    case active
  }

  /// The source that `text` names.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count == 2 ? String(parts[1]) : ""
    switch (String(parts[0]), value.isEmpty) {
    case ("display", _) where parts.count == 1: self = .display
    case ("monitor", false): self = .monitor(name: value)
    case ("window", false): self = .window(try Self.window(value))
    case ("follow", false) where value == Lead.focus.rawValue: self = .follow(.focus)
    case ("region", false):
      guard let rect = PixelRect(geometry: value) else {
        throw RecorderError(
          .usage, "\"\(value.printable(atMost: 60))\" is not a region.",
          hint: "Write region:WIDTHxHEIGHT+X+Y, as region:640x480+10+20, with sides from 1 to \(PixelSize.largestSide)."
        )
      }
      self = .region(rect)
    default:
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" is not a source.",
        hint:
          "A source is display, monitor:NAME, region:WxH+X+Y, follow:focus, window:ID, window:active, or window: with "
          + "title=TEXT, title~=REGEX, class=NAME, pid=NUMBER or command=NAME.")
    }
  }

  private static func window(_ value: String) throws(RecorderError) -> WindowSelector {
    if value == "active" { return .active }
    let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, !parts[1].isEmpty {
      let text = String(parts[1])
      switch parts[0] {
      case "title": return .title(text)
      case "title~": return .titlePattern(try TitlePattern(text).text)
      case "class": return .className(text)
      case "command": return .command(text)
      case "pid": if let pid = Int(text), pid > 0 { return .pid(pid) }
      default: break
      }
    }
    let id = value.hasPrefix("0x") ? UInt32(value.dropFirst(2), radix: 16) : UInt32(value)
    guard let id, id != 0 else {
      throw RecorderError(
        .usage, "\"\(value.printable(atMost: 60))\" names no window.",
        hint: "Write window:0x1A00007, window:active, or window: with title=TEXT, title~=REGEX, class=NAME, pid=NUMBER "
          + "or command=NAME.")
    }
    return .id(id)
  }

  /// The text that names it: what `init(parsing:)` takes.
  package var text: String {
    switch self {
    case .display: "display"
    case .monitor(let name): "monitor:\(name)"
    case .window(.id(let id)): "window:0x\(String(id, radix: 16))"
    case .window(.title(let text)): "window:title=\(text)"
    case .window(.titlePattern(let text)): "window:title~=\(text)"
    case .window(.className(let name)): "window:class=\(name)"
    case .window(.pid(let pid)): "window:pid=\(pid)"
    case .window(.command(let name)): "window:command=\(name)"
    case .window(.active): "window:active"
    case .region(let rect): "region:\(rect)"
    case .follow(let lead): "follow:\(lead.rawValue)"
    }
  }
}

extension SourceSpecification: Codable {
  package init(from decoder: any Decoder) throws {
    try self.init(parsing: decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
