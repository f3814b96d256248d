/// A command, and by it all below, as plain values: what help, manual and completions are written from.
package struct CommandDescription: Sendable {
  /// The words that call it, the program's name first.
  package let path: [String]
  /// Its name and words.
  package let configuration: CommandConfiguration
  /// Its own arguments, then those that every command has.
  package let arguments: [ArgumentDefinition]
  private let children: [any CommandDeclaration.Type]

  /// Makes the description of `type` and all below it.
  package init(_ type: any CommandDeclaration.Type, under parents: [String] = []) {
    let path = parents + [type.configuration.commandName]
    let own = ArgumentBinding.all(of: type.init()).map { binding in binding.definition }
    self.path = path
    configuration = type.configuration
    arguments = own + [.help] + (parents.isEmpty ? [.version] : [])
    children = type.configuration.subcommands.filter { type in type.configuration.shouldDisplay }
  }

  /// The commands of a group that are shown; described when they are asked for, since most that want one want no other.
  package var subcommands: [CommandDescription] { children.map { type in CommandDescription(type, under: path) } }

  /// All of them as they stand on a command line: what follows `--` last.
  package var synopsisOrder: [ArgumentDefinition] {
    positionals.filter { !$0.followsTerminator } + options + positionals.filter(\.followsTerminator)
  }
  /// The arguments that go by their place.
  package var positionals: [ArgumentDefinition] { arguments.filter { argument in argument.kind == .positional } }
  /// The options and flags.
  package var options: [ArgumentDefinition] { arguments.filter { argument in argument.kind != .positional } }
  /// Whether it only holds commands.
  package var isGroup: Bool { !configuration.subcommands.isEmpty }
  /// The command line's words in one text.
  package var name: String { path.joined(separator: " ") }

  /// This command and all below it that do something themselves, in the order they are declared.
  package var leaves: [CommandDescription] {
    isGroup ? subcommands.flatMap { command in command.leaves } : [self]
  }
}
