/// Which of a session's sound tracks is meant, as a person names it.
package enum SoundTrackSpecification: Hashable, Sendable {
  /// The sum of all inputs.
  case mix
  /// What one input delivered, by its name in the manifest.
  case input(String)
  /// The track of that number, as `show` counts them.
  case number(Int)

  /// The track that `text` names: `mix`, `app`, `mic`, or a number.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    switch text {
    case "mix": self = .mix
    case "app": self = .input("application")
    case "mic": self = .input("microphone")
    default:
      guard isDigits(text), let number = Int(text) else {
        throw RecorderError(
          .usage, "\"\(text.printable(atMost: 60))\" is no sound track.",
          hint: "Write mix, app, mic, or the number of a track as recorder show counts them.")
      }
      self = .number(number)
    }
  }

  /// The track that it means among those of `manifest`; nil when there is none.
  package func track(in manifest: Manifest) -> Manifest.Track? {
    let sound = manifest.tracks.filter { $0.kind == .audio }
    return switch self {
    case .mix: sound.first
    // Alone, an input is the mix and no track of its own.
    case .input(let name): sound.first { $0.inputs == [name] }
    case .number(let number): sound.first { $0.index == number }
    }
  }
}

extension Manifest.Track {
  /// What a person calls a sound track: `mix`, or the input's name.
  package var soundName: String { inputs?.count == 1 ? inputs?.first ?? "mix" : "mix" }
}
