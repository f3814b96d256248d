import SessionModel

/// A property that an argument sets by its place. What the property's type means is as for `Option`; an array takes all
/// that is left.
@propertyWrapper
package struct Argument<Value>: ArgumentProperty {
  private let argument: ValueArgument<Value>
  private var followsTerminator = false
  private var settings: [SettingBinding] = []

  /// The value; the default until the command line has been parsed.
  package var wrappedValue: Value {
    get { argument.slot.value }
    nonmutating set { argument.slot.value = newValue }
  }

  /// The argument itself: `$name`.
  package var projectedValue: Argument<Value> { self }
  /// Whether the command line has given it: what the configuration gives is no wish for this one run.
  package var isGiven: Bool { argument.slot.isGiven }

  /// Makes an argument with a default, which the keys `settings` may change.
  package init(wrappedValue: Value, settings: [SettingBinding] = [], help: ArgumentHelp)
  where Value: ExpressibleByArgument {
    argument = ValueArgument(single: wrappedValue, help: help)
    self.settings = settings
  }

  /// Makes an argument that must be given.
  package init(help: ArgumentHelp) where Value: RequirableArgument { argument = ValueArgument(required: help) }

  /// Makes an argument that may be absent.
  package init<Element: ExpressibleByArgument>(help: ArgumentHelp) where Value == Element? {
    argument = ValueArgument(optional: help)
  }

  /// Makes an argument that takes all that is left, possibly nothing.
  package init<Element: ExpressibleByArgument>(wrappedValue: [Element], help: ArgumentHelp) where Value == [Element] {
    argument = ValueArgument(repeating: wrappedValue, help: help, isRequired: false)
  }

  /// Makes an argument that takes all that is left, at least one.
  package init<Element: ExpressibleByArgument>(help: ArgumentHelp) where Value == [Element] {
    argument = ValueArgument(repeating: [], help: help, isRequired: true)
  }

  /// Makes an argument that takes all that follows `--`, options too, as it is; possibly nothing.
  package init(afterTerminator help: ArgumentHelp) where Value == [ArgumentText] {
    argument = ValueArgument(repeating: [], help: help, isRequired: false)
    followsTerminator = true
  }

  func definition(label: String) -> ArgumentDefinition {
    var definition = argument.definition(kind: .positional, names: [], label: label)
    definition.followsTerminator = followsTerminator
    definition.settings = settings
    return definition
  }

  func take(_ words: [ArgumentText], inverted: Bool) throws(RecorderError) {
    try argument.take(words, inverted: inverted)
  }

  func markGiven() { argument.slot.isGiven = true }
}
