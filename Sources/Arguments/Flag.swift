import SessionModel

/// A property that `--name` sets to true, and `--no-name` to false when it has that inversion.
@propertyWrapper
package struct Flag: ArgumentProperty {
  private let slot: Slot<Bool>
  private let names: [ArgumentName]
  private let inversion: FlagInversion?
  private let settings: [SettingBinding]
  private let help: ArgumentHelp

  /// The value; the default until the command line has been parsed.
  package var wrappedValue: Bool {
    get { slot.value }
    nonmutating set { slot.value = newValue }
  }

  /// Makes a flag; one that the keys `settings` may give has the inversion `--no-` too.
  package init(
    wrappedValue: Bool, name: [ArgumentName] = [.long], inversion: FlagInversion? = nil,
    settings: [SettingBinding] = [], help: ArgumentHelp
  ) {
    slot = Slot(wrappedValue)
    (names, self.settings, self.help) = (name, settings, help)
    self.inversion = inversion ?? (settings.isEmpty ? nil : .prefixedNo)
  }

  func definition(label: String) -> ArgumentDefinition {
    var definition = ArgumentDefinition(
      kind: .flag, longNames: longNames(names, label: label), shortNames: shortNames(names), valueNames: [],
      abstract: help.abstract, isRequired: false, isRepeating: false, defaultDescription: nil, choices: [],
      completion: .none)
    (definition.isInvertible, definition.settings) = (inversion == .prefixedNo, settings)
    definition.builtIn = "\(slot.value)"
    return definition
  }

  /// The words that the configuration may set a flag to.
  private static let words = ["true": true, "yes": true, "on": true, "false": false, "no": false, "off": false]

  func take(_ words: [ArgumentText], inverted: Bool) throws(RecorderError) {
    guard let word = words.first else {
      slot.value = !inverted
      return
    }
    guard let value = word.string.flatMap({ Self.words[$0] }) else {
      throw RecorderError(.usage, "\"\(word)\" is neither true nor false.")
    }
    slot.value = value
  }
}

func longNames(_ names: [ArgumentName], label: String) -> [String] {
  names.compactMap { name in
    switch name {
    case .long: optionName(label)
    case .customLong(let name): name
    case .customShort: nil
    }
  }
}

func shortNames(_ names: [ArgumentName]) -> [Character] {
  names.compactMap { name in if case .customShort(let letter) = name { letter } else { nil } }
}
