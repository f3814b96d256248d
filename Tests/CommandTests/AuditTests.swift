import Archive
import Glibc
import SessionModel
import TestSupport
import Testing

/// `audit.ndjson`: who took what from the archive, when and why.
@Suite struct AuditTests {
  private func entries(_ rig: RecorderRig) throws -> [AuditEntry] {
    try ArchiveReader(ArchiveLocation(path: rig.archive)).audit().entries
  }

  @Test func everyDeletionIsWrittenDown() throws {
    let archive = try ArchiveCommandTests(rig: RecorderRig(display: VirtualDisplay(size: "160x120")))
    let rig = archive.rig
    let ids = try ["20201128T021533Z-aaaa", "20201129T021533Z-bbbb", "20201130T021533Z-cccc"].map {
      try archive.add($0)
    }
    let began = WallTime.now()
    #expect(try rig.run(["delete", ids[1].description, "--reason", "wrong\nscreen"]).status == 0)
    #expect(try rig.run(["gc", "--budget", "0", "--dry-run"]).status == 0)
    #expect(try rig.run(["gc", "--keep", "1d"]).status == 0)
    #expect(try rig.run(["record", "--keep", "failure", "--", "true"]).status == 0)
    let found = try entries(rig)
    #expect(found.map(\.action) == [.delete, .cleanUp, .cleanUp, .discard])
    #expect(found[0].session == ids[1] && found[0].reason == "wrong\nscreen" && found[0].head == nil)
    #expect(found[1].session == ids[0] && found[1].reason == "keep")
    #expect(found.last?.reason == "the command ended with 0" && found.last?.head?.count == 64)
    let user = try run(["id", "-un"]).lines
    #expect(found.allSatisfy { user == [$0.by] && $0.at >= began && $0.at <= .now() })
    let path = "\(rig.archive)/audit.ndjson"
    let lines = String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(try Set(JSONSchema.problems("audit", lines)) == [""])
    #expect(try run(["stat", "-c", "%a", path]).lines == ["600"])
    let verified = try rig.run(["verify", "--all"])
    #expect(verified.lines.last == "audit.ndjson: intact; deletions and redactions: \(lines.count)", "\(verified.text)")

    // A line that is changed, or taken away before another, is seen.
    for altered in [[lines[0].replacing("wrong", with: "right")] + lines.dropFirst(), Array(lines.dropFirst())] {
      try writeFile(path, altered.map { $0 + "\n" }.joined().utf8)
      let result = try rig.run(["verify", "--all"])
      #expect(result.status == 65)
      #expect(
        result.errorText.contains("recorder: audit.ndjson is not as it was written, at line "), "\(result.errorText)")
    }
  }

  /// A full disk is emptied all the same, and what was deleted is written down once there is room.
  @Test func aFullDiskIsEmptiedAllTheSame() throws {
    let archive = try ArchiveCommandTests()
    let rig = archive.rig
    let id = try archive.add("20261130T021533Z-aaaa")
    let faults = [
      "LD_PRELOAD": try InjectedFaults.library("fail-call"), "FAIL_CALL": "write", "FAIL_AT": "1",
      "FAIL_UNDER": rig.archive,
      "FAIL_ENDS": "audit.ndjson", "FAIL_ERRNO": "\(ENOSPC)", "FAIL_ONCE": "1",
    ]
    let result = try rig.run(["delete", "last"], environment: faults)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(access(rig.session(id), F_OK) != 0)
    #expect(try entries(rig).map(\.session) == [id])
    // When it cannot be written down even then, that is told.
    let other = try archive.add("20261130T021534Z-aaaa")
    var always = faults
    always["FAIL_ONCE"] = nil
    let untold = try rig.run(["delete", "last"], environment: always)
    #expect(untold.status == 74 && untold.errorText.contains("audit.ndjson cannot be written"), "\(untold.errorText)")
    #expect(access(rig.session(other), F_OK) != 0)
    #expect(try rig.run(["list", "--json"]).lines == [])
    #expect(try entries(rig).map(\.session) == [id])
  }
}
