import SessionModel

/// What `@Option` and `@Argument` have in common: a slot, and how one more value on the command line changes it.
struct ValueArgument<Value> {
  let slot: Slot<Value>
  /// The value before the command line has been parsed.
  private let initial: Value
  /// Changes the slot's value by the words of one more argument.
  let absorb: ([ArgumentText], inout Value) throws(RecorderError) -> Void
  /// How many words a value has.
  private let wordCount: Int
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
      absorb: { (words, value) throws(RecorderError) in value = try Value(words: words) })
  }

  /// One value that must be given.
  init(required help: ArgumentHelp) where Value: RequirableArgument {
    self.init(
      Value.unset, type: Value.self, help: help, defaultDescription: nil,
      absorb: { (words, value) throws(RecorderError) in value = try Value(words: words) })
    isRequired = true
  }

  /// One value or none.
  init<Element: ExpressibleByArgument>(
    optional help: ArgumentHelp, valueAlone: Element? = nil
  ) where Value == Element? {
    self.init(
      nil, type: Element.self, help: help, defaultDescription: nil,
      absorb: { (words, value) throws(RecorderError) in value = try Element(words: words) })
    self.valueAlone = valueAlone.map { alone in .some(alone) }
  }

  /// Any number of values.
  init<Element: ExpressibleByArgument>(
    repeating value: [Element], help: ArgumentHelp, isRequired: Bool
  ) where Value == [Element] {
    self.init(
      value, type: Element.self, help: help, defaultDescription: nil,
      absorb: { (words, value) throws(RecorderError) in value.append(try Element(words: words)) })
    isRepeating = true
    self.isRequired = isRequired
  }

  private init<Element: ExpressibleByArgument>(
    _ value: Value, type: Element.Type, help: ArgumentHelp, defaultDescription: String?,
    absorb: @escaping ([ArgumentText], inout Value) throws(RecorderError) -> Void
  ) {
    (slot, initial, wordCount) = (Slot(value), value, Element.wordCount)
    (self.absorb, self.help, self.defaultDescription) = (absorb, help, defaultDescription)
    (choices, completion) = (Element.allValueStrings, Element.completion)
  }

  func definition(kind: ArgumentDefinition.Kind, names: [ArgumentName], label: String) -> ArgumentDefinition {
    let name = help.valueName ?? optionName(label).uppercased()
    var definition = ArgumentDefinition(
      kind: kind, longNames: longNames(names, label: label), shortNames: shortNames(names),
      valueNames: wordCount == 1 ? [name] : name.split(separator: " ").map(String.init), abstract: help.abstract,
      isRequired: isRequired, isRepeating: isRepeating, defaultDescription: defaultDescription, choices: choices,
      completion: completion)
    definition.builtIn = defaultDescription
    return definition
  }

  func take(_ words: [ArgumentText], inverted: Bool) throws(RecorderError) {
    if inverted {
      slot.value = initial
    } else if !words.isEmpty {
      try absorb(words, &slot.value)
    } else if let valueAlone {
      slot.value = valueAlone
    }
  }
}
