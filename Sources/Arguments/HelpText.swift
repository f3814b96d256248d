extension CommandDescription {
  /// The line that shows how the command is called: `recorder frame SESSION --at T -o FILE [--width N]`.
  package var usage: String {
    if isGroup { return "\(name) COMMAND" }
    let words = (positionals + options).compactMap { argument -> String? in
      guard argument.kind == .positional || argument.isRequired else { return nil }
      let repeated = argument.isRepeating ? "…" : ""
      let word =
        argument.kind == .positional
        ? argument.valueName + repeated : "\(argument.plainSpellings[0]) \(argument.valueName)\(repeated)"
      if argument.followsTerminator { return nil }
      return argument.isRequired ? word : "[\(word)]"
    }
    let last = positionals.filter(\.followsTerminator).map { "[\($0.synopsis)]" }
    return ([name] + words + ["[OPTIONS]"] + last).joined(separator: " ")
  }

  /// The text of `--help`, for a terminal of 80 columns.
  package var help: String {
    var text = configuration.abstract + "\n\nUsage: \(usage)\n"
    if !configuration.discussion.isEmpty {
      text +=
        "\n"
        + configuration.discussion.paragraphs.map { paragraph in
          wrapped(paragraph, width: helpWidth, indent: 0)
        }.joined(separator: "\n\n") + "\n"
    }
    text += section("Commands", subcommands.map { ($0.configuration.commandName, $0.configuration.abstract) })
    text += section("Arguments", positionals.map { ($0.synopsis, $0.sentence) })
    text += section("Options", options.map { ($0.synopsis, $0.sentence) })
    text += section("Examples", configuration.examples.map { ($0.command, $0.does) })
    if isGroup { text += "\nMore about a command: \(name) COMMAND --help\n" }
    return text
  }

  private func section(_ title: String, _ rows: [(term: String, text: String)]) -> String {
    guard !rows.isEmpty else { return "" }
    // A term longer than this stands on a line of its own, so that it does not push all texts to the right.
    let column = min(26, rows.map { row in row.term.count }.max() ?? 0)
    let lines = rows.map { row in
      let text = wrapped(row.text, width: helpWidth, indent: column + 4)
      return row.term.count > column
        ? "  \(row.term)\n\(String(repeating: " ", count: column + 4))\(text)"
        : "  \(row.term)\(String(repeating: " ", count: column + 2 - row.term.count))\(text)"
    }
    return "\n\(title):\n" + lines.joined(separator: "\n") + "\n"
  }
}

/// The columns that help is written for: the width a terminal opens with.
private let helpWidth = 80

extension ArgumentDefinition {
  /// All its spellings with its value: `-o, --output FILE`, `--app-audio[=DEVICE]`, `--cursor, --no-cursor`,
  /// `--size SIZE, --no-size`.
  package var synopsis: String {
    let names = plainSpellings.joined(separator: ", ")
    let plain =
      switch kind {
      case .flag: names
      case .option(valueIsOptional: true): "\(names)[=\(valueName)]"
      case .option(valueIsOptional: false): "\(names) \(valueName)"
      case .positional: (followsTerminator ? "-- " : "") + valueName + (isRepeating ? "…" : "")
      }
    return ([plain] + inverseSpellings).joined(separator: ", ")
  }

  /// What help says of it: the abstract, the choices and the default.
  package var sentence: String {
    var notes = choices.isEmpty ? [] : ["one of \(choices.joined(separator: ", "))"]
    if let defaultDescription, !defaultDescription.isEmpty { notes.append("default: \(defaultDescription)") }
    if isRepeating && kind != .positional { notes.append("may be repeated") }
    return notes.isEmpty ? abstract : "\(abstract) (\(notes.joined(separator: "; ")))"
  }
}

/// `text` broken at spaces into lines of at most `width` columns, those after the first indented by `indent`.
func wrapped(_ text: String, width: Int, indent: Int) -> String {
  var (lines, line) = ([String](), "")
  for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
    if !line.isEmpty, indent + line.count + 1 + word.count > width {
      lines.append(line)
      line = ""
    }
    line += line.isEmpty ? "\(word)" : " \(word)"
  }
  return (lines + [line]).joined(separator: "\n" + String(repeating: " ", count: indent))
}
