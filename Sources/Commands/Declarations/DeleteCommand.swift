package import Arguments

/// `recorder delete`
package struct DeleteCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete sessions: video, sound, events, notes and index.",
    discussion: "It asks nothing and cannot be undone. A session that is being recorded is not deleted.",
    examples: [.init("recorder delete 20261130T021533Z-k3x9", "One session.")])

  @Argument(help: ArgumentHelp("The sessions.", valueName: "SESSION")) package var sessions: [SessionName]

  package init() {}
}
