/// The part of a text that shows what was found in it.
enum Snippet {
  /// Characters that are shown at most: a line of a wide terminal.
  static let length = 120
  /// Characters that are shown before the word that was found.
  private static let before = 30

  /// At most `length` characters of `text` around the first word of `query` in it, in any case; cuts are marked by an
  /// ellipsis.
  static func of(_ text: String, query: String) -> String {
    let characters = Array(text)
    guard characters.count > length else { return text }
    let lowered = characters.map { $0.lowercased() }
    let place = query.split(whereSeparator: \.isWhitespace).lazy.compactMap { word in
      firstIndex(of: word.map { $0.lowercased() }, in: lowered)
    }.first
    let start = min(max(0, (place ?? 0) - before), characters.count - length)
    let end = start + length
    return (start > 0 ? "…" : "") + String(characters[start..<end]) + (end < characters.count ? "…" : "")
  }

  private static func firstIndex(of word: [String], in text: [String]) -> Int? {
    guard let first = word.first, word.count <= text.count else { return nil }
    return text.indices.dropLast(word.count - 1).first { index in
      text[index] == first && text[index..<index + word.count].elementsEqual(word)
    }
  }
}
