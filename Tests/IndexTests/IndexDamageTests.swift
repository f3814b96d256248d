import Archive
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Index

/// An index that is damaged where SQLite does not look by itself, one that another process does not let go, and those of
/// older versions.
@Suite struct IndexDamageTests {
  let archive: IndexedArchive
  let id: SessionID

  init() throws {
    archive = try IndexedArchive()
    id = try archive.add(
      0, title: "Call", [event(1, .focus, window(1, "Quarterly report")), event(5, .focus, window(2, "報告書 kernel"))])
    for second in 1..<20 {
      try archive.add(second * 20, [event(1, .focus, window(1, "Report \(second) of planet \(second * 7919)"))])
    }
    try archive.reader.annotate(id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "report this"))
  }

  func answers(_ index: SessionIndex) async throws -> String {
    var parts: [String] = []
    for words in ["report", "planet", "報告", "kernel", "call", "1583"] {
      parts.append("\(try await index.search(SearchQuery(words: words)))")
    }
    return parts.joined(separator: "\n")
  }

  var setAside: [String] {
    get throws { try run(["ls", archive.location.path]).lines.filter { $0.hasPrefix("index.sqlite.damaged-") } }
  }

  /// Puts the last look at the file so many seconds back.
  func age(bySeconds seconds: Int) throws {
    #expect(try run(["touch", "-d", "@\(time(nil) - seconds)", "\(archive.location.path)/index.lock"]).status == 0)
  }

  /// Flips one bit of a row of `table`'s `column`: which, `seed` says.
  func flip(_ table: String, _ column: String, seed: Int) throws {
    let script = """
      import random, sqlite3, sys
      random.seed(\(seed))
      database = sqlite3.connect(sys.argv[1])
      rows = database.execute("SELECT rowid, \(column) FROM \(table) WHERE length(\(column)) > 0").fetchall()
      number, value = random.choice(rows)
      value = bytearray(value)
      value[random.randrange(len(value))] ^= 1 << random.randrange(8)
      database.execute("UPDATE \(table) SET \(column) = ? WHERE rowid = ?", (bytes(value), number))
      database.commit()
      """
    let result = try run(["python3", "-c", script, archive.database])
    guard result.status == 0 else { throw TestFailure(result.errorText) }
  }

  /// SQLite's own check sees none of these. What is not noticed did no harm; the person is told once, and what was
  /// written to the sessions is there.
  @Test(arguments: [("momentText_data", "block", 24), ("momentText_docsize", "sz", 6)])
  func flippedBitsOfTheFullTextIndexAreNoticed(table: String, column: String, flips: Int) async throws {
    let before = try await answers(archive.index())
    var noticed = 0
    for seed in 0..<flips {
      let count = try setAside.count
      try flip(table, column, seed: seed)
      #expect(try archive.sql("PRAGMA integrity_check") == "ok\n")
      try age(bySeconds: 90_000)
      let index = SessionIndex(archive.location)
      let refreshed = try await index.refresh()
      if refreshed.setAside != nil { noticed += 1 }
      #expect(try await index.refresh().setAside == nil)
      #expect(try await answers(index) == before)
      #expect(try setAside.count == count + (refreshed.setAside == nil ? 0 : 1))
      #expect(try await SessionIndex(archive.location).refresh().setAside == nil)
    }
    #expect(noticed >= flips / 2, "\(noticed) of \(flips)")
    #expect(try archive.reader.session(id).annotations().map(\.text) == ["report this"])
  }

  /// About one flipped bit in five thousand gives other answers and passes FTS5's own check too: a word in two moments, each
  /// moved by as much.
  @Test func whatPassesTheFullTextIndexsOwnCheckIsNoticed() async throws {
    let before = try await answers(archive.index())
    let script = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], isolation_level=None)
      database.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab (main, momentText, instance)")
      held = database.execute("SELECT * FROM held").fetchall()
      for number, block in database.execute("SELECT id, block FROM momentText_data WHERE id > 10").fetchall():
          for bit in range(32, 8 * len(block)):
              changed = bytearray(block)
              changed[bit // 8] ^= 1 << bit % 8
              database.execute("BEGIN")
              try:
                  database.execute("UPDATE momentText_data SET block = ? WHERE id = ?", (bytes(changed), number))
                  database.execute("INSERT INTO momentText (momentText, rank) VALUES ('integrity-check', 1)")
                  if database.execute("SELECT * FROM held").fetchall() != held:
                      database.execute("COMMIT")
                      sys.exit(0)
              except sqlite3.DatabaseError:
                  pass
              database.execute("ROLLBACK")
      sys.exit("no such bit")
      """
    let result = try run(["python3", "-c", script, archive.database])
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try archive.sql("PRAGMA integrity_check") == "ok\n")
    try archive.sql("INSERT INTO momentText (momentText, rank) VALUES ('integrity-check', 1)")
    try age(bySeconds: 90_000)
    let index = SessionIndex(archive.location)
    #expect(try await index.refresh().setAside != nil)
    #expect(try await answers(index) == before)
    #expect(try setAside.count == 1)
  }

  /// A word that is gone from the full-text index is not missed before the day is over, unless the file was left open.
  @Test func theFileIsLookedThroughOnceADayAndWhenItWasLeftOpen() async throws {
    _ = try await archive.index()
    let damage = "DELETE FROM momentText_docsize WHERE id = (SELECT max(id) FROM momentText_docsize)"
    try archive.sql(damage)
    try age(bySeconds: 3_000)
    #expect(try await SessionIndex(archive.location).refresh().setAside == nil)
    // A process that is killed while it has the file open leaves the log.
    let open = try ChildProcess([
      "python3", "-c",
      """
      import sqlite3, sys, time
      database = sqlite3.connect(sys.argv[1])
      database.execute("UPDATE moment SET weight = weight")
      database.commit()
      print("open", flush=True)
      time.sleep(600)
      """, archive.database,
    ])
    try waitUntil("the file to be open") { open.outputSoFar == "open\n" }
    open.signal(SIGKILL)
    _ = try open.wait()
    #expect(try await SessionIndex(archive.location).refresh().setAside != nil)
    #expect(try await SessionIndex(archive.location).refresh().setAside == nil)
    try archive.sql(damage)
    try age(bySeconds: 86_401)
    #expect(try await SessionIndex(archive.location).refresh().setAside != nil)
    // A time to come, as after the clock was put back.
    try archive.sql(damage)
    try age(bySeconds: -90_000)
    #expect(try await SessionIndex(archive.location).refresh().setAside != nil)
  }

  /// Who does not let go is named, after a limit.
  @Test(arguments: [true, false]) func aLockedIndexSaysWhoHoldsIt(isDatabase: Bool) async throws {
    _ = try await archive.index()
    try archive.add(900)
    if !isDatabase { try writeFile(archive.database, []) }
    let script =
      isDatabase
      ? """
      import sqlite3, sys, time
      database = sqlite3.connect(sys.argv[1], isolation_level=None)
      database.execute("BEGIN IMMEDIATE")
      """
      : """
      import fcntl, sys, time
      lock = open(sys.argv[1].replace("index.sqlite", "index.lock"), "r+")
      fcntl.flock(lock, fcntl.LOCK_EX)
      """
    let holder = try ChildProcess(
      ["python3", "-c", script + "\nprint('held', flush=True)\ntime.sleep(600)", archive.database])
    try waitUntil("the lock") { holder.outputSoFar == "held\n" }
    let index = SessionIndex(archive.location, patience: 100)
    let error = await failure { try await index.refresh() }
    #expect(error?.code == .busy)
    #expect(
      error?.message.hasSuffix("index.sqlite is in use by python3 (process \(holder.pid)).") == true,
      "\(error?.message ?? "")")
    holder.signal(SIGKILL)
    _ = try holder.wait()
    try await index.refresh()
    #expect(try await index.list().count == 21)
  }

  /// The index of each older version becomes one of this in one go, and is none that was damaged.
  @Test(arguments: [1, 2]) func anOlderIndexIsMadeOneOfThisVersion(version: Int) async throws {
    let old = try IndexedArchive()
    let fixtures = "\(JSONSchema.repository)/Tests/Fixtures"
    #expect(try run(["cp", "-r", "\(fixtures)/archives/v1", old.location.path]).status == 0)
    #expect(try run(["cp", "\(fixtures)/index/v\(version).sqlite", old.database]).status == 0)
    let index = SessionIndex(old.location)
    #expect(try await index.refresh().setAside == nil)
    #expect(try await index.list().count == 1)
    #expect(try await index.snippets("inbox") == ["Inbox (XTerm)"])
    #expect(try await index.snippets("wrong total") == ["wrong total"])
    #expect(try old.sql("PRAGMA user_version") == "\(Schema.version)\n")
  }

  /// A program that is killed while it makes the file leaves what the next one makes anew.
  @Test func aMigrationThatIsBrokenOffLeavesTheOldOne() async throws {
    let database = try Database(path: nil)
    try database.execute(Schema.migrations[0])
    let broken = await failure {
      do throws(IndexError) {
        try database.write { () throws(IndexError) in
          try database.execute(Schema.migrations[2])
          try database.execute("no statement")
        }
      } catch { throw error.error(path: "") }
    }
    #expect(broken != nil)
    try database.execute("INSERT INTO momentText (rowid, words, window) VALUES (1, 'a', 'b')")
    try database.execute(Schema.migrations[2])
  }
}
