import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

@Suite struct SessionLogTests {
  let archive: TestArchive
  let id: SessionID
  let path: String

  init() throws {
    archive = try TestArchive()
    id = try sessionID("20261130T021533Z-k3x9")
    path = "\(sessionPath(archive.root, id))/log.ndjson"
  }

  private func entry(_ time: Int64, _ message: String = "noticed") -> LogEntry {
    var entry = LogEntry(
      time: Timestamp(nanoseconds: time), utc: WallTime(nanoseconds: 1_796_004_933_000_000_000), level: .warning,
      category: .audio, message: message)
    entry.fields = ["input": "micro\u{1B}phone"]
    return entry
  }

  private func read(from offset: Int64 = 0) throws -> (entries: [LogEntry], end: Int64) {
    var entries: [LogEntry] = []
    let session = try archive.reader.session(id)
    let end = try session.forEachLogEntry(from: offset) { (entry) throws(RecorderError) in entries.append(entry) }
    return (entries, end)
  }

  @Test func whatIsWrittenIsReadOnFromWhereOneWas() throws {
    let writer = try archive.create(id)
    #expect(try read().entries.isEmpty)
    let log = try writer.makeLog()
    #expect(log.id == id)
    #expect(try log.append([entry(-5), entry(6)]))
    let first = try read()
    #expect(first.entries == [entry(-5), entry(6)])
    #expect(try log.append([entry(7)]))
    // Half a line, which its writer was killed in, is left for the next look.
    try writeFile(path, readFile(path) + Array("{\"time\":".utf8))
    let second = try read(from: first.end)
    #expect(second.entries == [entry(7)])
    #expect(try read(from: second.end).entries.isEmpty)
    #expect(mode(path) == 0o600)
  }

  @Test func itIsBoundedAndFollowsNoLink() throws {
    let writer = try archive.create(id)
    let log = try writer.makeLog()
    let long = (0..<64).map { entry($0, String(repeating: "x", count: 10_000)) }
    var count = 0
    while try log.append(long) { count += 1 }
    #expect(count == 6)
    #expect(Int64(try readFile(path).count) <= SessionLog.largest)
    // A smaller one still has room.
    #expect(try log.append([entry(1)]))
    #expect(try read().entries.count == count * 64 + 1)
    // Its bytes are the session's.
    #expect(try archive.reader.session(id).bytes() >= Int64(readFile(path).count))
    #expect(unlink(path) == 0)
    let elsewhere = archive.folder.file("elsewhere")
    #expect(symlink(elsewhere, path) == 0)
    #expect(failure { () throws(RecorderError) in _ = try writer.makeLog() }?.code == .cannotCreate)
    #expect(mode(elsewhere) == nil)
  }
}
