import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Case S11: recorded sessions that somebody cut, put back or made again: `verify --head`, with the head that the recording printed,
/// catches each (systemd#28885, #28886).
@Suite(.serialized) struct AlterationTests {
  /// A session of three media files, and a copy of its folder from before its end.
  private func recorded() throws -> (rig: RecorderRig, id: SessionID, head: String, old: String) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let recording = try rig.record(["--no-cursor", "--name", "a"])
    let old = rig.folder.file("old")
    for number in 0..<2 {
      let count = try rig.events(recording.id).count { $0.kind == .alive }
      try waitUntil("a sign of life") { try rig.events(recording.id).count { $0.kind == .alive } > count }
      #expect(try rig.run(["split", "--name", "a"]).status == 0)
      if number == 0 { #expect(try run(["cp", "-a", rig.session(recording.id), old]).status == 0) }
    }
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    #expect(result.status == 0, "\(result.errorText)")
    try client.process.stop()
    let sentence = try #require(result.errorText.split(separator: "\n").last { $0.contains("Sealed with ") })
    return (rig, recording.id, String(sentence.dropLast().suffix(64)), old)
  }

  @Test func anOldStateAFileLessAndAnotherOrderAreCaught() throws {
    let (rig, id, head, old) = try recorded()
    let folder = rig.session(id)
    #expect(try rig.manifest(id).segments.count == 3)
    #expect(try rig.run(["verify", "last", "--head", head]).ending == .exit(0))
    let kept = rig.folder.file("kept")
    #expect(try run(["cp", "-a", folder, kept]).status == 0)
    let cases: [(change: String, withoutHead: Int32, piece: String)] = [
      // The old state is one that a killed recorder leaves: by itself it is incomplete and no more.
      ("rm -r \(folder); cp -a \(old) \(folder)", 76, "chain.ndjson"),
      ("rm \(folder)/media/000002.mkv", 65, "media/000002.mkv"),
      ("cd \(folder)/media; mv 000002.mkv x; mv 000003.mkv 000002.mkv; mv x 000003.mkv", 65, "media/000002.mkv"),
      ("truncate -s -1 \(folder)/media/000003.mkv", 65, "media/000003.mkv"),
    ]
    for (change, code, piece) in cases {
      #expect(try run(["sh", "-c", change]).status == 0, "\(change)")
      let result = try rig.run(["verify", id.description, "--head", head])
      #expect(result.ending == .exit(65), "\(change): \(result.text)\(result.errorText)")
      #expect(result.errorText.contains(piece), "\(change): \(result.errorText)")
      let alone = try rig.run(["verify", id.description])
      #expect(alone.status == code, "\(change): \(alone.text)\(alone.errorText)")
      #expect(try run(["sh", "-c", "rm -r \(folder); cp -a \(kept) \(folder)"]).status == 0)
      #expect(try rig.run(["verify", id.description, "--head", head]).ending == .exit(0))
    }
  }
}
