package import Arguments
package import SessionModel

/// `recorder verify`
package struct VerifyCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Certify that a session is as it was recorded, and complete.",
    discussion: """
      Every file is held against the chain of hashes that sealed it, the manifest and the events against their own \
      rules, and every packet of picture and sound is opened; with --deep it is decoded too. The first piece that was \
      altered is named with its time.

      With --all the lines of audit.ndjson, which say what was deleted or taken out, are held against one another, too.

      Exit code 65 means altered or damaged, 76 that nothing was altered but something is missing: the recorder was \
      killed, or the session is of a version that sealed nothing. A session that is being recorded is looked at as far \
      as it is sealed.

      What a chain without a kept head does not prove: who can write the files can make all of them anew, chain \
      included, or put an older state back. Keep the head that record prints at the end on another machine, and give \
      it to --head. What recovery sealed after a kill may have been altered between the two.
      """,
    examples: [
      .init("recorder verify last", "The newest session."),
      .init("recorder verify --all --json", "All sessions, one JSON object a line."),
      .init(
        "recorder verify 20261130T0215 --head 97d0c3b4e4b1d0e6ad6dd4a1c2f0b9a8e1f7c6d5b4a3928170615243f4e5d6c7",
        "Against the head that was kept."),
    ])

  @Argument(help: ArgumentHelp("The session: an id, the beginning of one, or last.", valueName: "SESSION"))
  package var session: SessionName?
  @Flag(help: "Look at all sessions.") package var all = false
  @Flag(help: "Decode every picture and all sound.") package var deep = false
  @Option(help: ArgumentHelp("The head that record printed when the session ended.", valueName: "HASH"))
  package var head: String?
  @OptionGroup package var output: OutputOptions

  package init() {}
  package func validate() throws(RecorderError) {
    guard all != (session != nil) else {
      throw RecorderError(.usage, "verify takes one session or --all.", hint: "Write recorder verify last, say.")
    }
    guard let head else { return }
    guard !all else {
      throw RecorderError(.usage, "--head is the head of one session.", hint: "Name the session in place of --all.")
    }
    guard head.utf8.count == 64, head.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
      throw RecorderError(
        .usage, "\"\(head.printable(atMost: 70))\" is no head.",
        hint: "It is the 64 characters that record printed after \"Sealed with\".")
    }
  }
}
