import Arguments
import Commands
import Index
import SessionModel
import Threading

extension SearchCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive(live: true)
    let now = WallTime.now()
    var query = SearchQuery(words: words.joined(separator: " "))
    query.since = since?.wallTime(now: now)
    query.until = until?.wallTime(now: now)
    query.tags = tag
    query.window = window
    query.limit = limit
    let wanted = query
    let hits = try await EndingSignals.deferring { () throws(RecorderError) in try await archive.index.search(wanted) }
    if output.json { return try StandardOutput.jsonLines(hits) }
    if hits.isEmpty { return Diagnostics.message("Nothing was found.") }
    for hit in hits {
      let time = hit.wallTime.text(utcOffset: hit.utcOffset)
      try StandardOutput.line("\(time)  \(hit.kind)  \(hit.snippet.printable)\n    \(hit.command)")
    }
  }
}
