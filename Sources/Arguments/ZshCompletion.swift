extension CommandDescription {
  /// The completion for zsh, to be installed as `_recorder`.
  package var zshCompletion: String {
    var text = """
      #compdef \(name)
      # Written by "\(name) generate completions"; change the command table instead.

      _\(name)_sessions() {
        local -a sessions
        sessions=(${(f)"$(\(sessionListing(of: name)))"})
        compadd -a sessions
      }


      """
    for command in allCommands { text += command.isGroup ? command.zshGroup : command.zshCommand }
    return text + "_\(name) \"$@\"\n"
  }

  private var zshFunction: String { "_" + path.joined(separator: "_") }

  private var zshGroup: String {
    let commands = subcommands.map { command in
      "    \(quoted("\(command.configuration.commandName):\(command.configuration.abstract)"))\n"
    }
    let calls = subcommands.map { command in
      "        \(command.configuration.commandName)) \(command.zshFunction) ;;\n"
    }
    return """
      \(zshFunction)() {
        local context state state_descr line
        typeset -A opt_args
        local -a commands
        commands=(
      \(commands.joined())  )
        _arguments -C \\
      \(zshOptions)    '1: :->command' \\
          '*:: :->arguments'
        case $state in
          command) _describe command commands ;;
          arguments)
            case $line[1] in
      \(calls.joined())      esac
            ;;
        esac
      }


      """
  }

  private var zshCommand: String {
    let places = positionals.map { argument in
      let place = argument.isRepeating ? "*" : argument.isRequired ? "" : ":"
      return "    \(quoted("\(place):\(argument.valueName):\(action(of: argument))")) \\\n"
    }
    let body = zshOptions + places.joined()
    return "\(zshFunction)() {\n  _arguments -s \\\n\(body.dropLast(3))\n}\n\n"
  }

  private var zshOptions: String {
    options.flatMap { option in
      option.spellings.map { spelling in
        let exclusive = option.isRepeating ? "*" : "(\(option.spellings.joined(separator: " ")))"
        let help = option.abstract.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
        let value: String
        switch option.kind {
        case .flag, .positional: value = "\(spelling)[\(help)]"
        case .option where option.inverseSpellings.contains(spelling): value = "\(spelling)[\(help)]"
        case .option(valueIsOptional: true):
          value = "\(spelling)=-[\(help)]::\(option.valueName):\(action(of: option))"
        case .option(valueIsOptional: false):
          let joint = spelling.hasPrefix("--") ? "=" : "+"
          let more = option.valueNames.dropFirst().map { name in ":\(name): " }.joined()
          value = "\(spelling)\(joint)[\(help)]:\(option.valueNames.first ?? ""):\(action(of: option))\(more)"
        }
        return "    \(quoted(exclusive + value)) \\\n"
      }
    }.joined()
  }

  private func action(of argument: ArgumentDefinition) -> String {
    if !argument.choices.isEmpty { return "(\(argument.choices.joined(separator: " ")))" }
    return switch argument.completion {
    // A message for a word that may yet become an option would keep zsh from completing that option.
    case .none: argument.kind == .positional ? "_guard \"^-*\" \(argument.valueName)" : " "
    case .file: "_files"
    case .session: "_\(path[0])_sessions"
    }
  }

  /// `text` as one word of zsh.
  private func quoted(_ text: String) -> String {
    "'" + text.map { character in character == "'" ? "'\\''" : String(character) }.joined() + "'"
  }
}
