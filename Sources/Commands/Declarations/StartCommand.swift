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

      With --hold nothing is kept and nothing written: the last minutes are held in memory until recorder save makes a \
      session of them, or recorder publish a recording of the capture. The name by which it is controlled is on standard \
      output then. recorder stop and the keyboard give up what is held and say how much; any other end (a signal to a \
      recorder in the background, a source that is lost, --duration) saves it as a session. kill -9, and a power cut, \
      lose it. --title and --tag are those of each session that is made.
      """,
    examples: [
      .init("recorder start --app-audio", "Record the display with its sound, in the background."),
      .init("recorder start --hold 5m --app-audio", "Hold the last five minutes; recorder save keeps them."),
      .init("recorder start --name demo window:active", "Under a name, to be stopped by recorder stop demo."),
    ])

  @OptionGroup package var recording: RecordingArguments

  package init() {}
}
