package import Arguments
package import SessionModel

/// `recorder redact`
package struct RedactCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "redact", abstract: "Take a stretch out of a session for good: picture, sound, words and notes.",
    discussion: """
      Every picture that stood on the screen at a moment of the stretch becomes black, from when it appeared until the \
      first that appeared after the stretch. The sound of all tracks is silent in it. Window titles, markers, lines of \
      the recorded command, warnings, notes and lines of the log from it are left out, and the index forgets them. The \
      rest stays as it was, at its times; only the pictures from there to the next keyframe are encoded again. The \
      session keeps its id.

      It is done openly: the manifest, an event and audit.ndjson in the archive say who took out what, when and why, and \
      which head the chain had before. What is left is sealed by a new chain that begins with that head; recorder verify \
      holds the files against the new one. A head that was kept elsewhere before no longer fits, and verify says so.

      Whatever ends the program meanwhile, the session is there whole, either with the stretch or without it; the next \
      command takes the other away.

      What redact does not reach: exports, frames, backups, snapshots and other copies; what the title, the tags, notes \
      about all of the session and words from before the stretch say; and blocks of a disk that it has yet to use again, \
      as flash and file systems that copy on write keep them. On an encrypted disk those are unreadable without the key.
      """,
    examples: [
      .init("recorder redact last --from 1:12 --to 1:20 --reason \"a password was typed\"", "Eight seconds.")
    ])

  @OptionGroup package var session: SessionArgument
  @Option(help: ArgumentHelp("The first moment that goes.", valueName: "T")) package var from: TimePosition
  @Option(help: ArgumentHelp("The first moment that stays again.", valueName: "T")) package var to: TimePosition
  @Option(help: ArgumentHelp("Why; kept with the session.", valueName: "TEXT")) package var reason: String?

  package init() {}
}
