import Archive
import Arguments
import Commands
import SessionModel

extension NoteCommand: Command {
  func run() async throws {
    guard !text.allSatisfy(\.isWhitespace) else {
      throw RecorderError(.usage, "The note is empty.", hint: "Write it as one word, in quotes.")
    }
    let archive = try await OpenArchive()
    let id = try archive.reader.resolve(session.name.text)
    let time = try at.map { position throws(RecorderError) in
      try Self.time(position, in: archive.reader.session(id).manifest())
    }
    try await archive.annotate(id, [Annotation(added: .now(), kind: .note, text: text, time: time)])
  }

  /// The time that `position` names in the session with `manifest`.
  /// - Throws: `RecorderError` (usage) when the session has no such time.
  private static func time(_ position: TimePosition, in manifest: Manifest) throws(RecorderError) -> Timestamp {
    let time = position.timestamp(on: manifest.clock)
    let isAfter = manifest.end.map { time > $0.time } ?? false
    guard time >= .zero, !isAfter else {
      let length = manifest.end.map { ", which lasts \($0.time)" } ?? ""
      throw RecorderError(.usage, "--at: \(time) is outside the session \(manifest.id)\(length).")
    }
    return time
  }
}
