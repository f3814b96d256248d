import Archive
import Arguments
import Commands
import Index
import SessionModel

extension ListCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    var query = ListQuery()
    query.limit = limit
    query.tags = tag.map { [$0] } ?? []
    let sessions = try await archive.index.list(query)
    if output.json { return try StandardOutput.jsonLines(sessions) }
    if sessions.isEmpty {
      let place = archive.reader.location.path.printable
      let hint = tag == nil ? " recorder record makes the first." : ""
      return Diagnostics.message("There are no sessions\(tag == nil ? "" : " with that tag") in \(place).\(hint)")
    }
    var table = TextTable([
      .init("ID"), .init("STARTED"), .init("DURATION", rightAligned: true), .init("STATE"),
      .init("SIZE", rightAligned: true), .init("SOURCE"), .init("SOUND"), .init("TITLE"), .init("TAGS"),
    ])
    for session in sessions {
      table.append([
        session.id.description, session.began.text(utcOffset: session.utcOffset), "\(session.duration)",
        session.state.rawValue, ByteCount.text(session.bytes), session.source.printable(atMost: 30),
        session.sound?.first?.text ?? "",
        (session.title ?? "").printable(atMost: 60), session.tags.joined(separator: " "),
      ])
    }
    try StandardOutput.table(table)
  }
}
