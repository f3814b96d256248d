package import Arguments
package import SessionModel

/// `recorder search`
package struct SearchCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find the moments at which words were in a window's title, a title, a tag or a note.",
    discussion: """
      A moment is found when all the words are in it; the last may be the beginning of a word. What fits best comes first, \
      and what a person wrote counts for more; of words that over 20,000 moments have, the newest come first. Each hit is \
      printed with the command that replays it.

      A WHEN is RFC 3339 (2026-11-30T14:03:22Z), a date (2026-11-30), a date and a time (2026-11-30 14:03), or how long \
      ago (90m, 2h, 3d).
      """,
    examples: [
      .init("recorder search invoice 2026", "Both words."),
      .init("recorder search login --since 2d --window firefox", "In Firefox, in the last two days."),
    ])

  @Argument(help: "The words to find.") package var words: [String]
  @Option(help: ArgumentHelp("Only moments at or after this time.", valueName: "WHEN"))
  package var since: PointInTime?
  @Option(help: ArgumentHelp("Only moments before this time.", valueName: "WHEN"))
  package var until: PointInTime?
  @Option(help: ArgumentHelp("Only sessions with this tag; repeated, with all of them.", valueName: "TAG"))
  package var tag: [String] = []
  @Option(help: ArgumentHelp("Only moments whose window's title or class has this text.", valueName: "TEXT"))
  package var window: String?
  @Option(help: ArgumentHelp("Show at most so many.", valueName: "N"))
  package var limit = 50
  @OptionGroup package var output: OutputOptions

  package init() {}
  package func validate() throws(RecorderError) { try requirePositive(limit, "--limit") }
}
