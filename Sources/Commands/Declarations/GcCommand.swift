package import Arguments
package import SessionModel

/// `recorder gc`
package struct GcCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "gc", abstract: "Delete the oldest sessions that are over the budget or too old.",
    discussion: """
      Sessions that are being recorded, or were protected, are never deleted; nor are those that cannot be read. What \
      is deleted is gone from the disk and from the index. At the end it says when the disk will be full if sessions \
      are recorded as in the last seven days.

      Without --budget or --keep the bounds are storage.budget and storage.keep of the configuration; --no-budget and \
      --no-keep leave those out.

      A SIZE is bytes, or a number with k, M, G or T (thousands).
      """,
    examples: [
      .init("recorder gc --budget 50G --keep 90d", "At most 50 GB, and nothing older than 90 days."),
      .init("recorder gc --budget 50G --dry-run", "Say what would be deleted."),
    ])

  @Option(
    settings: ["storage.budget"],
    help: ArgumentHelp("Delete the oldest until all sessions together have at most so many bytes.", valueName: "SIZE"))
  package var budget: ByteSize?
  @Option(settings: ["storage.keep"], help: ArgumentHelp("Delete those that began longer ago.", valueName: "T"))
  package var keep: TimeSpan?
  @Flag(help: "Delete nothing; say what would be.") package var dryRun = false
  @OptionGroup package var output: OutputOptions

  package init() {}
  package func validate() throws(RecorderError) {
    guard budget == nil, keep == nil else { return }
    throw RecorderError(
      .usage, "gc needs a bound.",
      hint: "Give --budget 50G, --keep 90d, or both, here or as storage.budget and storage.keep.")
  }
}
