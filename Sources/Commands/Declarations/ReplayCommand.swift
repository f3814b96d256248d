package import Arguments
package import SessionModel

/// `recorder replay`
package struct ReplayCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Play a session in a window.",
    examples: [
      .init("recorder replay last", "The newest session."),
      .init("recorder replay last --at 1:30 --speed 2", "From a minute and a half on, twice as fast."),
    ])

  @OptionGroup package var session: SessionArgument
  @Option(help: ArgumentHelp("Begin at this time.", valueName: "T")) package var at: TimePosition?
  @Option(help: ArgumentHelp("How fast it plays; 1 is as recorded.", valueName: "X")) package var speed = 1.0
  @Option(help: ArgumentHelp("How loud it plays, from 0 to 1.", valueName: "V")) package var volume = 1.0

  package init() {}
}
