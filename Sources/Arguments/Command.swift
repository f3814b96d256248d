/// What a command is called, what it does and how it is used.
package struct CommandConfiguration: Sendable {
  /// One command line with what it does.
  package struct Example: Hashable, Sendable {
    /// What is typed, `recorder` included.
    package var command: String
    /// What it does, as a sentence.
    package var does: String
    /// Makes an example.
    package init(_ command: String, _ does: String) { (self.command, self.does) = (command, does) }
  }

  /// The word on the command line.
  package var commandName: String
  /// One sentence.
  package var abstract: String
  /// More about it: paragraphs, an empty line between two.
  package var discussion: String
  /// Command lines that show it.
  package var examples: [Example]
  /// The commands of a group; a command with none of them does something itself.
  package var subcommands: [any CommandDeclaration.Type]
  /// Whether help, manual and completions know it.
  package var shouldDisplay: Bool

  /// Makes a configuration.
  package init(
    commandName: String, abstract: String, discussion: String = "", examples: [Example] = [],
    subcommands: [any CommandDeclaration.Type] = [], shouldDisplay: Bool = true
  ) {
    (self.commandName, self.abstract, self.discussion) = (commandName, abstract, discussion)
    (self.examples, self.subcommands, self.shouldDisplay) = (examples, subcommands, shouldDisplay)
  }
}

/// A command's name, words and arguments, without what it does: parsing, help, manual and completions need no more.
package protocol CommandDeclaration: ParsableArguments, SendableMetatype {
  /// Its name and words.
  static var configuration: CommandConfiguration { get }
}

/// A command that this program can run.
package protocol Command: CommandDeclaration {
  /// Does it. Data goes to standard output, everything else to standard error.
  /// - Throws: `RecorderError`, which ends the program with its sentence and exit code.
  mutating func run() async throws
}
