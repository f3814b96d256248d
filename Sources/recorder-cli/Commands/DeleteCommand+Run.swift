import Archive
import Arguments
import Commands
import Index
import SessionModel

extension DeleteCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    // All names are understood before anything is deleted: `last` and `last~1` mean what they meant at the start.
    var ids: [SessionID] = []
    for name in sessions {
      let id = try archive.reader.resolve(name.text)
      if let protection = try archive.reader.session(id).protection() {
        throw RecorderError.isProtected(id, protection)
      }
      if !ids.contains(id) { ids.append(id) }
    }
    for id in ids {
      try archive.reader.delete(id, as: .delete, reason: reason)
      try await archive.index.remove(id)
      Diagnostics.message("Deleted \(id).")
    }
  }
}
