/// A name of an option or flag, as a command declares it.
package enum ArgumentName: Hashable, Sendable {
  /// `--` and the property's name, its words joined by hyphens.
  case long
  /// `--` and this name.
  case customLong(String)
  /// `-` and this letter.
  case customShort(Character)
}

/// The words of help about one argument.
package struct ArgumentHelp: Hashable, Sendable, ExpressibleByStringLiteral {
  /// One sentence.
  package var abstract: String
  /// What stands for the value in usage lines, in capitals; nil takes the property's name.
  package var valueName: String?

  /// Makes help of one sentence.
  package init(_ abstract: String, valueName: String? = nil) { (self.abstract, self.valueName) = (abstract, valueName) }
  package init(stringLiteral value: String) { self.init(value) }
}

/// One argument of a command: what parsing, help, manual and completions are made from.
package struct ArgumentDefinition: Hashable, Sendable {
  /// How it stands on the command line.
  package enum Kind: Hashable, Sendable {
    /// `--name`.
    case flag
    /// `--name VALUE`; with an optional value `--name[=VALUE]`.
    case option(valueIsOptional: Bool)
    /// By its place.
    case positional
  }

  /// How it stands on the command line.
  package var kind: Kind
  /// Its long names, without hyphens.
  package var longNames: [String]
  /// Its short names.
  package var shortNames: [Character]
  /// What stands for each word of its value; empty for a flag.
  package var valueNames: [String]
  /// One sentence.
  package var abstract: String
  /// Whether the command cannot do without it.
  package var isRequired: Bool
  /// Whether it takes all that follows `--`, and nothing else.
  package var followsTerminator = false
  /// Whether it may come more than once, each adding to the last.
  package var isRepeating: Bool
  /// The default, when it is worth showing.
  package var defaultDescription: String?
  /// The default as the configuration spells it; nil when there is none.
  package var builtIn: String?
  /// The keys of the configuration that change the default.
  package var settings: [SettingBinding] = []
  /// Whether `--no-` before its name takes back what was said before.
  package var isInvertible = false
  /// Every word its value can be, when they can be counted.
  package var choices: [String]
  /// How a shell completes its value.
  package var completion: CompletionKind

  /// Every spelling of it on a command line, hyphens included: the plain ones, then the inverse ones.
  package var spellings: [String] { plainSpellings + inverseSpellings }

  /// The spellings that give it, hyphens included, short ones first; none when positional.
  package var plainSpellings: [String] {
    shortNames.map { name in "-\(name)" } + longNames.map { name in "--\(name)" }
  }

  /// The spellings that take it back, hyphens included; no value follows them.
  var inverseSpellings: [String] { inverseNames.map { name in "--\(name)" } }

  /// The names that take it back.
  var inverseNames: [String] { isInvertible ? longNames.map { name in "no-\(name)" } : [] }

  /// What stands for its value.
  package var valueName: String { valueNames.joined(separator: " ") }

  /// Its name in sentences: the first long spelling, or the value's name.
  package var displayName: String {
    longNames.first.map { name in "--\(name)" } ?? shortNames.first.map { name in "-\(name)" } ?? valueName
  }

  /// Whether a value follows it.
  package var takesValue: Bool { kind != .flag }
}

/// How a flag is turned off.
package enum FlagInversion: Hashable, Sendable {
  /// By `--no-` before its name.
  case prefixedNo
}

/// The help that every command has, beside its own arguments.
extension ArgumentDefinition {
  /// `-h`, `--help`.
  package static let help = ArgumentDefinition(
    kind: .flag, longNames: ["help"], shortNames: ["h"], valueNames: [], abstract: "Show this help.",
    isRequired: false, isRepeating: false, defaultDescription: nil, choices: [], completion: .none)
  /// `--version`.
  package static let version = ArgumentDefinition(
    kind: .flag, longNames: ["version"], shortNames: [], valueNames: [], abstract: "Show the version.",
    isRequired: false, isRepeating: false, defaultDescription: nil, choices: [], completion: .none)
}

/// Writes a property's Swift name (`_appAudio`) as an option is spelled: `app-audio`.
func optionName(_ label: String) -> String {
  var name = ""
  for character in label.drop(while: { $0 == "_" }) {
    if character.isUppercase { name += "-" }
    name += character.lowercased()
  }
  return name
}
