package import Arguments
package import SessionModel

/// `recorder frame`
package struct FrameCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "frame", abstract: "Write the picture at one moment of a session as a PNG file.",
    examples: [.init("recorder frame last --at 1:30 -o total.png", "What was on screen after a minute and a half.")])

  @OptionGroup package var session: SessionArgument
  @Option(help: ArgumentHelp("The moment.", valueName: "T")) package var at: TimePosition
  @Option(
    name: [.customShort("o"), .long], help: ArgumentHelp("The file to write.", valueName: "FILE"))
  package var output: FilePath
  @Flag(help: "Replace the file if it exists.") package var force = false

  package init() {}
}
