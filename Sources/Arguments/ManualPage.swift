import SessionModel

/// A page of the manual in mdoc(7), written from the command table.
package struct ManualPage: Sendable {
  /// The file's name: `recorder-record.1`.
  package let fileName: String
  /// The page.
  package let text: String

  /// Makes the page `fileName` of `text`.
  package init(fileName: String, text: String) { (self.fileName, self.text) = (fileName, text) }

  /// What the first page says beside the command table.
  package struct Supplement: Sendable {
    /// The day the manual was last worded anew, as mdoc writes it (`November 30, 2026`).
    package var date: String
    /// Environment variables with their sentences.
    package var environment: [(name: String, sentence: String)]
    /// Files with their sentences.
    package var files: [(path: String, sentence: String)]
    /// Other pages worth reading, as `name` and `section`.
    package var seeAlso: [(name: String, section: Int)]

    /// Makes a supplement.
    package init(
      date: String, environment: [(name: String, sentence: String)], files: [(path: String, sentence: String)],
      seeAlso: [(name: String, section: Int)]
    ) {
      (self.date, self.environment, self.files, self.seeAlso) = (date, environment, files, seeAlso)
    }
  }

  /// The pages of `root`: the program's own, then one for each command that does something.
  package static func all(of root: CommandDescription, supplement: Supplement) -> [ManualPage] {
    [programPage(root, supplement)] + root.leaves.map { command in commandPage(command, root, supplement) }
  }

  private static func programPage(_ root: CommandDescription, _ supplement: Supplement) -> ManualPage {
    var text = header(root, supplement)
    text += ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar arguments\n.Nm\n.Fl -help\n.Nm\n.Fl -version\n"
    text += description(root)
    text += "The commands are:\n"
    text += list(root.leaves.map { command in (".Cm \(command.words)", command.configuration.abstract) })
    text += ".Pp\nEach has a page of its own, and its help with\n.Fl -help .\n"
    text += ".Sh ENVIRONMENT\n" + list(supplement.environment.map { (".Ev \($0.name)", $0.sentence) })
    text += ".Sh FILES\n" + list(supplement.files.map { (".Pa \(escaped($0.path))", $0.sentence) })
    text += ".Sh EXIT STATUS\n" + list(ExitCode.allCases.map { code in (".Li \(code.rawValue)", code.meaning) })
    text += examples(root)
    let pages = root.leaves.map { command in (name: command.path.joined(separator: "-"), section: 1) }
    text += seeAlso(pages + supplement.seeAlso)
    return ManualPage(fileName: "\(root.name).1", text: text)
  }

  private static func commandPage(
    _ command: CommandDescription, _ root: CommandDescription, _ supplement: Supplement
  ) -> ManualPage {
    let name = command.path.joined(separator: "-")
    var text = header(command, supplement)
    text += ".Sh SYNOPSIS\n.Nm \(root.name)\n.Cm \(command.words)\n"
    text += command.synopsisOrder.map { argument in ".\(argument.synopsisMacros)\n" }.joined()
    text += description(command)
    text += "The arguments are:\n"
    text += list(command.synopsisOrder.map { (".\($0.termMacros)", $0.sentence) })
    text += ".Sh EXIT STATUS\nAs\n.Xr \(root.name) 1\nlists them.\n"
    text += examples(command) + seeAlso([(root.name, 1)] + supplement.seeAlso)
    return ManualPage(fileName: "\(name).1", text: text)
  }

  private static func header(_ command: CommandDescription, _ supplement: Supplement) -> String {
    let name = command.path.joined(separator: "-")
    var abstract = command.configuration.abstract
    if abstract.hasSuffix(".") { abstract.removeLast() }
    return """
      .\\" Written by "recorder generate man"; change the command table instead.
      .Dd \(supplement.date)
      .Dt \(name.uppercased()) 1
      .Os recorder \(recorderVersion)
      .Sh NAME
      .Nm \(name)
      .Nd \(escaped(abstract.prefix(1).lowercased() + abstract.dropFirst()))

      """
  }

  private static func description(_ command: CommandDescription) -> String {
    let (abstract, discussion) = (command.configuration.abstract, command.configuration.discussion.paragraphs)
    let paragraphs = discussion.isEmpty ? [abstract] : discussion
    return ".Sh DESCRIPTION\n" + paragraphs.map { text in escaped(text) + "\n" }.joined(separator: ".Pp\n") + ".Pp\n"
  }

  private static func examples(_ command: CommandDescription) -> String {
    guard !command.configuration.examples.isEmpty else { return "" }
    let blocks = command.configuration.examples.map { example in
      "\(escaped(example.does))\n.Pp\n.Dl \(escaped(example.command).quotedForMacro)\n"
    }
    return ".Sh EXAMPLES\n" + blocks.joined(separator: ".Pp\n")
  }

  private static func seeAlso(_ pages: [(name: String, section: Int)]) -> String {
    let sorted = pages.sorted { ($0.section, $0.name) < ($1.section, $1.name) }
    return ".Sh SEE ALSO\n" + sorted.map { ".Xr \($0.name) \($0.section)" }.joined(separator: " ,\n") + "\n"
  }

  private static func list(_ items: [(term: String, sentence: String)]) -> String {
    ".Bl -tag -width Ds\n"
      + items.map { item in ".It \(item.term.dropFirst())\n\(escaped(item.sentence))\n" }.joined() + ".El\n"
  }

  /// `text` as a line of mdoc that shows exactly it: no escapes, no requests, and hyphens that can be copied.
  package static func escaped(_ text: String) -> String {
    let escaped = text.map { character in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "\n": " "
      default: String(character)
      }
    }.joined()
    // mdoc begins each sentence on a line of its own, to space it.
    let lines = escaped.split(separator: ". ")
    return lines.enumerated().map { index, line in
      let guarded = line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : String(line)
      return index < lines.count - 1 ? guarded + "." : guarded
    }.joined(separator: "\n")
  }
}

extension CommandDescription {
  /// The words after the program's name.
  var words: String { path.dropFirst().joined(separator: " ") }
}

extension String {
  /// The paragraphs between empty lines.
  var paragraphs: [String] { split(separator: "\n\n").map { paragraph in String(paragraph) } }

  /// The text as one argument of a macro.
  fileprivate var quotedForMacro: String {
    "\"" + map { character in character == "\"" ? "\"\"" : String(character) }.joined() + "\""
  }
}

extension ArgumentDefinition {
  /// The term of a list: every spelling, and the value.
  fileprivate var termMacros: String {
    if kind == .positional { return "Ar \(valueName)" }
    func names(_ spellings: [String]) -> [String] { spellings.map { spelling in "Fl \(spelling.dropFirst())" } }
    let plain = names(plainSpellings).joined(separator: " , ") + valueMacros
    return ([plain] + names(inverseSpellings)).joined(separator: " , ")
  }

  /// How it stands in the synopsis.
  fileprivate var synopsisMacros: String {
    let repeated = isRepeating ? " ..." : ""
    if kind == .positional { return (isRequired ? "Ar \(valueName)" : "Op Ar \(valueName)") + repeated }
    // Of a flag that is on by itself the inverse is what one writes.
    let spelling = builtIn == "true" ? inverseSpellings.first ?? plainSpellings[0] : plainSpellings[0]
    let word = "Fl \(spelling.dropFirst())\(valueMacros)"
    return (isRequired ? word : "Op \(word)") + repeated
  }

  private var valueMacros: String {
    switch kind {
    case .flag, .positional: ""
    case .option(valueIsOptional: true): " Ns Op = Ns Ar \(valueName)"
    case .option(valueIsOptional: false): " Ar \(valueName)"
    }
  }
}
