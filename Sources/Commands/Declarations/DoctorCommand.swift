package import Arguments

/// `recorder doctor`
package struct DoctorCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Say what this machine lacks for recording, and what to do about it.",
    discussion: """
      Looks at the X server and its extensions, the window manager, sound, encoders, the archive's disk, the clocks and \
      the system's limits. Each line begins with fine; with note, when recordings are made another way without it; or with \
      problem, when nothing can be recorded, and the command then ends with 69.
      """,
    examples: [
      .init("recorder doctor", "What is there, what is missing, and the remedy."),
      .init("recorder doctor --json", "As JSON, for scripts."),
    ])

  @Option(help: ArgumentHelp("The X display; $DISPLAY when absent.", valueName: "NAME"))
  package var display: String?
  @OptionGroup package var output: OutputOptions

  package init() {}
}
