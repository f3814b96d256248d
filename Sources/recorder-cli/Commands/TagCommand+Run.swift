import Archive
import Arguments
import Commands
import SessionModel

extension TagCommand: Command {
  func run() async throws {
    guard tags.allSatisfy({ tag in !tag.allSatisfy(\.isWhitespace) }) else {
      throw RecorderError(.usage, "A tag is empty.", hint: "Write at least one letter.")
    }
    let archive = try await OpenArchive()
    let id = try archive.reader.resolve(session.name.text)
    let session = try archive.reader.session(id)
    let labels = SessionLabels(manifest: try? session.manifest(), annotations: try session.annotations())
    let now = WallTime.now()
    // Only what changes something is written down, and once.
    var changes: [String] = []
    for tag in tags where labels.tags.contains(tag) == remove && !changes.contains(tag) { changes.append(tag) }
    try await archive.annotate(
      id, changes.map { Annotation(added: now, kind: remove ? .untag : .tag, text: $0) })
  }
}
