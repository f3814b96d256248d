import Archive
import FoundationEssentials
import SessionModel
import TestSupport
import Testing

/// Case I19: an archive that a released version wrote is played, searched, changed and redacted by this one.
@Suite struct ReleasedArchiveTests {
  @Test func version1() throws {
    let rig = try RecorderRig()
    #expect(try run(["cp", "-r", "\(JSONSchema.repository)/Tests/Fixtures/archives/v1", rig.archive]).status == 0)
    // What was recorded before there was a seal is incomplete by that alone; every picture is decoded.
    let verified = try rig.run(["verify", "last", "--deep", "--json"])
    #expect(verified.status == 76)
    let certificate = try JSONDecoder().decode(Certificate.self, from: Data(verified.output))
    #expect(certificate.tracks.map(\.decoded) == [5] && certificate.findings.count == 1)
    func white(at time: String) throws -> Int {
      let file = rig.folder.file("frame.png")
      #expect(try rig.run(["frame", "last", "--at", time, "-o", file, "--force"]).status == 0)
      let pixels = try run(["convert", file, "-depth", "8", "gray:-"]).output
      #expect(pixels.count == 320 * 240)
      return pixels.count { $0 > 250 }
    }
    #expect(try (36_000...38_000).contains(white(at: "0:02.722")))
    #expect(try rig.run(["search", "inbox"]).text.hasSuffix("--at 0:02.722\n"))
    let copy = rig.folder.file("all.mkv")
    #expect(try rig.run(["export", "last", "-o", copy]).status == 0)
    #expect(try MediaFile.times(copy).count >= 5)
    #expect(try rig.run(["note", "last", "--at", "1", "seen"]).status == 0)
    #expect(try rig.run(["search", "seen"]).text.hasSuffix("--at 0:01.000\n"))
    // It is sealed by that, and what there was before had no head.
    #expect(try rig.run(["redact", "last", "--from", "2.7", "--to", "3"]).status == 0)
    #expect(try white(at: "0:02.722") == 0)
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(0))
    #expect(try rig.manifest(certificate.session).redactions?.map(\.head) == [nil])
  }
}
