package import Arguments
package import SessionModel

/// `recorder generate`: what the repository's generated files are written by.
package struct GenerateCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Write the manual's pages or the shells' completions.",
    subcommands: [GenerateManualCommand.self, GenerateCompletionsCommand.self], shouldDisplay: false)
  package init() {}
}

/// `recorder generate man`
package struct GenerateManualCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "man", abstract: "Write the manual's pages.", shouldDisplay: false)
  @Argument(help: "An existing folder.") package var folder: FilePath
  package init() {}
}

/// `recorder generate completions`
package struct GenerateCompletionsCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "completions", abstract: "Write the completions for bash, zsh and fish.", shouldDisplay: false)
  @Argument(help: "An existing folder.") package var folder: FilePath
  package init() {}
}
