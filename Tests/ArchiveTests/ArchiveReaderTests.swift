import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

@Suite struct ArchiveReaderTests {
  let archive: TestArchive
  init() throws { archive = try TestArchive() }

  @discardableResult
  func add(_ text: String) throws -> SessionID {
    let id = try sessionID(text)
    try archive.create(id).close()
    return id
  }

  @Test func locationComesFromTheEnvironment() throws {
    func path(_ environment: [String: String]) throws -> String { try ArchiveLocation.standard(environment).path }
    #expect(try path(["RECORDER_ARCHIVE": "/r", "XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/r")
    #expect(try path(["RECORDER_ARCHIVE": "", "XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/x/recorder")
    #expect(try path(["XDG_DATA_HOME": "relative", "HOME": "/h"]) == "/h/.local/share/recorder")
    #expect(failure { () throws(RecorderError) in try ArchiveLocation.standard([:]) }?.code == .configuration)
    // What was not UTF-8 is another folder.
    let foreign = ["RECORDER_ARCHIVE", "XDG_DATA_HOME", "HOME"].map { name in [name: "/a/\u{FFFD}"] }
    for environment in foreign {
      let error = failure { () throws(RecorderError) in try ArchiveLocation.standard(environment) }
      #expect(error?.code == .configuration && error?.message.contains("not valid UTF-8: /a/") == true)
    }
  }

  @Test func sessionsAreFoundNewestFirst() throws {
    #expect(try Array(archive.reader.sessionIDs()) == [])
    #expect(try !archive.reader.isPresent())
    let texts = [
      "20251231T235959Z-aaaa", "20260101T000000Z-zzzz", "20261130T021533Z-aaaa", "20261130T021533Z-bbbb",
      "20261201T000000Z-0000",
    ]
    for text in texts.shuffled() { try add(text) }
    #expect(mkdir("\(archive.root)/sessions/2026/11/30/rubbish", 0o700) == 0)
    #expect(mkdir("\(archive.root)/sessions/2026/11/30/20261101T000000Z-aaaa", 0o700) == 0)
    #expect(mkdir("\(archive.root)/sessions/rubbish", 0o700) == 0)
    #expect(mkdir("\(archive.root)/sessions/2026/xx", 0o700) == 0)
    #expect(try archive.reader.sessionIDs().map(\.description) == Array(texts.reversed()))
    #expect(try archive.reader.isPresent())
  }

  @Test func daysAreReadWhenTheirTurnComes() throws {
    try add("20261130T021533Z-aaaa")
    try add("20261201T021533Z-bbbb")
    var ids = try archive.reader.sessionIDs()
    #expect(ids.next()?.description == "20261201T021533Z-bbbb")
    try add("20261130T031533Z-cccc")
    #expect(ids.next()?.description == "20261130T031533Z-cccc")
  }

  @Test func namesAreResolved() throws {
    let texts = [
      "20251231T235959Z-aaaa", "20261130T021533Z-aaab", "20261130T021533Z-aacb", "20261201T000000Z-0000",
    ]
    for text in texts { try add(text) }
    func resolved(_ text: String) throws -> String { try archive.reader.resolve(text).description }
    #expect(try resolved("last") == texts[3])
    #expect(try resolved("last~0") == texts[3])
    #expect(try resolved("last~3") == texts[0])
    #expect(try resolved("2025") == texts[0])
    #expect(try resolved("202512") == texts[0])
    #expect(try resolved("20261130t021533z-AAA") == texts[1])
    #expect(try resolved(texts[2]) == texts[2])
    let ambiguous = failure { () throws(RecorderError) in try archive.reader.resolve("20261130") }
    #expect(ambiguous?.code == .sessionNotFound)
    #expect(ambiguous?.message == "More than one session begins with \"20261130\": \(texts[2]), \(texts[1]).")
    let words = [
      "last~4", "last~", "last~-1", "last~99999999999999999999", "", "2024", "..", "/", "\0", "20261130T021533Z-aaab0",
      String(repeating: "2", count: 5000), "\u{1B}[31m", "last~1 ", "ß", "ŉ20261130", "20261130T021533ZßA",
    ]
    for text in words {
      let error = failure { () throws(RecorderError) in try archive.reader.resolve(text) }
      #expect(error?.code == .sessionNotFound, "\(text.printable)")
      #expect(error?.message.contains("\u{1B}") == false && (error?.message.utf8.count ?? 0) < 400)
    }
  }

  /// Case I14: where clocks go back, 02:30 comes twice; two recordings an hour apart keep their names and their order.
  @Test func theRepeatedHourKeepsBothSessions() throws {
    // Berlin, 2026-10-25: 02:30 CEST is 00:30 UTC, 02:30 CET is 01:30 UTC.
    var generator = SystemRandomNumberGenerator()
    let first = try #require(WallTime(rfc3339: "2026-10-25T02:30:00+02:00"))
    let second = try #require(WallTime(rfc3339: "2026-10-25T02:30:00+01:00"))
    let ids = [first, second].map { SessionID($0, using: &generator) }
    for id in ids { try archive.create(id).close() }
    #expect(ids[0] < ids[1])
    #expect(try Array(archive.reader.sessionIDs()) == [ids[1], ids[0]])
  }

  @Test func deletionTakesAllOfOneSession() throws {
    let id = try add("20261130T021533Z-aaaa")
    let other = try add("20261130T021533Z-bbbb")
    let path = sessionPath(archive.root, id)
    // Names of any bytes, links to what must stay, folders that are no part of a session.
    let kept = archive.folder.file("kept")
    #expect(mkdir(kept, 0o700) == 0)
    try writeFile("\(kept)/file", [1])
    #expect(symlink(kept, "\(path)/media/link") == 0)
    #expect(mkdir("\(path)/media/deep", 0o700) == 0)
    let invalid: [CChar] = Array("\(path)/media/deep/".utf8CString.dropLast()) + [-1, -2, 0]
    #expect(mkdir(invalid, 0o700) == 0)
    try archive.reader.delete(id, as: .delete)
    #expect(mode(path) == nil)
    #expect(try run(["find", "\(archive.root)/trash", "-mindepth", "1"]).text == "")
    #expect(try readFile("\(kept)/file") == [1])
    #expect(try Array(archive.reader.sessionIDs()) == [other])
    #expect(try archive.reader.deleted() == [id])
    #expect(try archive.reader.pending() == [other])
    try archive.reader.settleDeleted(id)
    #expect(try archive.reader.deleted() == [])
    #expect(
      failure { () throws(RecorderError) in try archive.reader.delete(id, as: .delete) }?.code == .sessionNotFound)
  }

  @Test func aDeletionThatWasKilledIsFinishedByTheNext() throws {
    let id = try add("20261130T021533Z-aaaa")
    let other = try add("20261130T021533Z-bbbb")
    #expect(mkdir("\(archive.root)/trash", 0o700) == 0)
    #expect(rename(sessionPath(archive.root, id), "\(archive.root)/trash/\(id)") == 0)
    try archive.reader.delete(other, as: .delete)
    #expect(try run(["find", "\(archive.root)/trash", "-mindepth", "1"]).text == "")
  }

  @Test func aMarkWithoutASessionGoesWhenItIsOld() throws {
    let id = try sessionID("20261130T021533Z-aaaa")
    try add("20261130T021533Z-bbbb")
    let mark = "\(archive.root)/pending/\(id)"
    let half = "\(archive.root)/sessions/2026/11/30/.new-\(id)"
    try writeFile(mark, [])
    #expect(mkdir(half, 0o700) == 0)
    try archive.reader.settleAbsent(id)
    #expect(mode(mark) != nil && mode(half) != nil)
    #expect(try run(["touch", "-d", "2 minutes ago", mark]).status == 0)
    try archive.reader.settleAbsent(id)
    #expect(mode(mark) == nil && mode(half) == nil)
  }
}
