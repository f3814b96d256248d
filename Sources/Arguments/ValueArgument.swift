import SessionModel

/// What `@Option` and `@Argument` have in common: a slot, and how one more value on the command line changes it.
struct ValueArgument<Value> {
  let slot: Slot<Value>
  /// Changes the slot's value by one more argument.
  let absorb: (ArgumentText, inout Value) throws(RecorderError) -> Void
  /// The value that the option's name alone stands for; nil when it needs one.
  var valueAlone: Value?
  let help: ArgumentHelp
  var isRequired = false
  var isRepeating = false
  let defaultDescription: String?
  let choices: [String]
  let completion: CompletionKind

  /// One value that has a default.
  init(single value: Value, help: ArgumentHelp) where Value: ExpressibleByArgument {
    self.init(
      value, type: Value.self, help: help, defaultDescription: value.argumentDescription,
      absorb: { (text, value) throws(RecorderError) in value = try Value(argument: text) })
  }

  /// One value that must be given.
  init(required help: ArgumentHelp) where Value: RequirableArgument {
    self.init(
      Value.unset, type: Value.self, help: help, defaultDescription: nil,
      absorb: { (text, value) throws(RecorderError) in value = try Value(argument: text) })
    isRequired = true
  }

  /// One value or none.
  init<Element: ExpressibleByArgument>(
    optional help: ArgumentHelp, valueAlone: Element? = nil
  ) where Value == Element? {
    self.init(
      nil, type: Element.self, help: help, defaultDescription: nil,
      absorb: { (text, value) throws(RecorderError) in value = try Element(argument: text) })
    self.valueAlone = valueAlone.map { alone in .some(alone) }
  }

  /// Any number of values.
  init<Element: ExpressibleByArgument>(
    repeating value: [Element], help: ArgumentHelp, isRequired: Bool
  ) where Value == [Element] {
    self.init(
      value, type: Element.self, help: help, defaultDescription: nil,
      absorb: { (text, value) throws(RecorderError) in value.append(try Element(argument: text)) })
    isRepeating = true
    self.isRequired = isRequired
  }

  private init<Element: ExpressibleByArgument>(
    _ value: Value, type: Element.Type, help: ArgumentHelp, defaultDescription: String?,
    absorb: @escaping (ArgumentText, inout Value) throws(RecorderError) -> Void
  ) {
    slot = Slot(value)
    (self.absorb, self.help, self.defaultDescription) = (absorb, help, defaultDescription)
    (choices, completion) = (Element.allValueStrings, Element.completion)
  }

  func definition(kind: ArgumentDefinition.Kind, names: [ArgumentName], label: String) -> ArgumentDefinition {
    ArgumentDefinition(
      kind: kind, longNames: longNames(names, label: label), shortNames: shortNames(names),
      valueName: help.valueName ?? optionName(label).uppercased(), abstract: help.abstract, isRequired: isRequired,
      isRepeating: isRepeating, defaultDescription: defaultDescription, choices: choices, completion: completion)
  }

  func take(_ text: ArgumentText?) throws(RecorderError) {
    if let text {
      try absorb(text, &slot.value)
    } else if let valueAlone {
      slot.value = valueAlone
    }
  }
}
