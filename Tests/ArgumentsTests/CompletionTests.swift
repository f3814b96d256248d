import Arguments
import Commands
import TestSupport
import Testing

@Suite struct CompletionTests {
  private let program = CommandDescription(RecorderCommand.self)

  @Test func theFilesInTheRepositoryAreThoseOfTheTable() throws {
    for (name, text) in [
      ("recorder.bash", program.bashCompletion), ("_recorder", program.zshCompletion),
      ("recorder.fish", program.fishCompletion),
    ] {
      let written = try readFile("completions/\(name)")
      #expect(String(decoding: written, as: UTF8.self) == text, "run scripts/regenerate: \(name)")
    }
  }

  /// What bash offers for the last of `words`, which it has split at "=" as it does.
  private func bash(_ words: String...) throws -> [String] {
    let quoted = words.map { word in "'\(word)'" }.joined(separator: " ")
    let script = """
      recorder() { echo '{"id":"20261130T021533Z-k3x9","title":"one"}'; echo '{"id":"20261129T021533Z-aaaa"}'; }
      source completions/recorder.bash
      COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1); COMPREPLY=()
      _recorder
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let result = try run(["bash", "-c", script])
    #expect(result.errorText == "")
    return result.lines
  }

  @Test func bashCompletesCommandsOptionsAndValues() throws {
    #expect(try bash("recorder", "re") == ["record", "resume", "replay", "recover", "redact"])
    #expect(try bash("recorder", "index", "") == ["rebuild", "-h", "--help"])
    #expect(try bash("recorder", "record", "--cu") == ["--cursor"])
    #expect(try bash("recorder", "record", "--no-cu") == ["--no-cursor"])
    #expect(try bash("recorder", "record", "--pixel-format", "yuv") == ["yuv420p", "yuv444p"])
    #expect(try bash("recorder", "record", "--pixel-format", "=", "bg") == ["bgr0"])
    #expect(try bash("recorder", "show", "20261130") == ["20261130T021533Z-k3x9"])
    #expect(try bash("recorder", "frame", "la") == ["last"])
    #expect(try bash("recorder", "generat") == [])
  }

  @Test func bashCompletesFiles() throws {
    #expect(try bash("recorder", "export", "last", "-o", "Package.sw") == ["Package.swift"])
  }

  /// What fish offers for the end of `line`, descriptions left out.
  private func fish(_ line: String) throws -> [String] {
    let script =
      "function recorder; end; source completions/recorder.fish; complete -C '\(line)' | string replace -r '\\t.*' ''"
    let result = try run(["fish", "--no-config", "-c", script])
    #expect(result.errorText == "")
    return result.lines.sorted()
  }

  @Test func fishCompletesCommandsOptionsAndValues() throws {
    #expect(try fish("recorder re") == ["record", "recover", "redact", "replay", "resume"])
    #expect(try fish("recorder index ") == ["rebuild"])
    #expect(try fish("recorder record --no-cu") == ["--no-cursor"])
    #expect(try fish("recorder record --pixel-format yuv") == ["yuv420p", "yuv444p"])
    #expect(try fish("recorder show la") == ["last"])
    #expect(try fish("recorder export last -o Package.sw") == ["Package.swift"])
  }

  /// What zsh makes of `line` when Tab is pressed, in an interactive shell behind a pseudo terminal.
  private func zsh(_ line: String) throws -> String {
    let script = """
      zmodload zsh/zpty zsh/zselect
      zpty -b shell 'TERM=dumb zsh -f -i'
      expect() {
        local chunk; out=
        until [[ $out == *$~1* ]]; do zpty -r -t shell chunk && out+=$chunk || zselect -t 1; done
      }
      zpty -w shell 'show() { print -r -- "got:${BUFFER}:end" }; zle -N show; bindkey "^X" show'
      zpty -w shell 'fpath=(completions $fpath); autoload -Uz compinit; compinit -D -u; PS1=REA""DY'
      expect READY
      zpty -w -n shell $'\(line)\\t\\C-x'
      expect 'got:*:end'
      print -r -- "${${out#*got:}%%:end*}"
      zpty -d shell
      """
    let result = try run(["zsh", "-f", "-c", script], seconds: 20)
    #expect(result.errorText == "")
    return result.text
  }

  @Test func zshCompletesCommandsAndOptions() throws {
    #expect(try zsh("recorder sea") == "recorder search \n")
    #expect(try zsh("recorder index r") == "recorder index rebuild \n")
    #expect(try zsh("recorder record --no-cu") == "recorder record --no-cursor \n")
    #expect(try zsh("recorder record --pixel-format b") == "recorder record --pixel-format bgr0 \n")
  }
}
