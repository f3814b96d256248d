package import Arguments
package import SessionModel

/// `recorder export`
package struct ExportCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a session, or a part of it, as one MKV or MP4 file.",
    discussion: """
      The packets are copied where the cut allows it: at a keyframe. Otherwise, and with --exact, the part is decoded \
      and encoded again, so that it begins at the very frame. The file's name says which format: .mkv or .mp4; MP4 is \
      written as browsers play it, H.264 in 4:2:0 and AAC. The last picture stands until the part's end. A part in which \
      the picture took another size (record --on-resize segment) is encoded again with the largest width and height in \
      it; each picture is in the middle as large as it was, with black around it.
      """,
    examples: [
      .init("recorder export last -o last.mp4", "All of the newest session."),
      .init("recorder export last --from 1:00 --to 1:30 --exact -o cut.mkv", "Half a minute, exactly."),
    ])

  @OptionGroup package var session: SessionArgument
  @Option(help: ArgumentHelp("Begin at this time.", valueName: "T")) package var from: TimePosition?
  @Option(help: ArgumentHelp("End at this time.", valueName: "T")) package var to: TimePosition?
  @Flag(help: "Cut at the very frame, encoding again.") package var exact = false
  @Option(
    name: [.customShort("o"), .long], help: ArgumentHelp("The file to write.", valueName: "FILE"))
  package var output: FilePath
  @Flag(help: "Replace the file if it exists.") package var force = false

  package init() {}
}
