package import Arguments

/// `recorder start`
package struct StartCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Start a recording that goes on after this command and its shell have ended.",
    discussion: """
      It returns when the recording runs, with the session's id on standard output, or when it cannot, with the reason \
      and the exit code that recorder record would have ended with. SOURCE and the options are those of recorder record.

      recorder stop ends it. With the --name of a program that has the recorder built in and records nothing, that program \
      begins to, as it has it.
      """,
    examples: [
      .init("recorder start --app-audio", "Record the display with its sound, in the background."),
      .init("recorder start --name demo window:active", "Under a name, to be stopped by recorder stop demo."),
    ])

  @OptionGroup package var recording: RecordingArguments

  package init() {}
}
