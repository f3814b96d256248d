import SessionModel

/// A property that `--name VALUE` sets.
///
/// A plain type with a value is optional on the command line, without one required; an optional type is nil when the
/// option is absent; an array takes one element each time the option comes.
@propertyWrapper
package struct Option<Value>: ArgumentProperty {
  private let argument: ValueArgument<Value>
  private let names: [ArgumentName]
  private var settings: [SettingBinding] = []

  /// The value; the default until the command line has been parsed.
  package var wrappedValue: Value {
    get { argument.slot.value }
    nonmutating set { argument.slot.value = newValue }
  }

  /// The option itself: `$name`.
  package var projectedValue: Option<Value> { self }
  /// Whether the command line has named it: what the configuration gives is no wish for this one run.
  package var isGiven: Bool { argument.slot.isGiven }

  /// Makes an option with a default, which the keys `settings` may change.
  package init(
    wrappedValue: Value, name: [ArgumentName] = [.long], settings: [SettingBinding] = [], help: ArgumentHelp
  ) where Value: ExpressibleByArgument {
    (argument, names, self.settings) = (ValueArgument(single: wrappedValue, help: help), name, settings)
  }

  /// Makes an option that must be given.
  package init(name: [ArgumentName] = [.long], help: ArgumentHelp) where Value: RequirableArgument {
    (argument, names) = (ValueArgument(required: help), name)
  }

  /// Makes an option that may be absent; one that the keys `settings` may give has `--no-` too.
  package init<Element: ExpressibleByArgument>(
    name: [ArgumentName] = [.long], settings: [SettingBinding] = [], help: ArgumentHelp
  ) where Value == Element? {
    (argument, names, self.settings) = (ValueArgument(optional: help), name, settings)
  }

  /// Makes an option that may be absent, and whose name alone stands for `defaultAsFlag`: `--name[=VALUE]`.
  package init<Element: ExpressibleByArgument>(
    name: [ArgumentName] = [.long], defaultAsFlag: Element, settings: [SettingBinding] = [], help: ArgumentHelp
  ) where Value == Element? {
    (argument, names) = (ValueArgument(optional: help, valueAlone: defaultAsFlag), name)
    self.settings = settings
  }

  /// Makes an option that may come any number of times; one that the keys `settings` may give has `--no-` too, which
  /// takes back all that came before it.
  package init<Element: ExpressibleByArgument>(
    wrappedValue: [Element], name: [ArgumentName] = [.long], settings: [SettingBinding] = [], help: ArgumentHelp
  ) where Value == [Element] {
    (argument, names) = (ValueArgument(repeating: wrappedValue, help: help, isRequired: false), name)
    self.settings = settings
  }

  func definition(label: String) -> ArgumentDefinition {
    var definition = argument.definition(
      kind: .option(valueIsOptional: argument.valueAlone != nil), names: names, label: label)
    definition.settings = settings
    // Without it nothing could take back what the configuration gives; one with a default is given that.
    definition.isInvertible = !settings.isEmpty && definition.builtIn == nil
    return definition
  }

  func take(_ words: [ArgumentText], inverted: Bool) throws(RecorderError) {
    try argument.take(words, inverted: inverted)
  }

  func markGiven() { argument.slot.isGiven = true }
}
