import Arguments
import Commands
import Index

extension IndexRebuildCommand: Command {
  func run() async throws {
    let index = try OpenArchive.open().index
    let count = try await index.rebuild()
    OpenArchive.report(try await index.refresh())
    Diagnostics.message("The index is made anew; it has \(count) session\(count == 1 ? "" : "s").")
  }
}
