package import SessionModel

/// The key of the configuration that gives an argument its default.
package struct SettingBinding: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The key: `video.fps`.
  package let key: String
  /// Words that stand before the key's value on a command line: `started` for the key `on.started` of `--on started CMD`.
  package let words: [ArgumentText]

  /// Makes the binding to `key`.
  package init(_ key: String, words: [String] = []) {
    (self.key, self.words) = (key, words.map { word in ArgumentText(word) })
  }
  package init(stringLiteral value: String) { self.init(value) }
}

/// What the configuration says, by key, as the parser takes it: values that `ConfigurableArgument.check` took.
package struct ConfiguredValues: Sendable {
  private let values: [String: [ArgumentText]]

  /// Makes the values of each key, of which an argument that does not repeat takes the last.
  package init(_ values: [String: [ArgumentText]] = [:]) { self.values = values }

  /// Gives `bindings` their defaults, as if they stood first on the command line.
  func give(to bindings: [ArgumentBinding]) throws(RecorderError) {
    for binding in bindings {
      for setting in binding.definition.settings {
        for value in values[setting.key] ?? [] { try binding.property.take(setting.words + [value], inverted: false) }
      }
    }
  }
}

/// An argument of a command that the configuration can give a default.
package struct ConfigurableArgument: Sendable {
  /// The key.
  package let setting: SettingBinding
  /// The argument.
  package let definition: ArgumentDefinition
  /// The words of its command, the program's name left out.
  package let command: String
  private let type: any CommandDeclaration.Type

  /// What stands for the key's value.
  package var valueName: String {
    definition.takesValue ? definition.valueNames[setting.words.count...].joined(separator: " ") : "true|false"
  }

  /// Says whether the key can have the value `text`: whether the command would take it with nothing else.
  /// - Throws: `RecorderError` (usage) with one sentence.
  package func check(_ text: String) throws(RecorderError) {
    let command = type.init()
    let bindings = ArgumentBinding.all(of: command).filter { $0.definition.settings.contains(setting) }
    try ConfiguredValues([setting.key: [ArgumentText(text)]]).give(to: bindings)
    try ArgumentBinding.validate(command)
  }

  /// Those of all commands of the table `root`, in the order of the commands and their arguments.
  package static func all(of root: any CommandDeclaration.Type) -> [ConfigurableArgument] { all(of: root, path: []) }

  private static func all(of type: any CommandDeclaration.Type, path: [String]) -> [ConfigurableArgument] {
    let own = ArgumentBinding.all(of: type.init()).flatMap { binding in
      binding.definition.settings.map { setting in
        ConfigurableArgument(
          setting: setting, definition: binding.definition, command: path.joined(separator: " "), type: type)
      }
    }
    return own
      + type.configuration.subcommands.flatMap { command in
        all(of: command, path: path + [command.configuration.commandName])
      }
  }
}

extension CommandDeclaration {
  /// Whether the configuration gives any of its arguments a default.
  package var isConfigurable: Bool {
    ArgumentBinding.all(of: self).contains { binding in !binding.definition.settings.isEmpty }
  }
}
