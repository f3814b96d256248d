import SessionModel

/// A property that `--name VALUE` sets.
///
/// A plain type with a value is optional on the command line, without one required; an optional type is nil when the
/// option is absent; an array takes one element each time the option comes.
@propertyWrapper
package struct Option<Value>: ArgumentProperty {
  private let argument: ValueArgument<Value>
  private let names: [ArgumentName]

  /// The value; the default until the command line has been parsed.
  package var wrappedValue: Value {
    get { argument.slot.value }
    nonmutating set { argument.slot.value = newValue }
  }

  /// Makes an option with a default.
  package init(wrappedValue: Value, name: [ArgumentName] = [.long], help: ArgumentHelp)
  where Value: ExpressibleByArgument {
    (argument, names) = (ValueArgument(single: wrappedValue, help: help), name)
  }

  /// Makes an option that must be given.
  package init(name: [ArgumentName] = [.long], help: ArgumentHelp) where Value: RequirableArgument {
    (argument, names) = (ValueArgument(required: help), name)
  }

  /// Makes an option that may be absent.
  package init<Element: ExpressibleByArgument>(name: [ArgumentName] = [.long], help: ArgumentHelp)
  where Value == Element? {
    (argument, names) = (ValueArgument(optional: help), name)
  }

  /// Makes an option that may be absent, and whose name alone stands for `defaultAsFlag`: `--name[=VALUE]`.
  package init<Element: ExpressibleByArgument>(
    name: [ArgumentName] = [.long], defaultAsFlag: Element, help: ArgumentHelp
  ) where Value == Element? {
    (argument, names) = (ValueArgument(optional: help, valueAlone: defaultAsFlag), name)
  }

  /// Makes an option that may come any number of times.
  package init<Element: ExpressibleByArgument>(
    wrappedValue: [Element], name: [ArgumentName] = [.long], help: ArgumentHelp
  ) where Value == [Element] {
    (argument, names) = (ValueArgument(repeating: wrappedValue, help: help, isRequired: false), name)
  }

  func definition(label: String) -> ArgumentDefinition {
    argument.definition(kind: .option(valueIsOptional: argument.valueAlone != nil), names: names, label: label)
  }

  func take(_ text: ArgumentText?, inverted: Bool) throws(RecorderError) { try argument.take(text) }
}
