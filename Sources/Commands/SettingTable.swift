package import Arguments
package import Configuration
import Glibc
package import SessionModel

extension SettingKey {
  /// Every key: those of the command table, which give an option its default, and those without an option.
  package static let all: [SettingKey] = archive + ofOptions

  /// Where the archive is, for every command.
  private static let archive = [
    SettingKey(
      name: archiveName, abstract: "The archive's folder: an absolute path, or one that begins with ~/.",
      valueName: "FOLDER"
    ) { (text) throws(RecorderError) in
      guard !text.hasPrefix("/"), !text.hasPrefix("~/") else { return }
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" is no absolute path.", hint: "Begin it with / or with ~/.")
    }
  ]

  /// The key of the archive's folder.
  package static let archiveName = "archive"

  private static var ofOptions: [SettingKey] {
    let arguments = ConfigurableArgument.all(of: RecorderCommand.self)
    return arguments.enumerated().compactMap { index, argument in
      let name = argument.setting.key
      // record and start share their options: the first has the key, and names the others.
      guard arguments.firstIndex(where: { $0.setting.key == name }) == index else { return nil }
      let commands = arguments.filter { $0.setting.key == name }.map(\.command)
      return SettingKey(
        name: name, abstract: argument.definition.abstract, valueName: argument.valueName,
        isRepeating: argument.definition.isRepeating, builtIn: argument.definition.builtIn,
        option: "\(argument.definition.displayName) of \(commands.joined(separator: " and "))",
        check: argument.check)
    }
  }
}

extension Settings {
  /// The configuration of this process.
  package static func current(_ environment: [String: String]) -> Settings { Settings(SettingKey.all, environment) }

  /// Says whether `command` may run with this configuration. One whose arguments it sets must not do something else
  /// than the person wrote down; every other one goes on without what is wrong, and the person is told.
  /// - Throws: `RecorderError` (configuration) with the first problem.
  package func admit(_ command: any CommandDeclaration) throws(RecorderError) {
    guard let first = problems.first else { return }
    var error = first.error
    if problems.count > 1 {
      error.hint = (error.hint.map { "\($0) " } ?? "") + "recorder config check tells of \(problems.count - 1) more."
    }
    if command.isConfigurable { throw error }
    guard command is any Command, !(command is any ConfigurationCommand) else { return }
    Diagnostics.report(error)
  }

  /// Makes the archive that the configuration names that of this process and those that it starts, unless the
  /// environment names one.
  package func nameArchive() {
    if let named = getenv(Self.archiveVariable), named.pointee != 0 { return }
    guard let archive = values[SettingKey.archiveName]?.last else { return }
    let home = getenv("HOME").map { String(cString: $0) } ?? ""
    setenv(Self.archiveVariable, archive.text.hasPrefix("~/") ? home + archive.text.dropFirst() : archive.text, 1)
  }

  /// The values as the parser takes them.
  package var defaults: ConfiguredValues {
    ConfiguredValues(values.mapValues { values in values.map { ArgumentText($0.text) } })
  }
}

/// A command that tells by itself what is wrong with the configuration.
package protocol ConfigurationCommand: CommandDeclaration {}
