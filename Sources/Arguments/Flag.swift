import SessionModel

/// A property that `--name` sets to true, and `--no-name` to false when it has that inversion.
@propertyWrapper
package struct Flag: ArgumentProperty {
  private let slot: Slot<Bool>
  private let names: [ArgumentName]
  private let inversion: FlagInversion?
  private let help: ArgumentHelp

  /// The value; the default until the command line has been parsed.
  package var wrappedValue: Bool {
    get { slot.value }
    nonmutating set { slot.value = newValue }
  }

  /// Makes a flag.
  package init(
    wrappedValue: Bool, name: [ArgumentName] = [.long], inversion: FlagInversion? = nil, help: ArgumentHelp
  ) {
    slot = Slot(wrappedValue)
    (names, self.inversion, self.help) = (name, inversion, help)
  }

  func definition(label: String) -> ArgumentDefinition {
    ArgumentDefinition(
      kind: .flag(inversion: inversion), longNames: longNames(names, label: label), shortNames: shortNames(names),
      valueName: "", abstract: help.abstract, isRequired: false, isRepeating: false, defaultDescription: nil,
      choices: [], completion: .none)
  }

  func take(_ text: ArgumentText?, inverted: Bool) throws(RecorderError) { slot.value = !inverted }
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
