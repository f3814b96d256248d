extension CommandDescription {
  /// The completion for fish.
  package var fishCompletion: String {
    var text = """
      # fish completion for \(name); written by "\(name) generate completions", change the command table instead.

      function __\(name)_sessions
        \(sessionListing(of: name))
      end

      # Whether the words before the cursor that are no options begin with these.
      function __\(name)_path
        set -l words (string match --invert -- '-*' (commandline -opc))
        set -l count (count $argv)
        test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"
      end

      complete -c \(name) -f

      """
    for command in allCommands {
      let condition = "-n '__\(name)_path \(command.name)'"
      for child in command.subcommands {
        let next = command.subcommands.map { $0.configuration.commandName }.joined(separator: " ")
        let open = "-n '__\(name)_path \(command.name); and not __fish_seen_subcommand_from \(next)'"
        text += "complete -c \(name) \(open) -a \(child.configuration.commandName)"
        text += " -d \(quoted(child.configuration.abstract))\n"
      }
      for option in command.options {
        let short = option.shortNames.map { name in " -s \(name)" }.joined()
        let long = option.longNames.map { name in " -l \(name)" }.joined()
        text += "complete -c \(name) \(condition)\(short)\(long)"
        if option.kind == .option(valueIsOptional: false) { text += " -r" }
        text += "\(values(of: option)) -d \(quoted(option.abstract))\n"
        if option.isInvertible {
          let inverse = option.inverseNames.map { name in " -l \(name)" }.joined()
          text += "complete -c \(name) \(condition)\(inverse) -d \(quoted(option.abstract))\n"
        }
      }
      for argument in command.positionals {
        let values = values(of: argument)
        if !values.isEmpty { text += "complete -c \(name) \(condition)\(values)\n" }
      }
    }
    return text
  }

  private func values(of argument: ArgumentDefinition) -> String {
    if !argument.choices.isEmpty { return " -a \(quoted(argument.choices.joined(separator: " ")))" }
    return switch argument.completion {
    case .none: ""
    case .file: " -F"
    case .session: " -a '(__\(name)_sessions)'"
    }
  }

  /// `text` as one word of fish.
  private func quoted(_ text: String) -> String {
    "'"
      + text.map { character in character == "'" || character == "\\" ? "\\\(character)" : String(character) }.joined()
      + "'"
  }
}
