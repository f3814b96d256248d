package import Arguments

/// The root of the command table.
package struct RecorderCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "recorder",
    abstract: "Record the desktop with its sound, keep every session, and find the moment again.",
    discussion: """
      Sessions are kept in an archive: $RECORDER_ARCHIVE, or the archive that the configuration names, or \
      $XDG_DATA_HOME/recorder, or ~/.local/share/recorder.

      A session is named by its id, by the beginning of its id as long as only one begins so, or by "last", "last~1" \
      for the one before it, and so on. A time T is seconds from the session's start (90, 1:30, 1:30.5), a time of \
      day on the session's clock (14:03:22), or RFC 3339 (2026-11-30T14:03:22Z).
      """,
    examples: [
      .init("recorder record", "Record the whole display until Ctrl-C."),
      .init("recorder search invoice", "Find the moments at which a window spoke of an invoice."),
      .init("recorder replay last", "Look at the newest session."),
    ],
    subcommands: [
      RecordCommand.self, StartCommand.self, StopCommand.self, StatusCommand.self, MarkCommand.self, PauseCommand.self,
      ResumeCommand.self, MuteCommand.self, UnmuteCommand.self, GainCommand.self, SplitCommand.self, SaveCommand.self,
      PublishCommand.self, LogsCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self,
      ReplayCommand.self, FrameCommand.self, ExportCommand.self, TagCommand.self, NoteCommand.self,
      VerifyCommand.self, RecoverCommand.self, ProtectCommand.self, UnprotectCommand.self, RedactCommand.self,
      DeleteCommand.self, GcCommand.self, IndexCommand.self, SourcesCommand.self, DoctorCommand.self,
      ConfigCommand.self,
      GenerateCommand.self,
    ])
  package init() {}
}
