package import SessionModel

/// One thing that can be configured: a line of the table of keys.
package struct SettingKey: Sendable {
  /// Its name in a configuration file: `video.fps`.
  package let name: String
  /// What it means, in one sentence.
  package let abstract: String
  /// What stands for its value, in capitals.
  package let valueName: String
  /// Whether it may be set more than once, each adding to the last.
  package let isRepeating: Bool
  /// The value when nobody sets it; nil when there is none.
  package let builtIn: String?
  /// The option that it gives a default to, with the commands that have it: `--fps of record and start`; nil without.
  package let option: String?
  private let checkValue: @Sendable (String) throws(RecorderError) -> Void

  /// Makes a key.
  /// - Parameter check: throws a `RecorderError` with one sentence for a value that it cannot have.
  package init(
    name: String, abstract: String, valueName: String, isRepeating: Bool = false, builtIn: String? = nil,
    option: String? = nil, check: @escaping @Sendable (String) throws(RecorderError) -> Void
  ) {
    (self.name, self.abstract, self.valueName, self.isRepeating) = (name, abstract, valueName, isRepeating)
    (self.builtIn, self.option, checkValue) = (builtIn, option, check)
  }

  /// The environment variable that sets it: `RECORDER_VIDEO_FPS`.
  package var variable: String {
    Self.variablePrefix + String(name.map { ".-".contains($0) ? "_" : $0 }).uppercased()
  }

  /// What the variables of all keys begin with.
  static let variablePrefix = "RECORDER_"

  /// Says whether it can have the value `text`.
  /// - Throws: `RecorderError` (usage) with one sentence that begins with the key.
  package func check(_ text: String) throws(RecorderError) {
    do throws(RecorderError) {
      try checkValue(text)
    } catch {
      throw RecorderError(error.code, "\(name): \(error.message)", hint: error.hint)
    }
  }
}

/// Where a setting came from.
package struct SettingOrigin: Hashable, Encodable, Sendable, CustomStringConvertible {
  /// The layers, each before the ones that stand above it.
  package enum Kind: String, Encodable, Sendable {
    /// What the program has built in.
    case builtIn = "default"
    /// A file for all users of the machine.
    case system
    /// The user's own file.
    case user
    /// An environment variable.
    case environment
  }

  /// The layer.
  package let kind: Kind
  /// The file, for `system` and `user`.
  package var file: String?
  /// The line in it, from 1; nil when it is about all of the file.
  package var line: Int?
  /// The variable, for `environment`.
  package var variable: String?

  /// Makes an origin in `kind`.
  package init(_ kind: Kind, file: String? = nil, line: Int? = nil, variable: String? = nil) {
    (self.kind, self.file, self.line, self.variable) = (kind, file, line, variable)
  }

  /// `FILE:LINE`, the variable's name, or `default`.
  package var description: String {
    if let file { return file.printable + (line.map { ":\($0)" } ?? "") }
    return variable ?? kind.rawValue
  }
}

/// One thing that is wrong with the configuration.
package struct SettingProblem: Hashable, Encodable, Sendable {
  /// Where.
  package let origin: SettingOrigin
  /// One sentence.
  package let message: String
  /// What to do about it; nil when the sentence says it already.
  package let hint: String?

  init(_ origin: SettingOrigin, _ message: String, hint: String? = nil) {
    (self.origin, self.message, self.hint) = (origin, message, hint)
  }

  /// It as an error (configuration) whose sentence begins with the place.
  package var error: RecorderError { RecorderError(.configuration, "\(origin): \(message)", hint: hint) }
}
