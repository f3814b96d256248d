/// A command that is run when something happens to a recording.
package struct Hook: Hashable, Sendable {
  /// What happens.
  package enum Event: String, Codable, Sendable, CaseIterable {
    /// It records.
    case started
    /// It has ended, and all its files are finished.
    case stopped
    /// A session was added to the archive and to the index.
    case saved
    /// A part of it hangs or is missing.
    case degraded
    /// A track had nothing for a while.
    case gap
    /// The disk has little room left.
    case disk
  }

  /// When it is run.
  package let event: Event
  /// The program and its arguments; at least one.
  package let words: [String]

  /// Makes the hook that runs `command` at the event of the name `event`.
  /// - Throws: `RecorderError` (usage) when there is no such event, or the command has no word or an open quote.
  package init(event: String, command: String) throws(RecorderError) {
    guard let event = Event(rawValue: event) else {
      throw RecorderError(
        .usage, "\"\(event.printable(atMost: 60))\" is no event.",
        hint: "Write one of \(Event.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    (self.event, words) = (event, try Self.words(of: command))
  }

  /// The words of `command`. Blanks separate them. What is between single quotes stands for itself; between double
  /// quotes a backslash makes the quote or backslash after it stand for itself, and outside of quotes any character.
  /// Nothing is expanded.
  private static func words(of command: String) throws(RecorderError) -> [String] {
    var (words, word) = ([String](), String?.none)
    var rest = command.unicodeScalars[...]
    func open(_ quote: String) -> RecorderError {
      RecorderError(.usage, "\"\(command.printable(atMost: 60))\" has a \(quote) that is not closed.")
    }
    while let scalar = rest.popFirst() {
      switch scalar {
      case " ", "\t", "\n":
        if let whole = word { words.append(whole) }
        word = nil
      case "'":
        guard let end = rest.firstIndex(of: "'") else { throw open("single quote") }
        word = (word ?? "") + String(rest[..<end])
        rest = rest[end...].dropFirst()
      case "\"":
        var part = word ?? ""
        while true {
          guard let next = rest.popFirst() else { throw open("double quote") }
          if next == "\"" { break }
          let isEscape = next == "\\" && (rest.first == "\"" || rest.first == "\\")
          part.unicodeScalars.append(isEscape ? rest.removeFirst() : next)
        }
        word = part
      case "\\":
        guard let next = rest.popFirst() else {
          throw RecorderError(.usage, "\"\(command.printable(atMost: 60))\" ends with a backslash.")
        }
        word = (word ?? "") + String(next)
      case "\0": throw RecorderError(.usage, "A hook's command holds a NUL.")
      default: word = (word ?? "") + String(scalar)
      }
    }
    if let word { words.append(word) }
    guard let program = words.first, !program.isEmpty else {
      throw RecorderError(
        .usage, "\"\(command.printable(atMost: 60))\" is no command.", hint: "Write PROGRAM ARGUMENTS.")
    }
    return words
  }
}
