extension CommandDescription {
  /// The completion for bash. It needs no other package: bash-completion's helpers are not used.
  package var bashCompletion: String {
    let function = "_\(name)"
    let commands = allCommands
    var text = """
      # bash completion for \(name); written by "\(name) generate completions", change the command table instead.

      \(function)_sessions() {
        \(sessionListing(of: name))
      }

      \(function)() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        # bash splits --option=value into three words.
        if [[ $current == "=" ]]; then
          current=""
        elif [[ $previous == "=" ]]; then
          previous=${COMP_WORDS[COMP_CWORD-2]}
        fi
        local path=\(name) word
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
          case "$path $word" in

      """
    let groups = commands.filter { command in command.path.count > 1 }
    text +=
      "      " + groups.map { command in "\"\(command.name)\"" }.joined(separator: " | ")
      + ") path=\"$path $word\" ;;\n"
    text += "    esac\n  done\n  COMPREPLY=()\n  local words=\"\"\n  case \"$path $previous\" in\n"
    for command in commands {
      for option in command.options where option.takesValue {
        let patterns = option.plainSpellings.map { spelling in "\"\(command.name) \(spelling)\"" }.joined(
          separator: " | ")
        // An optional value comes after "=" alone: without it the next word is another argument.
        if option.kind == .option(valueIsOptional: true) { continue }
        text += "    \(patterns)) \(values(of: option, function: function)); return ;;\n"
      }
    }
    text += "  esac\n  case \"$path\" in\n"
    for command in commands {
      text += "    \"\(command.name)\")\n"
      let words = command.subcommands.map { $0.configuration.commandName } + command.options.flatMap { $0.spellings }
      text += "      words=\"\(words.joined(separator: " "))\"\n"
      if let positional = command.positionals.first(where: { $0.completion != .none || !$0.choices.isEmpty }) {
        text += "      [[ $current == -* ]] || { \(values(of: positional, function: function)); return; }\n"
      }
      text += "      ;;\n"
    }
    text += "  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n\n"
    return text + "complete -F \(function) \(name)\n"
  }

  private func values(of argument: ArgumentDefinition, function: String) -> String {
    if !argument.choices.isEmpty {
      let words = argument.choices.joined(separator: " ")
      return "mapfile -t COMPREPLY < <(compgen -W \"\(words)\" -- \"$current\")"
    }
    return switch argument.completion {
    case .none: ":"
    case .file: "mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); compopt -o filenames 2>/dev/null"
    case .session: "mapfile -t COMPREPLY < <(compgen -W \"$(\(function)_sessions)\" -- \"$current\")"
    }
  }

  /// This command and all below it.
  var allCommands: [CommandDescription] { [self] + subcommands.flatMap { command in command.allCommands } }
}

/// The shell command that prints the words that name a session: the ids of the newest, and `last`.
func sessionListing(of program: String) -> String {
  // The JSON of one session is one line, and an id holds no character that JSON escapes.
  "echo last; \(program) list --json --limit 100 2>/dev/null | sed -n 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/p'"
}
