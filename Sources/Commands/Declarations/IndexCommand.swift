package import Arguments

/// `recorder index`
package struct IndexCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Look after the search index.", subcommands: [IndexRebuildCommand.self])
  package init() {}
}

/// `recorder index rebuild`
package struct IndexRebuildCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "rebuild", abstract: "Make the search index anew from the archive.",
    discussion: """
      The index is a cache: everything in it comes from the sessions, and nothing is lost when it is deleted, \
      damaged or rebuilt.
      """,
    examples: [.init("recorder index rebuild", "Make it anew.")])
  package init() {}
}
