package import SessionModel

/// A value that one argument can spell.
package protocol ExpressibleByArgument: Sendable {
  /// The value that `argument` spells.
  /// - Throws: `RecorderError` (usage) with one sentence that quotes the argument and says what was expected.
  init(argument: ArgumentText) throws(RecorderError)

  /// The value that `words` spell: as many as `wordCount`.
  /// - Throws: as `init(argument:)`.
  init(words: [ArgumentText]) throws(RecorderError)

  /// How many words spell a value: one, unless an option says `--on EVENT COMMAND`.
  static var wordCount: Int { get }

  /// The value as help shows a default.
  var argumentDescription: String { get }

  /// Every word that spells a value, when they can be counted; completions offer them.
  static var allValueStrings: [String] { get }

  /// How a shell completes a value that is none of `allValueStrings`.
  static var completion: CompletionKind { get }
}

extension ExpressibleByArgument {
  package init(words: [ArgumentText]) throws(RecorderError) {
    try self.init(argument: words.last ?? ArgumentText(bytes: []))
  }
  package static var wordCount: Int { 1 }
  package var argumentDescription: String { "\(self)" }
  package static var allValueStrings: [String] { [] }
  package static var completion: CompletionKind { .none }
}

/// How a shell completes a value.
package enum CompletionKind: Hashable, Sendable {
  /// Not at all.
  case none
  /// With the names of files.
  case file
  /// With the ids of sessions and `last`.
  case session
}

/// A value that a command may demand. The program never sees `unset`: the parser refuses a command line without it.
package protocol RequirableArgument: ExpressibleByArgument {
  /// What the property holds before the command line has been parsed.
  static var unset: Self { get }
}

extension String: RequirableArgument {
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let text = argument.string else {
      throw RecorderError(.usage, "\"\(argument)\" is not valid UTF-8.")
    }
    self = text
  }
  package static var unset: String { "" }
}

extension FilePath: RequirableArgument {
  package init(argument: ArgumentText) throws(RecorderError) {
    guard !argument.bytes.isEmpty, let path = FilePath(bytes: argument.bytes) else {
      throw RecorderError(.usage, "\"\(argument)\" names no file.")
    }
    self = path
  }
  package static var unset: FilePath { FilePath() }
  package static var completion: CompletionKind { .file }
}

extension Int: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let number = argument.string.flatMap({ Int($0) }) else {
      throw RecorderError(.usage, "\"\(argument)\" is not a whole number.")
    }
    self = number
  }
}

extension Double: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let number = argument.string.flatMap({ Double($0) }), number.isFinite else {
      throw RecorderError(.usage, "\"\(argument)\" is not a number.")
    }
    self = number
  }
}

extension ExpressibleByArgument where Self: RawRepresentable & CaseIterable, RawValue == String {
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let value = argument.string.flatMap({ Self(rawValue: $0) }) else {
      let words = Self.allValueStrings
      throw RecorderError(
        .usage, "\"\(argument)\" is none of \(words.joined(separator: ", ")).",
        hint: suggestion(for: argument, among: words))
    }
    self = value
  }
  package var argumentDescription: String { rawValue }
  package static var allValueStrings: [String] { allCases.map { value in value.rawValue } }
}
