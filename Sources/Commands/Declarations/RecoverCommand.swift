package import Arguments

/// `recorder recover`
package struct RecoverCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "recover", abstract: "Close the sessions whose recorder was killed.",
    discussion: """
      Every command does this for the sessions that it knows were being recorded; this one looks at all sessions. What \
      was half written is cut off, the length and the index of keyframes are added to the media file, all is sealed, and \
      the session is marked interrupted. Nothing else is changed or deleted, a recording in progress is left alone, and \
      a session that cannot be closed keeps none of the others from it.
      """,
    examples: [.init("recorder recover", "Close them and say which they are.")])

  @OptionGroup package var output: OutputOptions

  package init() {}
}
