package import SessionModel

/// Reads a command line by the table of commands.
package struct CommandParser: Sendable {
  /// What a command line asked for.
  package enum Outcome {
    /// A command, its properties set.
    case run(any CommandDeclaration)
    /// The help of this command.
    case help(CommandDescription)
    /// The version.
    case version
    /// A group was named, and nothing in it.
    case incomplete(CommandDescription)
  }

  private let root: any CommandDeclaration.Type

  /// Makes a parser of the table whose root is `root`.
  package init(_ root: any CommandDeclaration.Type) { self.root = root }

  /// What `arguments`, the program's name left out, ask for.
  /// - Parameter configured: the defaults that the configuration gives.
  /// - Throws: `RecorderError` (usage) with one sentence.
  package func parse(
    _ arguments: [ArgumentText], configured: ConfiguredValues = ConfiguredValues()
  ) throws(RecorderError) -> Outcome {
    var (type, path, rest) = (root, [String](), arguments[...])
    while !type.configuration.subcommands.isEmpty {
      guard let word = rest.popFirst() else { return .incomplete(CommandDescription(type, under: path)) }
      switch word.string {
      case "--help", "-h": return .help(CommandDescription(type, under: path))
      case "--version" where path.isEmpty: return .version
      case "help" where path.isEmpty: return try help(rest)
      default:
        path.append(type.configuration.commandName)
        type = try command(word, in: type, path: path)
      }
    }
    let command = type.init()
    var scanner = try ArgumentScanner(
      command, path: path + [type.configuration.commandName], configured: configured)
    guard try scanner.scan(rest) else { return .help(CommandDescription(type, under: path)) }
    try ArgumentBinding.validate(command)
    return .run(command)
  }

  /// The command of `parent`, which the words `path` call, that `word` names.
  private func command(
    _ word: ArgumentText, in parent: any CommandDeclaration.Type, path: [String]
  ) throws(RecorderError) -> any CommandDeclaration.Type {
    let commands = parent.configuration.subcommands
    if let found = commands.first(where: { type in type.configuration.commandName == word.string }) { return found }
    let group = path.dropFirst().joined(separator: " ")
    let seeHelp = "See \(path.joined(separator: " ")) --help."
    if word.bytes.first == UInt8(ascii: "-") {
      throw RecorderError(
        .usage, "The option \"\(word)\" stands before the command.", hint: "Options follow it. \(seeHelp)")
    }
    let names = commands.compactMap { type in
      type.configuration.shouldDisplay ? type.configuration.commandName : nil
    }
    throw RecorderError(
      .usage, group.isEmpty ? "There is no command \"\(word)\"." : "\(group) has no command \"\(word)\".",
      hint: suggestion(for: word, among: names) ?? seeHelp)
  }

  /// The help of the command that `words` name.
  private func help(_ words: ArraySlice<ArgumentText>) throws(RecorderError) -> Outcome {
    var (type, path) = (root, [String]())
    for word in words where !type.configuration.subcommands.isEmpty {
      path.append(type.configuration.commandName)
      type = try command(word, in: type, path: path)
    }
    return .help(CommandDescription(type, under: path))
  }
}
