package import SessionModel

/// Where a wrapped property keeps its value: a reference, so that the parser reaches it through a `Mirror`.
final class Slot<Value> {
  var value: Value
  /// Whether the command line has named what sets it.
  var isGiven = false
  init(_ value: Value) { self.value = value }
}

/// A property that the command line sets.
protocol ArgumentProperty {
  /// What it is; `label` is the property's name.
  func definition(label: String) -> ArgumentDefinition
  /// Takes one appearance on the command line: the words of its value, none when there was no value. `inverted` is a
  /// `--no-`, which takes back what came before.
  func take(_ words: [ArgumentText], inverted: Bool) throws(RecorderError)
  /// Notes that it came on the command line, and not from the configuration alone.
  func markGiven()
}

extension ArgumentProperty {
  func markGiven() {}
}

/// A set of arguments that commands share through `@OptionGroup`.
package protocol ParsableArguments {
  /// Makes the set with its defaults.
  init()
  /// Says what is wrong with a combination that each argument alone does not show; nothing by default.
  /// - Throws: `RecorderError` (usage).
  func validate() throws(RecorderError)
}

extension ParsableArguments {
  package func validate() throws(RecorderError) {}
}

/// One argument of a command being parsed: what it is, and how a value is handed to it.
struct ArgumentBinding {
  let definition: ArgumentDefinition
  let property: any ArgumentProperty

  /// The arguments of `value`, a command or a group, in the order they are declared.
  static func all(of value: Any) -> [ArgumentBinding] {
    Mirror(reflecting: value).children.flatMap { child -> [ArgumentBinding] in
      if let property = child.value as? any ArgumentProperty {
        return [ArgumentBinding(definition: property.definition(label: child.label ?? ""), property: property)]
      }
      return (child.value as? any ArgumentGroup).map { group in all(of: group.arguments) } ?? []
    }
  }

  /// Asks the groups of `command`, and then itself, whether the combination is right.
  static func validate(_ command: any ParsableArguments) throws(RecorderError) {
    for child in Mirror(reflecting: command).children {
      if let group = child.value as? any ArgumentGroup { try validate(group.arguments) }
    }
    try command.validate()
  }
}

/// What `@OptionGroup` is to the parser.
protocol ArgumentGroup {
  var arguments: any ParsableArguments { get }
}

/// Takes the arguments of a set into a command, as if they were declared there.
@propertyWrapper
package struct OptionGroup<Group: ParsableArguments>: ArgumentGroup {
  /// The set.
  package let wrappedValue: Group
  /// Makes the set with its defaults.
  package init() { wrappedValue = Group() }
  var arguments: any ParsableArguments { wrappedValue }
}
