package import Arguments
package import SessionModel

/// `recorder note`
package struct NoteCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "note", abstract: "Write a note about a session or a moment of it.",
    examples: [.init("recorder note last --at 1:30 \"Here the total is wrong\"", "About one moment.")])

  @OptionGroup package var session: SessionArgument
  @Argument(help: "The note.") package var text: String
  @Option(help: ArgumentHelp("The moment it is about.", valueName: "T")) package var at: TimePosition?

  package init() {}
}
