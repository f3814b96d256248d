import Archive
import Arguments
import Commands
import Index
import SessionModel

/// One line of `recover --json`: a session that was closed, or could not be.
struct RecoveredSession: Encodable {
  /// The session.
  let session: SessionID
  /// `recovered`, or `damaged` when it cannot be read and was left as it is.
  let state: String
  /// Its length; nil when it cannot be read.
  let duration: Timestamp?
  /// The head of its chain; nil when it cannot be read.
  let head: String?
  /// One sentence: why the recorder ended, or what is wrong.
  let message: String
}

extension RecoverCommand: Command {
  func run() async throws {
    let (reader, index) = try OpenArchive.open()
    let refreshed = try await index.refresh()
    OpenArchive.reportRedacted(refreshed)
    for problem in refreshed.problems { Diagnostics.report(problem) }
    var worst = refreshed.problems.first
    var done: [RecoveredSession] = []
    for id in try reader.sessionIDs() {
      do throws(RecorderError) {
        switch try reader.recover(id) {
        case .recovered(let manifest):
          done.append(Self.line(manifest))
          try await index.reindex(id)
        case .closed(let manifest):
          if refreshed.recovered.contains(id) { done.append(Self.line(manifest)) }
        case .damaged(let error):
          done.append(
            RecoveredSession(session: id, state: "damaged", duration: nil, head: nil, message: error.description))
        case .live: break
        }
      } catch {
        Diagnostics.report(error)
        worst = worst ?? error
      }
    }
    if output.json {
      try StandardOutput.jsonLines(done)
    } else {
      for line in done {
        let length = line.duration.map { "  \($0)" } ?? ""
        try StandardOutput.line("\(line.session)  \(line.state)\(length)  \(line.message.printable)")
      }
      if done.isEmpty, worst == nil { Diagnostics.message("There is nothing to recover.") }
    }
    if let worst { throw worst }
  }

  private static func line(_ manifest: Manifest) -> RecoveredSession {
    RecoveredSession(
      session: manifest.id, state: "recovered", duration: manifest.duration, head: manifest.chain?.head,
      message: manifest.end?.message ?? "")
  }
}
