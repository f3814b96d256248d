import Arguments
import Commands
import Configuration
import FoundationEssentials
import SessionModel

/// One value as `config list --json` prints it.
private struct ListedSetting: Encodable {
  let key: String
  let value: String?
  let origin: SettingOrigin
  let option: String?
  let about: String
}

/// The configuration as `recorder config` finds it.
private struct OpenConfiguration {
  let environment = ProcessInfo.processInfo.environment
  var settings: Settings { .current(environment) }

  /// The key that `name` is.
  /// - Throws: `RecorderError` (usage) when it is none.
  func key(_ name: SettingName) throws(RecorderError) -> SettingKey {
    guard let key = SettingKey.all.first(where: { $0.name == name.text }) else {
      throw Settings.unknownKey(name.text, among: SettingKey.all.map(\.name))
    }
    return key
  }

  /// What `key` is: its values, else the built-in default, else one that has no text.
  func listed(_ key: SettingKey, _ settings: Settings) -> [ListedSetting] {
    var values = settings.values[key.name] ?? []
    if key.variable == Settings.archiveVariable, let path = environment[key.variable], !path.isEmpty {
      values = [Settings.Value(text: path, origin: SettingOrigin(.environment, variable: key.variable))]
    }
    let origins = values.isEmpty ? [(key.builtIn, SettingOrigin(.builtIn))] : values.map { ($0.text, $0.origin) }
    return origins.map {
      ListedSetting(key: key.name, value: $0.0, origin: $0.1, option: key.option, about: key.abstract)
    }
  }

  /// The user's own file.
  /// - Throws: `RecorderError` (configuration) when the environment names no place for it.
  func userFile() throws(RecorderError) -> String {
    guard let path = ConfigurationPlaces(environment).user else {
      throw RecorderError(
        .configuration,
        "There is no place for the configuration: neither XDG_CONFIG_HOME nor HOME is an absolute path.",
        hint: "Set HOME.")
    }
    return path
  }

  /// Tells what is wrong, on standard error.
  func report(_ settings: Settings) { for problem in settings.problems { Diagnostics.report(problem.error) } }
}

extension ConfigGetCommand: Command {
  func run() throws {
    let (open, settings) = (OpenConfiguration(), OpenConfiguration().settings)
    let key = try open.key(key)
    open.report(settings)
    for setting in open.listed(key, settings) {
      if let value = setting.value { try StandardOutput.line(value.printable) }
    }
  }
}

extension ConfigSetCommand: Command {
  func run() throws {
    let open = OpenConfiguration()
    let key = try open.key(key)
    guard key.isRepeating || values.count == 1 && !add else {
      throw RecorderError(.usage, "\(key.name) has one value.", hint: "Write recorder config set \(key.name) VALUE.")
    }
    for value in values where !value.isEmpty { try key.check(value) }
    try ConfigurationFile.change(open.userFile()) { (text) throws(RecorderError) in
      try text.setting(key.name, to: (add ? text.values(of: key.name) : []) + values)
    }
  }
}

extension ConfigUnsetCommand: Command {
  func run() throws {
    try ConfigurationFile.change(OpenConfiguration().userFile()) { (text) throws(RecorderError) in
      guard text.values(of: key.text).isEmpty else { return try text.setting(key.text, to: []) }
      // Nothing is to be done; a name that is none is said to be so.
      _ = try OpenConfiguration().key(key)
      return text
    }
  }
}

extension ConfigListCommand: Command {
  func run() throws {
    let (open, settings) = (OpenConfiguration(), OpenConfiguration().settings)
    open.report(settings)
    let listed = SettingKey.all.flatMap { open.listed($0, settings) }
    if output.json { return try StandardOutput.jsonLines(listed) }
    var table = TextTable([.init("KEY"), .init("VALUE"), .init("ORIGIN")])
    for setting in listed {
      table.append([setting.key, (setting.value ?? "").printable, setting.origin.description])
    }
    try StandardOutput.table(table)
  }
}

extension ConfigPathCommand: Command {
  func run() throws { try StandardOutput.line(OpenConfiguration().userFile().printable) }
}

extension ConfigCheckCommand: Command {
  func run() throws {
    let problems = OpenConfiguration().settings.problems
    if output.json { try StandardOutput.jsonLines(problems) }
    guard let last = problems.last else { return Diagnostics.message("The configuration is right.") }
    for problem in problems.dropLast() { Diagnostics.report(problem.error) }
    throw last.error
  }
}
