/// A regular expression that a person gave for titles, in Swift's syntax, which is PCRE's with few exceptions.
package struct TitlePattern {
  /// The expression as it was given.
  package let text: String
  private let regex: Regex<AnyRegexOutput>

  /// Reads `text`.
  /// - Throws: `RecorderError` (usage) when it is no regular expression.
  package init(_ text: String) throws(RecorderError) {
    do {
      regex = try Regex(text)
    } catch {
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" is not a regular expression.",
        hint: "Write one such as ^Invoice [0-9]+; a character that means something in it, as (, follows a backslash.")
    }
    self.text = text
  }

  /// Whether it is found anywhere in `title`.
  package func matches(_ title: String) -> Bool { title.firstMatch(of: regex) != nil }
}
