package import Arguments

/// `recorder sources`
package struct SourcesCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "sources", abstract: "List what can be recorded: monitors, windows, sound.",
    discussion: """
      Each row begins with what record takes for it: SOURCE for a picture, DEVICE for --microphone and --app-audio. \
      Windows are listed from the topmost down.
      """,
    examples: [
      .init("recorder sources", "What there is on this desktop."),
      .init("recorder sources --json", "As JSON, for scripts."),
    ])

  @Option(help: ArgumentHelp("The X display; $DISPLAY when absent.", valueName: "NAME"))
  package var display: String?
  @OptionGroup package var output: OutputOptions

  package init() {}
}
