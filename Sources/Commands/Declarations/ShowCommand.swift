package import Arguments

/// `recorder show`
package struct ShowCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all that is known about a session.",
    examples: [.init("recorder show last", "The newest session.")])

  @OptionGroup package var session: SessionArgument
  @OptionGroup package var output: OutputOptions

  package init() {}
}
