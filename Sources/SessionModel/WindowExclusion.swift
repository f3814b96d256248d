/// Windows that a recording must not show, as a person names them.
package enum WindowExclusion: Hashable, Sendable {
  /// Those whose class or instance is the text, in any case.
  case className(String)
  /// Those whose title the regular expression is found in; upper and lower case differ.
  case titlePattern(String)

  /// The windows that `text` names: `class=NAME` or `title~=REGEX`.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count == 2 ? String(parts[1]) : ""
    switch (parts[0], value.isEmpty) {
    case ("class", false): self = .className(value)
    case ("title~", false): self = .titlePattern(try TitlePattern(value).text)
    default:
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" names no windows to leave out.",
        hint: "Write class=NAME or title~=REGEX.")
    }
  }

  /// The text that names it: what `init(parsing:)` takes.
  package var text: String {
    switch self {
    case .className(let name): "class=\(name)"
    case .titlePattern(let pattern): "title~=\(pattern)"
    }
  }

  /// What may be kept in the archive: a pattern can be the very title that must not be there.
  package var redacted: WindowExclusion {
    switch self {
    case .className: self
    case .titlePattern: .titlePattern("…")
    }
  }
}

extension WindowExclusion: Codable {
  package init(from decoder: any Decoder) throws {
    try self.init(parsing: decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
