import Arguments
package import SessionModel

/// The files that configure the program, by the XDG Base Directory Specification 0.8.
package struct ConfigurationPlaces: Sendable {
  /// The files for all users of the machine, the most important last.
  package let system: [String]
  /// The user's own file; nil when the environment names no place for it.
  package let user: String?

  /// The places that `environment` names; paths that are not absolute are left out, as the specification says.
  package init(_ environment: [String: String]) {
    func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? "\($0)/\(Self.name)" : nil } }
    let folders = environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
    system = folders.split(separator: ":").reversed().compactMap { absolute(String($0)) }
    user = absolute(environment["XDG_CONFIG_HOME"]) ?? absolute(environment["HOME"].map { "\($0)/.config" })
  }

  /// All of them, the most important last.
  var all: [(kind: SettingOrigin.Kind, path: String)] {
    system.map { (.system, $0) } + (user.map { [(.user, $0)] } ?? [])
  }

  private static let name = "recorder/recorder.conf"
}

/// What the configuration says: every layer read and merged, the system's files first, then the user's, then the
/// environment.
package struct Settings: Sendable {
  /// One value and where it came from.
  package struct Value: Hashable, Sendable {
    /// The value.
    package let text: String
    /// Where it came from.
    package let origin: SettingOrigin

    /// Makes a value.
    package init(text: String, origin: SettingOrigin) { (self.text, self.origin) = (text, origin) }
  }

  /// What is right, by key; of keys that repeat, what was said first comes first.
  package private(set) var values: [String: [Value]] = [:]
  /// What is wrong; nothing of it is among the values.
  package private(set) var problems: [SettingProblem] = []

  /// The variable that names the archive. The archive reads it as it is: a path from the folder one is in is right
  /// there, and most commands need no table of keys then.
  package static let archiveVariable = "RECORDER_ARCHIVE"

  /// Reads the configuration.
  /// - Parameters:
  ///   - keys: the table of keys, which is only asked for when something is configured.
  ///   - environment: names the files, and sets keys itself.
  package init(_ keys: @autoclosure () -> [SettingKey], _ environment: [String: String]) {
    let places = ConfigurationPlaces(environment)
    var texts: [(SettingOrigin.Kind, String, ConfigurationText)] = []
    for (kind, path) in places.all {
      do throws(RecorderError) {
        if let text = try ConfigurationFile.read(path) { texts.append((kind, path, text)) }
      } catch {
        problems.append(SettingProblem(SettingOrigin(kind, file: path), error.message, hint: error.hint))
      }
    }
    var variables = environment.filter { $0.key.hasPrefix(SettingKey.variablePrefix) }
    variables[Self.archiveVariable] = nil
    guard !texts.isEmpty || !variables.isEmpty else { return }
    let keys = keys()
    let table = Dictionary(keys.map { ($0.name, $0) }) { first, _ in first }
    for (kind, path, text) in texts { take(text, kind, path, table) }
    for key in keys { take(variables[key.variable] ?? "", SettingOrigin(.environment, variable: key.variable), key) }
    problems += variables.keys.sorted().compactMap { Self.mistyped($0, among: keys) }
  }

  /// The problem of the variable `name` when it sets nothing and is most likely meant to: it is in a section of keys, or a
  /// slip away from one. Whatever else begins with these letters is another program's business.
  private static func mistyped(_ name: String, among keys: [SettingKey]) -> SettingProblem? {
    guard !keys.contains(where: { $0.variable == name }) else { return nil }
    // Without what all of them begin with, which would make any two alike.
    let word = String(name.dropFirst(SettingKey.variablePrefix.count))
    let meant = nearest(
      to: ArgumentText(word), among: keys.map { String($0.variable.dropFirst(SettingKey.variablePrefix.count)) })
    let isInSection = keys.contains { key in
      let section = key.name.prefix { $0 != "." }
      return section.count < key.name.count && word.hasPrefix(section.uppercased() + "_")
    }
    guard meant != nil || isInSection else { return nil }
    return SettingProblem(
      SettingOrigin(.environment, variable: name.printable(atMost: 60)), "There is no setting of this name.",
      hint: meant.map { "Did you mean \"\(SettingKey.variablePrefix)\($0)\"?" } ?? "recorder.conf(5) lists all.")
  }

  private mutating func take(
    _ text: ConfigurationText, _ kind: SettingOrigin.Kind, _ path: String, _ table: [String: SettingKey]
  ) {
    var found = text.faults.map { SettingProblem(SettingOrigin(kind, file: path, line: $0.line), $0.message) }
    var lines: [String: Int] = [:]
    for entry in text.entries {
      let origin = SettingOrigin(kind, file: path, line: entry.line)
      guard let key = table[entry.key] else {
        found.append(Self.unknown(entry.key, among: table.keys.sorted(), origin))
        continue
      }
      if let line = lines[key.name], !key.isRepeating {
        found.append(SettingProblem(origin, "\(key.name) is set already, in line \(line)."))
        continue
      }
      lines[key.name] = entry.line
      if entry.value.isEmpty {
        values[key.name] = []
      } else if let problem = add(entry.value, origin, key) {
        found.append(problem)
      }
    }
    problems += found.sorted { ($0.origin.line ?? 0) < ($1.origin.line ?? 0) }
  }

  /// Takes a variable's value: of a key that repeats one value a line; an empty one is as if it were not set.
  private mutating func take(_ text: String, _ origin: SettingOrigin, _ key: SettingKey) {
    let parts = key.isRepeating ? text.split(separator: "\n").map(String.init) : text.isEmpty ? [] : [text]
    for part in parts {
      if let problem = add(part, origin, key) { problems.append(problem) }
    }
  }

  private mutating func add(_ text: String, _ origin: SettingOrigin, _ key: SettingKey) -> SettingProblem? {
    do throws(RecorderError) {
      try key.check(text)
    } catch {
      return SettingProblem(origin, error.message, hint: error.hint)
    }
    let value = Value(text: text, origin: origin)
    if key.isRepeating { values[key.name, default: []].append(value) } else { values[key.name] = [value] }
    return nil
  }

  /// The problem of a key that is not in the table.
  private static func unknown(_ key: String, among names: [String], _ origin: SettingOrigin) -> SettingProblem {
    let error = unknownKey(key, among: names)
    return SettingProblem(origin, error.message, hint: error.hint)
  }

  /// The error (usage) that says that there is no key of that name, and which may be meant.
  package static func unknownKey(_ key: String, among names: [String]) -> RecorderError {
    RecorderError(
      .usage, "There is no setting \"\(key.printable(atMost: 60))\".",
      hint: suggestion(for: ArgumentText(key), among: names) ?? "recorder config list shows all.")
  }
}
