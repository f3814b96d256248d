package import Arguments

/// `recorder tag`
package struct TagCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "tag", abstract: "Give a session tags, or take them away.",
    examples: [
      .init("recorder tag last bug-4711 checkout", "Two tags."),
      .init("recorder tag last --remove checkout", "Take one away."),
    ])

  @OptionGroup package var session: SessionArgument
  @Argument(help: ArgumentHelp("The tags.", valueName: "TAG")) package var tags: [String]
  @Flag(help: "Take the tags away.") package var remove = false

  package init() {}
}
