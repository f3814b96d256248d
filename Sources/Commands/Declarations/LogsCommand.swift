package import Arguments
package import SessionModel

extension LogEntry.Category: ExpressibleByArgument {}
extension LogEntry.Level: ExpressibleByArgument {}

/// `recorder logs`
package struct LogsCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "logs", abstract: "Show what a recorder noticed about its own work.",
    discussion: """
      Without a session it is the recording that runs, else the newest session. A line has the time of day, the \
      session's time, how much it matters, who noticed it, and what differs from other lines that say the same. What is \
      said again within a minute is counted.

      Under systemd the same lines are in the journal: journalctl RECORDER_SESSION=ID, or RECORDER_CATEGORY=capture.
      """,
    examples: [
      .init("recorder logs", "The recording that runs."),
      .init("recorder logs last --level warning", "What went wrong in the newest session."),
      .init("recorder logs --category audio --follow", "The sound's lines as they come, until the recording ends."),
    ])

  @Argument(
    help: ArgumentHelp("The session: an id, the beginning of one, a recording's name, or last.", valueName: "SESSION"))
  package var session: SessionName?
  @Option(help: ArgumentHelp("Only lines of this part; may be given more than once.", valueName: "PART"))
  package var category: [LogEntry.Category] = []
  @Option(help: ArgumentHelp("Only lines that matter as much, or more.", valueName: "LEVEL"))
  package var level = LogEntry.Level.debug
  @Flag(help: "Go on with what is added, until the recording ends.") package var follow = false
  @OptionGroup package var output: OutputOptions

  package init() {}
}
