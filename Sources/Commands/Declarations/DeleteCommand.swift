package import Arguments

/// `recorder delete`
package struct DeleteCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete sessions: video, sound, events, notes and index.",
    discussion: "It asks nothing and cannot be undone. A session that is being recorded is not deleted. "
      + "audit.ndjson in the archive says who deleted what, when and why.",
    examples: [.init("recorder delete 20261130T021533Z-k3x9", "One session.")])

  @Argument(help: ArgumentHelp("The sessions.", valueName: "SESSION")) package var sessions: [SessionName]
  @Option(help: ArgumentHelp("Why, for audit.ndjson.", valueName: "TEXT")) package var reason: String?

  package init() {}
}
