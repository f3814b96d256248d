import Archive
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Index

@Suite struct IndexFileTests {
  let archive: IndexedArchive
  let id: SessionID

  init() throws {
    archive = try IndexedArchive()
    id = try archive.add(
      0, title: "Call", tags: ["a"],
      [event(1, .focus, window(1, "Report")), event(3, .marker, text: "look"), event(5, .focus, window(2, "報告書"))])
    try archive.add(10, [event(1, .focus, window(1, "Report"))])
    try archive.reader.annotate(id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "report this"))
  }

  /// Everything that the index answers.
  func answers(_ index: SessionIndex) async throws -> String {
    var parts = ["\(try await index.list())", "\(try await index.session(id))"]
    for words in ["report", "look", "報告", "call", ""] {
      parts.append("\(try await index.search(SearchQuery(words: words)))")
    }
    return parts.joined(separator: "\n")
  }

  var setAside: [String] {
    get throws { try run(["ls", archive.location.path]).lines.filter { $0.hasPrefix("index.sqlite.damaged-") } }
  }

  @Test(arguments: ["folder", "fifo", "link"]) func whatIsInTheLocksPlaceGoesOutOfTheWay(kind: String) async throws {
    let before = try await answers(archive.index())
    let lock = "\(archive.location.path)/index.lock"
    #expect(try run(["sh", "-c", "rm \(archive.database)* \(lock)"]).status == 0)
    switch kind {
    case "folder": mkdir(lock, 0o700)
    case "fifo": mkfifo(lock, 0o600)
    default: symlink("/nowhere", lock)
    }
    #expect(try await answers(archive.index()) == before)
    let names = try run(["ls", archive.location.path]).lines.filter { $0.hasPrefix("index.lock") }
    #expect(names.count == 2 && names.last?.hasPrefix("index.lock.damaged-") == true)
  }

  /// Case I07: made anew from the archive alone, the index gives the same answers.
  @Test func theIndexIsMadeAgainFromTheArchive() async throws {
    let before = try await answers(archive.index())
    #expect(try await SessionIndex(archive.location).rebuild() == 2)
    #expect(try await answers(archive.index()) == before)
    #expect(try run(["sh", "-c", "rm \(archive.database)*"]).status == 0)
    #expect(try await answers(archive.index()) == before)
    #expect(try setAside == [])
  }

  @Test func answersDoNotDependOnTheOrderOfIndexing() async throws {
    let index = try await archive.index()
    let before = try await answers(index)
    for _ in 0..<3 { try await index.reindex(id) }
    #expect(try await answers(index) == before)
    try await index.rebuild()
    #expect(try await answers(index) == before)
  }

  @Test(arguments: ["rubbish", "empty", "cut", "middle", "folder", "link", "foreign", "tables", "full-text"])
  func aDamagedIndexIsSetAsideAndMadeAnew(kind: String) async throws {
    let before = try await answers(archive.index())
    let bytes = try readFile(archive.database)
    switch kind {
    case "rubbish": try writeFile(archive.database, (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    case "empty": try writeFile(archive.database, [])
    case "cut": try writeFile(archive.database, bytes.prefix(bytes.count / 2))
    case "middle":
      var damaged = bytes
      for index in 4096..<damaged.count { damaged[index] = 0xA5 }
      try writeFile(archive.database, damaged)
    case "folder":
      #expect(unlink(archive.database) == 0 && mkdir(archive.database, 0o700) == 0)
    case "link":
      try writeFile(archive.folder.file("target"), bytes)
      #expect(unlink(archive.database) == 0 && symlink(archive.folder.file("target"), archive.database) == 0)
    case "foreign":
      #expect(unlink(archive.database) == 0)
      try archive.sql("CREATE TABLE session (x)")
    case "tables": try archive.sql("DROP TABLE moment")
    default: try archive.sql("DELETE FROM momentText_data WHERE id > 10")
    }
    let index = try await archive.index()
    #expect(try await answers(index) == before)
    #expect(try setAside.isEmpty == (kind == "empty"))
    if kind == "link" { #expect(try readFile(archive.folder.file("target")) == bytes) }
    #expect(try await answers(archive.index()) == before)
  }

  /// Case I12: a newer program's index is refused and stays as it is, to the byte.
  @Test func aNewerIndexIsRefusedAndLeftAlone() async throws {
    _ = try await archive.index()
    try archive.sql("PRAGMA user_version = 99")
    let before = try readFile(archive.database)
    for action in 0..<4 {
      let index = SessionIndex(archive.location)
      let error = await failure {
        switch action {
        case 0: try await index.refresh()
        case 1: _ = try await index.list()
        case 2: try await index.rebuild()
        default: try await index.reindex(id)
        }
      }
      #expect(error?.code == .configuration)
      #expect(error?.message.contains("version 99") == true)
    }
    #expect(try readFile(archive.database) == before)
    #expect(try setAside == [])
  }

  /// Case R02: one bad session keeps none of the others out.
  @Test(arguments: ["manifest", "newer", "none", "fifo", "events", "file"])
  func oneBadSessionHarmsNoOther(kind: String) async throws {
    let bad = try archive.add(20, title: "bad", [event(1, .focus, window(1, "Unseen"))])
    let path = archive.path(of: bad)
    switch kind {
    case "manifest": try writeFile("\(path)/manifest.json", "{\"format\":1,".utf8)
    case "newer": try writeFile("\(path)/manifest.json", "{\"format\":2}".utf8)
    case "none": #expect(unlink("\(path)/manifest.json") == 0)
    case "fifo": #expect(unlink("\(path)/manifest.json") == 0 && mkfifo("\(path)/manifest.json", 0o600) == 0)
    case "events": #expect(unlink("\(path)/events.ndjson") == 0 && mkdir("\(path)/events.ndjson", 0o700) == 0)
    default: #expect(try run(["rm", "-r", path]).status == 0 && run(["touch", path]).status == 0)
    }
    let others = { (list: [SessionSummary]) in list.filter { $0.id != bad }.map(\.state) }
    for _ in 0..<2 {
      let index = try await archive.index()
      let list = try await index.list()
      #expect(others(list) == [.finished, .finished])
      #expect(try await index.snippets("report").count == 3)
      if ["manifest", "newer", "none", "fifo"].contains(kind) {
        let summary = try #require(list.first { $0.id == bad })
        #expect(summary.state == .damaged && summary.began == bad.began && summary.message != nil)
        #expect(try archive.reader.pending() == [])
      }
      if kind == "events" {
        #expect(list.first { $0.id == bad }?.state == .finished)
        #expect(try await index.snippets("bad") == ["bad"])
      }
      try await index.rebuild()
    }
  }

  /// Nothing of a session that was deleted stays in an index that was damaged once; another's file that was in its place does.
  @Test func aDamagedIndexGoesWithASessionThatItKnows() async throws {
    let secret = try archive.add(20, title: "hunter2")
    _ = try await archive.index()
    func damage(_ bytes: [UInt8]) async throws {
      try writeFile(archive.database, bytes)
      #expect(try run(["touch", "-d", "@1", "\(archive.location.path)/index.lock"]).status == 0)
      try await SessionIndex(archive.location).refresh()
    }
    var bytes = try readFile(archive.database)
    for index in 4096..<8192 { bytes[index] = 0xA5 }
    try await damage(bytes)
    try await damage(Array("somebody's notes".utf8))
    #expect(try setAside.count == 2)
    let held = try run(["grep", "-rla", "hunter2", archive.location.path]).lines
    #expect(held.contains { $0.contains("index.sqlite.damaged-") })
    try archive.reader.delete(secret, as: .delete)
    try await SessionIndex(archive.location).refresh()
    #expect(try run(["grep", "-rla", "hunter2", archive.location.path]).lines == [])
    #expect(try setAside.count == 1)
    #expect(try readFile("\(archive.location.path)/\(setAside[0])") == Array("somebody's notes".utf8))
  }

  /// Case I17: one that cannot be read is looked at once, kept as it is, and costs no later command anything.
  @Test func aDamagedSessionIsLookedAtOnce() async throws {
    _ = try await archive.index()
    func cost() async throws -> SQLCounts {
      let index = SessionIndex(archive.location)
      #expect(try await index.refresh() == SessionIndex.Refreshed())
      return await index.counts
    }
    let before = try await cost()
    let bad = try archive.add(20)
    let files = ["manifest.json", "events.ndjson"].map { "\(archive.path(of: bad))/\($0)" }
    for file in files { try writeFile(file, "no JSON\n".utf8) }
    let first = try await cost()
    #expect(first.statements > before.statements)
    for _ in 0..<3 { #expect(try await cost() == before) }
    for file in files { #expect(try readFile(file) == Array("no JSON\n".utf8)) }
    #expect(try await SessionIndex(archive.location).list().first?.state == .damaged)
  }

  /// Case I09: sessions that are not there, as on a disk that is not mounted, are missing and not forgotten.
  @Test func missingSessionsAreKept() async throws {
    let before = try await answers(archive.index())
    let sessions = "\(archive.location.path)/sessions"
    for isEmpty in [false, true] {
      #expect(rename(sessions, "\(sessions).away") == 0)
      if isEmpty { #expect(mkdir(sessions, 0o700) == 0) }
      let index = try await archive.index()
      #expect(try await index.list().map(\.state) == [.missing, .missing])
      #expect(try await index.snippets("report").count == 3)
      #expect(await failure { try await index.rebuild() }?.code == .sessionNotFound)
      if isEmpty { #expect(rmdir(sessions) == 0) }
      #expect(rename("\(sessions).away", sessions) == 0)
      #expect(try await answers(archive.index()) == before)
    }
  }

  /// Case I11: an archive that was moved has the same sessions, each once.
  @Test func aMovedArchiveHasTheSameSessions() async throws {
    let before = try await answers(archive.index())
    let moved = archive.folder.file("moved")
    #expect(rename(archive.location.path, moved) == 0)
    let index = SessionIndex(ArchiveLocation(path: moved))
    #expect(try await answers(index) == before)
    #expect(try await index.rebuild() == 2)
    #expect(try await answers(index) == before)
    // Sessions alone, without the index, into an archive that has one of them already.
    let other = archive.folder.file("other")
    #expect(mkdir(other, 0o700) == 0)
    #expect(try run(["cp", "-a", "\(moved)/sessions", other]).status == 0)
    let copy = SessionIndex(ArchiveLocation(path: other))
    #expect(try await answers(copy) == before)
  }

  /// Case I08: many processes at once wait for one another and never give up.
  @Test func manyConnectionsAtOnceAreServed() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<10 {
        group.addTask {
          for second in 15 + writer * 4..<18 + writer * 4 {
            let index = SessionIndex(archive.location)
            let id = try archive.add(second, [event(1, .focus, window(1, "Written"))])
            try await index.reindex(id)
            try archive.reader.delete(id, as: .delete)
            try await index.remove(id)
          }
          try archive.add(18 + writer * 4, [event(1, .focus, window(1, "Written"))])
        }
      }
      for _ in 0..<20 {
        group.addTask {
          for _ in 0..<5 {
            let index = SessionIndex(archive.location)
            let refreshed = try await index.refresh()
            #expect(refreshed.setAside == nil)
            #expect(try await index.snippets("look") == ["look"])
          }
        }
      }
      try await group.waitForAll()
    }
    let index = try await archive.index()
    #expect(try await index.list().count == 12)
    #expect(try await index.snippets("written").count == 10)
  }
}
