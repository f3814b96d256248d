import Archive
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Index

@Suite struct SessionIndexTests {
  let archive: IndexedArchive
  init() throws { archive = try IndexedArchive() }

  @Test func noArchiveIsAnEmptyList() async throws {
    let index = try await archive.index()
    #expect(try await index.list() == [])
    #expect(try await index.snippets("x") == [])
    #expect(try await index.rebuild() == 0)
    #expect(access(archive.location.path, F_OK) != 0)
  }

  @Test func listShowsWhatASessionIs() async throws {
    let first = try archive.add(0, duration: 12.5, title: "a", tags: ["t", "s"])
    let (second, secondID) = try archive.begin(5, [event(3, .alive)])
    let (descriptor, _) = try second.createSegment(1)
    #expect(write(descriptor, "12345", 5) == 5)
    close(descriptor)
    let index = try await archive.index()
    let list = try await index.list()
    #expect(list.map(\.id) == [secondID, first])
    #expect(list.map(\.state) == [.recording, .finished])
    #expect(list.map(\.duration.seconds) == [3, 12.5])
    #expect(list.map(\.bytes) == [5, 0])
    #expect(list.map(\.title) == [nil, "a"])
    #expect(list.map(\.tags) == [[], ["t", "s"]])
    #expect(list.map(\.reason) == [nil, "duration"])
    #expect(list.map(\.source) == ["display", "display"])
    #expect(list.map { $0.began.text(utcOffset: $0.utcOffset) } == ["2026-11-30 03:15:05", "2026-11-30 03:15:00"])
    var query = ListQuery()
    query.tags = ["s"]
    #expect(try await index.list(query).map(\.id) == [first])
    query = ListQuery()
    query.since = list[0].began
    #expect(try await index.list(query).map(\.id) == [secondID])
    query = ListQuery()
    query.until = list[0].began
    #expect(try await index.list(query).map(\.id) == [first])
    query = ListQuery()
    query.limit = 1
    #expect(try await index.list(query).map(\.id) == [secondID])
    second.close()
  }

  /// Case I16: a session whose recorder was killed is listed and found by the next command.
  @Test func aKilledSessionIsClosedAndFound() async throws {
    let id = try archive.add(0, duration: nil, [event(1, .focus, window(1, "Report")), event(7, .alive)])
    let index = SessionIndex(archive.location)
    #expect(try await index.refresh().recovered == [id])
    let list = try await index.list()
    #expect(list.map(\.state) == [.interrupted])
    #expect(list.map(\.duration.seconds) == [7])
    #expect(list.map(\.reason) == ["killed"])
    #expect(try await index.snippets("report") == ["Report"])
    #expect(try archive.reader.pending() == [])
    #expect(try await index.refresh() == SessionIndex.Refreshed())
  }

  @Test func aSessionIsSearchableWhileItRecords() async throws {
    let (writer, id) = try archive.begin(0, [event(1, .focus, window(1, "First"))])
    let index = try await archive.index()
    try await index.refresh(live: true)
    #expect(try await index.snippets("first") == ["First"])
    try writer.append(event(2, .focus, window(2, "Second")))
    try await index.refresh(live: true)
    #expect(try await index.snippets("second") == ["Second"])
    #expect(try await index.snippets("first") == ["First"])
    #expect(try archive.reader.pending() == [id])
    writer.close()
  }

  @Test func labelsChangeWithoutTheRest() async throws {
    let id = try archive.add(0, title: "old", [event(1, .focus, window(1, "Window"))])
    let index = try await archive.index()
    func annotate(_ kind: Annotation.Kind, _ text: String) async throws {
      try archive.reader.annotate(id, Annotation(added: WallTime(nanoseconds: 0), kind: kind, text: text))
      try await index.reindex(id, labelsOnly: true)
    }
    try await annotate(.title, "new")
    try await annotate(.tag, "urgent")
    try await annotate(.note, "call back")
    #expect(try await index.list().map(\.title) == ["new"])
    #expect(try await index.list().map(\.tags) == [["urgent"]])
    #expect(try await index.snippets("old") == [])
    for words in ["new", "urgent", "call back", "window"] {
      #expect(try await index.search(SearchQuery(words: words)).count == 1, "\(words)")
    }
    try await annotate(.untag, "urgent")
    #expect(try await index.snippets("urgent") == [])
    #expect(try archive.reader.pending() == [])
  }

  @Test func labelsOfASessionThatHasJustEndedBringTheRest() async throws {
    let (writer, id) = try archive.begin(0, [event(1, .focus, window(1, "Early"))])
    let index = try await archive.index()
    try writer.append(event(2, .focus, window(2, "Late")))
    writer.close()
    try archive.reader.annotate(id, Annotation(added: WallTime(nanoseconds: 0), kind: .tag, text: "t"))
    try await index.reindex(id, labelsOnly: true)
    #expect(try await index.snippets("late") == ["Late"])
    #expect(try await index.list().map(\.state) == [.interrupted])
    #expect(try archive.reader.pending() == [])
  }

  @Test func showTellsWhatHappened() async throws {
    let id = try archive.add(
      0, title: "t",
      [
        event(0, .focus, window(1, "short")), event(1, .focus, window(2, "long")), event(4, .marker, text: "m"),
        event(5, .focus, window(3, "short too")), event(6, .focus, window(2, "long")), event(8, .warning, text: "w"),
      ])
    let index = try await archive.index()
    let detail = try await index.session(id)
    #expect(detail.summary.title == "t")
    #expect(detail.moments.map(\.kind) == ["marker", "warning"])
    #expect(detail.moments.map(\.snippet) == ["m", "w"])
    #expect(detail.windows.map(\.words) == ["long", "short", "short too"])
    #expect(detail.windows.map(\.total) == [ns(8), ns(1), ns(1)])
    #expect(detail.windows.map(\.first.seconds) == [1.2, 0.2, 5.2])
    #expect(try await index.session(id, limit: 1).windows.count == 1)
    let other = try #require(SessionID("20200101T000000Z-aaaa"))
    #expect(await failure { try await index.session(other) }?.code == .sessionNotFound)
  }

  @Test func aDeletedSessionLeavesNothingBehind() async throws {
    let secret = "Xylophonkonzert"
    let id = try archive.add(0, title: secret, [event(0, .focus, window(1, "\(secret) \(secret)"))])
    let kept = try archive.add(5, [event(0, .focus, window(1, "kept"))])
    let index = try await archive.index()
    #expect(try await index.snippets(secret).count == 2)
    let search = ["grep", "-ril", "--binary-files=text", secret, archive.location.path]
    #expect(try run(search).lines.contains { $0.contains("index.sqlite") })
    try archive.reader.delete(id, as: .delete)
    try await index.remove(id)
    #expect(try run(search).text == "")
    #expect(try await index.list().map(\.id) == [kept])
    #expect(try await index.snippets("kept") == ["kept"])
    #expect(try archive.reader.deleted() == [])
  }

  @Test func aDeletionThatWasKilledIsFinishedByTheNextCommand() async throws {
    let id = try archive.add(0, [event(0, .focus, window(1, "gone"))])
    _ = try await archive.index()
    try archive.reader.delete(id, as: .delete)
    let index = try await archive.index()
    #expect(try await index.list() == [])
    #expect(try await index.snippets("gone") == [])
    #expect(try archive.reader.deleted() == [])
  }

  /// The pages that a list looks at are not more for a hundred times as many sessions, but for the depth of the trees.
  @Test func aListLooksAtNoMoreOfALargerArchive() async throws {
    for second in 0..<100 { try archive.add(second, title: "call \(second)") }
    func pages() async throws -> Int {
      let index = try await archive.index()
      var list = ListQuery()
      list.limit = 20
      // Reads the tables' own description first.
      _ = try await index.list(list)
      let before = await index.pages
      #expect(try await index.list(list).count == 20)
      return await index.pages - before
    }
    let few = try await pages()
    try archive.sql(
      """
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
      INSERT INTO session (id, began, utcOffset, duration, state, source, bytes, tags)
      SELECT strftime('%Y%m%dT%H%M%SZ', 1735689600 + i * 60, 'unixepoch') || '-aaaa', (1735689600 + i * 60) * 1000000000,
        0, 0, 'finished', 'display', 0, '[]' FROM n
      """)
    let many = try await pages()
    #expect(few > 0 && many <= 2 * few + 20, "\(few) \(many)")
    let index = try await archive.index()
    #expect(try await index.list().count == 10_100)
  }

  /// The statements and rows that a command costs do not depend on the archive's size.
  @Test func aCommandReadsNoMoreThanItShows() async throws {
    for second in 0..<100 {
      try archive.add(
        second, title: "call \(second)",
        [event(0, .focus, window(1, "Report \(second)")), event(5, .focus, window(2, "Inbox")), event(6, .marker)])
    }
    _ = try await archive.index()
    let index = try await archive.index()
    #expect(await index.counts == SQLCounts())
    func cost<Result>(_ body: () async throws -> [Result]) async throws -> (statements: Int, unseen: Int) {
      let before = await index.counts
      let shown = try await body().count
      let after = await index.counts
      return (after.statements - before.statements, after.rows - before.rows - shown)
    }
    var list = ListQuery()
    list.limit = 20
    #expect(try await cost { try await index.list(list) } == (1, 0))
    #expect(try await cost { try await index.list() } == (1, 0))
    #expect(try await cost { try await index.search(SearchQuery(words: "inbox")) } == (1, 0))
    var query = SearchQuery(words: "call")
    (query.tags, query.window) = (["none"], "x")
    #expect(try await cost { try await index.search(query) } == (1, 0))
    let id = try #require(try await index.list().last?.id)
    let show = try await cost {
      let detail = try await index.session(id)
      return [detail.summary.id.description] + detail.moments.map(\.snippet) + detail.windows.map(\.words)
    }
    #expect(show == (3, 0))
  }
}
