package import Arguments
package import SessionModel

/// `recorder config`
package struct ConfigCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show and change the defaults of the options.",
    subcommands: [
      ConfigGetCommand.self, ConfigSetCommand.self, ConfigUnsetCommand.self, ConfigListCommand.self,
      ConfigPathCommand.self, ConfigCheckCommand.self,
    ])
  package init() {}
}

/// A key of the configuration, as a person names it; the command that takes it looks it up.
package struct SettingName: RequirableArgument, Hashable {
  /// The name.
  package var text: String
  package init(argument: ArgumentText) throws(RecorderError) { text = try String(argument: argument) }
  private init(text: String) { self.text = text }
  package static let unset = SettingName(text: "")
}

/// `recorder config get`
package struct ConfigGetCommand: ConfigurationCommand {
  package static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print what a key is set to.",
    discussion: """
      The value is that of the most important layer that sets the key, or the built-in default; nothing is printed when \
      there is neither. Of a key that may be set more than once each value is a line.
      """,
    examples: [.init("recorder config get video.fps", "Frames a second, when no --fps is given.")])

  @Argument(help: ArgumentHelp("The key.", valueName: "KEY")) package var key: SettingName
  package init() {}
}

/// `recorder config set`
package struct ConfigSetCommand: ConfigurationCommand {
  package static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set a key in the user's own file.",
    discussion: """
      The line is changed or added; all else in the file, comments too, stays as it is. A key that may be set more than \
      once takes all VALUEs in place of those before, or with --add beside them. A value that no command would take is \
      refused, and so is a key that does not exist. An empty VALUE takes back what the system's files say.
      """,
    examples: [
      .init("recorder config set video.fps 15", "Record 15 frames a second from now on."),
      .init("recorder config set --add exclude class=KeePassXC", "Never show the windows of KeePassXC."),
    ])

  @Argument(help: ArgumentHelp("The key.", valueName: "KEY")) package var key: SettingName
  @Argument(help: ArgumentHelp("What it is set to.", valueName: "VALUE")) package var values: [String]
  @Flag(help: "Keep the values that the file gives the key, and add these.") package var add = false
  package init() {}
}

/// `recorder config unset`
package struct ConfigUnsetCommand: ConfigurationCommand {
  package static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Take a key out of the user's own file.",
    discussion:
      "What the system's files say of it counts again, or the built-in default. It takes a key that does not exist, too.",
    examples: [.init("recorder config unset video.fps", "As many frames a second as before.")])

  @Argument(help: ArgumentHelp("The key.", valueName: "KEY")) package var key: SettingName
  package init() {}
}

/// `recorder config list`
package struct ConfigListCommand: ConfigurationCommand {
  package static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List every key with its value and where that came from.",
    discussion: """
      The origin is default, the file and line, or the environment variable. recorder.conf(5) tells of the files and \
      layers.
      """,
    examples: [
      .init("recorder config list", "All keys."),
      .init("recorder config list --json", "One JSON object a value."),
    ])

  @OptionGroup package var output: OutputOptions
  package init() {}
}

/// `recorder config path`
package struct ConfigPathCommand: ConfigurationCommand {
  package static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print the path of the user's own file, whether it exists or not.",
    examples: [.init("recorder config path", "The file that recorder config set writes.")])
  package init() {}
}

/// `recorder config check`
package struct ConfigCheckCommand: ConfigurationCommand {
  package static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say what is wrong with the configuration, with file and line.",
    discussion: """
      It ends with 78 when something is. Until that is mended, record, start and gc do nothing; every other command goes \
      on without what is wrong.
      """,
    examples: [.init("recorder config check", "Every problem, one a line.")])

  @OptionGroup package var output: OutputOptions
  package init() {}
}
