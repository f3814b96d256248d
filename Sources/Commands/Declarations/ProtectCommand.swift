package import Arguments

/// `recorder protect`
package struct ProtectCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "protect", abstract: "Keep a session: neither gc nor delete takes it.",
    examples: [.init("recorder protect last --reason \"case 4711\"", "Say why; show tells it.")])

  @OptionGroup package var session: SessionArgument
  @Option(help: ArgumentHelp("Why it is kept.", valueName: "TEXT")) package var reason: String?

  package init() {}
}

/// `recorder unprotect`
package struct UnprotectCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "unprotect", abstract: "Let a session be deleted again.",
    examples: [.init("recorder unprotect last", "The newest one.")])

  @OptionGroup package var session: SessionArgument

  package init() {}
}
