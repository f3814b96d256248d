package import Arguments
package import SessionModel

/// `recorder list`
package struct ListCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the sessions, the newest first.",
    examples: [
      .init("recorder list --limit 10", "The ten newest."),
      .init("recorder list --json", "One JSON object a line."),
    ])

  @Option(help: ArgumentHelp("Show at most so many.", valueName: "N"))
  package var limit: Int?
  @Option(help: ArgumentHelp("Show those with this tag alone.", valueName: "TAG"))
  package var tag: String?
  @OptionGroup package var output: OutputOptions

  package init() {}
  package func validate() throws(RecorderError) { try requirePositive(limit, "--limit") }
}
