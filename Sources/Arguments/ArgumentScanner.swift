import SessionModel

/// Hands the words after a command's name to the command's properties.
struct ArgumentScanner {
  /// The command's words, the program's name first.
  private let path: [String]
  private let positionals: [ArgumentBinding]
  /// What takes the words after `--`; nil when they are positionals.
  private let trailing: ArgumentBinding?
  private let options: [ArgumentBinding]
  private var seen: Set<ArgumentDefinition> = []
  private var place = 0
  private var rest: ArraySlice<ArgumentText> = []
  /// The option that just came without the value that it may have, as it was spelled.
  private var withoutValue: ArgumentText?

  /// Makes a scanner for `command`, which the words `path` call and the configuration gives the defaults `configured`.
  init(
    _ command: any CommandDeclaration, path: [String], configured: ConfiguredValues
  ) throws(RecorderError) {
    let bindings = ArgumentBinding.all(of: command)
    try configured.give(to: bindings)
    self.path = path
    positionals = bindings.filter { binding in
      binding.definition.kind == .positional && !binding.definition.followsTerminator
    }
    trailing = bindings.first { binding in binding.definition.followsTerminator }
    options = bindings.filter { binding in binding.definition.kind != .positional }
  }

  /// Hands over `words`; false when they ask for help.
  mutating func scan(_ words: ArraySlice<ArgumentText>) throws(RecorderError) -> Bool {
    rest = words
    var onlyPositionals = false
    while let word = rest.popFirst() {
      let option = withoutValue
      withoutValue = nil
      let isOption = !onlyPositionals && word.bytes.count > 1 && word.bytes[0] == UInt8(ascii: "-")
      if !isOption {
        try takePositional(word, after: option)
      } else if word.string == "--", let trailing {
        guard !rest.isEmpty else {
          throw RecorderError(.usage, "\(name) needs \(trailing.definition.valueName) after --.", hint: seeHelp)
        }
        while let word = rest.popFirst() { try give([word], to: trailing) }
      } else if word.string == "--" {
        onlyPositionals = true
      } else if word.string == "--help" || word.string == "-h" {
        return false
      } else if word.bytes[1] == UInt8(ascii: "-") {
        try takeLong(word)
      } else {
        try takeShort(word)
      }
    }
    for binding in positionals + options where binding.definition.isRequired && !seen.contains(binding.definition) {
      let missing = binding.definition
      let value = missing.kind == .positional ? "" : " \(missing.valueName)"
      throw RecorderError(
        .usage, "\(name) needs \(missing.displayName)\(value).", hint: seeHelp)
    }
    return true
  }

  private var name: String { path.dropFirst().joined(separator: " ") }
  private var seeHelp: String { "See \(path.joined(separator: " ")) --help." }

  /// Takes an argument that stands by itself.
  /// - Parameter option: what stood before it and may have a value, which is never the next word.
  private mutating func takePositional(_ word: ArgumentText, after option: ArgumentText?) throws(RecorderError) {
    let hint = option.map { "If it is the value of \($0), write \($0)\($0.bytes.count > 2 ? "=" : "")\(word)." }
    guard place < positionals.count else {
      throw RecorderError(
        .usage, "\"\(word)\" is one argument too many for \(name).", hint: hint ?? seeHelp)
    }
    let binding = positionals[place]
    if !binding.definition.isRepeating { place += 1 }
    do throws(RecorderError) {
      try give([word], to: binding)
    } catch {
      throw RecorderError(error.code, error.message, hint: hint ?? error.hint)
    }
  }

  /// Takes `--name`, `--name=VALUE` or `--name VALUE`.
  private mutating func takeLong(_ word: ArgumentText) throws(RecorderError) {
    let equals = word.bytes.firstIndex(of: UInt8(ascii: "="))
    let spelling = ArgumentText(bytes: Array(word.bytes[..<(equals ?? word.bytes.count)]))
    let value = equals.map { index in ArgumentText(bytes: Array(word.bytes[(index + 1)...])) }
    let name = spelling.string.map { text in String(text.dropFirst(2)) } ?? ""
    if let binding = options.first(where: { option in option.definition.longNames.contains(name) }) {
      try take(binding, spelling: spelling, value: value)
    } else if let binding = options.first(where: { option in option.definition.inverseNames.contains(name) }) {
      guard value == nil else { throw takesNoValue(spelling) }
      try give([], to: binding, inverted: true)
    } else {
      throw unknown(spelling)
    }
  }

  /// Takes `-o VALUE`, `-oVALUE`, or letters of flags together.
  private mutating func takeShort(_ word: ArgumentText) throws(RecorderError) {
    var letters = word.bytes.dropFirst()
    while let letter = letters.popFirst() {
      let spelling = ArgumentText(bytes: [UInt8(ascii: "-"), letter])
      let character = Character(UnicodeScalar(letter))
      guard let binding = options.first(where: { option in option.definition.shortNames.contains(character) }) else {
        throw unknown(word.bytes.count == 2 || letter >= 0x80 ? word : spelling)
      }
      if binding.definition.takesValue {
        try take(binding, spelling: spelling, value: letters.isEmpty ? nil : ArgumentText(bytes: Array(letters)))
        return
      }
      try give([], to: binding)
    }
  }

  /// Gives `binding` the value that came with its spelling, or the next word.
  private mutating func take(
    _ binding: ArgumentBinding, spelling: ArgumentText, value: ArgumentText?
  ) throws(RecorderError) {
    switch binding.definition.kind {
    case .flag, .positional:
      guard value == nil else { throw takesNoValue(spelling) }
      try give([], to: binding)
    case .option(valueIsOptional: true):
      try give(value.map { [$0] } ?? [], to: binding)
      if value == nil { withoutValue = spelling }
    case .option(valueIsOptional: false):
      var words = value.map { [$0] } ?? []
      while words.count < binding.definition.valueNames.count { words.append(try nextWord(for: binding, spelling)) }
      try give(words, to: binding)
    }
  }

  /// The next word, as one of the value of `binding`, which came as `spelling`.
  private mutating func nextWord(
    for binding: ArgumentBinding, _ spelling: ArgumentText
  ) throws(RecorderError) -> ArgumentText {
    let usage = "\(spelling) \(binding.definition.valueName)"
    guard let next = rest.popFirst() else {
      throw RecorderError(.usage, "\(spelling) needs a value.", hint: "Write \(usage).")
    }
    // Any word may be a value (-o -y.mkv), except an option of this command: its value was forgotten.
    if let text = next.string, options.contains(where: { $0.definition.spellings.contains(text) }) {
      throw RecorderError(
        .usage, "\(spelling) needs a value before \(text).",
        hint: "Write \(usage), or \(spelling)\(spelling.bytes.count > 2 ? "=" : "")\(text) if that is the value.")
    }
    return next
  }

  private mutating func give(
    _ words: [ArgumentText], to binding: ArgumentBinding, inverted: Bool = false
  ) throws(RecorderError) {
    seen.insert(binding.definition)
    binding.property.markGiven()
    do throws(RecorderError) {
      try binding.property.take(words, inverted: inverted)
    } catch {
      throw RecorderError(error.code, "\(binding.definition.displayName): \(error.message)", hint: error.hint)
    }
  }

  private func takesNoValue(_ spelling: ArgumentText) -> RecorderError {
    RecorderError(.usage, "\(spelling) takes no value.")
  }

  private func unknown(_ spelling: ArgumentText) -> RecorderError {
    let known = options.flatMap { option in option.definition.spellings } + ArgumentDefinition.help.spellings
    return RecorderError(
      .usage, "\(name) has no option \"\(spelling)\".",
      hint: suggestion(for: spelling, among: known) ?? seeHelp)
  }
}
