import Arguments
import Commands
import Index

extension IndexRebuildCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    let count = try await archive.index.rebuild()
    Diagnostics.message("The index is made anew; it has \(count) session\(count == 1 ? "" : "s").")
  }
}
