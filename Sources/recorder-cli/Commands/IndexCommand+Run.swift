import Archive
import Arguments
import Commands
import Index

extension IndexRebuildCommand: Command {
  func run() async throws {
    let archive = try OpenArchive.open()
    let count = try await archive.index.rebuild()
    OpenArchive.report(try await archive.index.refresh())
    if let notice = try archive.reader.strayNotice() { Diagnostics.message(notice) }
    Diagnostics.message("The index is made anew; it has \(count) session\(count == 1 ? "" : "s").")
  }
}
