import Archive
import FoundationEssentials
import Glibc
import Index
import SessionModel
import TestSupport
import Testing

/// `verify`, `recover`, `protect` and `gc` as a person types them, on sessions that `record` made.
@Suite(.serialized) struct VerifyTests {
  private func recorded() throws -> (rig: RecorderRig, id: SessionID, head: String) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20", "--title", "busy screen"])
    let recording = try rig.record(["--no-cursor", "--duration", "2"])
    let result = try recording.process.wait()
    #expect(result.status == 0, "\(result.errorText)")
    try client.process.stop()
    // The head is the last thing said.
    let sentence = try #require(result.errorText.split(separator: "\n").last { $0.contains("Sealed with ") })
    return (rig, recording.id, String(sentence.dropLast().suffix(64)))
  }

  private func certificate(_ result: ChildProcess.Result) throws -> Certificate {
    try JSONDecoder().decode(Certificate.self, from: Data(result.output))
  }

  @Test func aRecordingIsCertified() throws {
    let (rig, id, head) = try recorded()
    #expect(try rig.manifest(id).chain?.head == head)
    #expect(try rig.manifest(id).check == Manifest.Check(findings: []))
    let shown = try rig.run(["show", "last"]).text
    #expect(shown.contains("Seal:        \(head)\n"))
    let result = try rig.run(["verify", "last", "--deep", "--json", "--head", head])
    #expect(result.ending == .exit(0), "\(result.errorText)")
    #expect(try JSONSchema.problems("certificate", result.lines) == [""])
    let found = try certificate(result)
    #expect(found.verdict == .intact && found.isKeptHead == true && found.head == head)
    #expect(found.duration == seconds(2) && found.tracks.count == 1)
    let frames = try MediaFile.times(rig.media(id)).count
    #expect(found.tracks.first?.packets == frames && found.tracks.first?.decoded == frames)
    #expect(found.tracks.first?.end == seconds(2))
    #expect(try rig.run(["verify", "--all"]).ending == .exit(0))
    let lines = try String(decoding: readFile("\(rig.session(id))/manifest.json"), as: UTF8.self)
    #expect(try JSONSchema.problems("manifest", [lines.replacing("\n", with: " ")]) == [""])

    // A wrong head.
    let wrong = try rig.run(["verify", "last", "--head", String(repeating: "0", count: 64)])
    #expect(wrong.ending == .exit(65) && wrong.errorText.contains("not with the head that was kept"))
    #expect(try rig.run(["verify", "last", "--head", "0"]).ending == .exit(64))
    #expect(try rig.run(["verify"]).ending == .exit(64))
    #expect(try rig.run(["verify", "last", "--all"]).ending == .exit(64))

    // A changed byte of picture: the piece and its time.
    var bytes = try readFile(rig.media(id))
    bytes[bytes.count / 2] ^= 1
    try writeFile(rig.media(id), bytes)
    let altered = try rig.run(["verify", "last"])
    #expect(altered.ending == .exit(65))
    #expect(
      altered.errorText.hasPrefix(
        "recorder: The session \(id) was altered: media/000001.mkv (0:00.000 to 0:02.000): "), "\(altered.errorText)")
  }

  @Test func aKilledSessionIsRecoveredOnceAndIncomplete() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let recording = try rig.record(["--no-cursor"], ownGroup: true)
    try waitUntil("two signs of life") { try rig.events(recording.id).filter { $0.kind == .alive }.count >= 2 }
    recording.process.signal(SIGKILL, group: true)
    _ = try recording.process.wait()
    try client.process.stop()
    let first = try rig.run(["recover", "--json"])
    #expect(first.ending == .exit(0), "\(first.errorText)")
    #expect(first.lines.count == 1 && first.text.contains(recording.id.description))
    #expect(try JSONSchema.problems("recovered", first.lines) == [""])
    let before = try run(
      ["sh", "-c", "find . -type f | sort | xargs sha256sum"], workingDirectory: rig.session(recording.id))
    let second = try rig.run(["recover"])
    #expect(second.ending == .exit(0) && second.text == "")
    let after = try run(
      ["sh", "-c", "find . -type f | sort | xargs sha256sum"], workingDirectory: rig.session(recording.id))
    #expect(before.text == after.text)
    let verified = try rig.run(["verify", "last", "--deep", "--json"])
    #expect(verified.ending == .exit(76))
    let found = try certificate(verified)
    #expect(found.verdict == .incomplete && found.sealedBy == "recovery", "\(found.findings)")
    #expect(found.findings.count == 1)
    let duration = try #require(Double(try MediaFile.entries(rig.media(recording.id))["duration"] ?? ""))
    #expect(abs(duration - found.duration.seconds) < 0.002)
  }

  @Test func aRunningRecordingIsLeftAlone() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let recording = try rig.record()
    let result = try rig.run(["verify", recording.id.description, "--json"])
    #expect(result.ending == .exit(0))
    #expect(try certificate(result).verdict == .recording)
    #expect(try rig.run(["recover"]).text == "")
    #expect(try rig.run(["gc", "--budget", "0"]).text == "")
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().ending == .exit(0))
    #expect(try rig.run(["verify", "last"]).ending == .exit(0))
  }

  @Test func theCleanUpTakesTheOldestAndLeavesWhatIsProtected() throws {
    let archive = try ArchiveCommandTests()
    let rig = archive.rig
    let old = try archive.add("20261128T021533Z-aaaa", title: "Kestrel")
    let middle = try archive.add("20261129T021533Z-bbbb", title: "Merlin", window: archive.window("Sparrowhawk"))
    try archive.add("20261130T021533Z-cccc")
    #expect(try rig.run(["protect", old.description, "--reason", "case 4711"]).ending == .exit(0))
    #expect(try rig.run(["show", old.description]).text.contains("Protected:   case 4711\n"))
    let refused = try rig.run(["delete", old.description])
    #expect(refused.ending == .exit(77) && refused.errorText.contains("is protected (case 4711)."))

    let dry = try rig.run(["gc", "--budget", "0", "--dry-run"])
    #expect(dry.ending == .exit(0))
    #expect(dry.lines.map { String($0.prefix(21)) } == [middle.description, "20261130T021533Z-cccc"])
    #expect(try rig.run(["list", "--json"]).lines.count == 3)
    #expect(try rig.run(["gc"]).ending == .exit(64))
    #expect(try rig.run(["gc", "--budget", "many"]).ending == .exit(64))

    let all = try rig.run(["gc", "--budget", "1T", "--json"]).lines.first { $0.contains("\"bytes\"") }
    let total = try #require(Int((all ?? "").filter(\.isNumber)))
    let result = try rig.run(["gc", "--budget", "\(total - 10)", "--json"])
    #expect(result.ending == .exit(0), "\(result.errorText)")
    #expect(try JSONSchema.problems("cleanup", [result.text.replacing("\n", with: " ")]) == [""])
    #expect(result.text.contains("\"session\" : \"\(middle)\"") && result.text.contains("\"sessions\" : 2"))
    #expect(access(rig.session(middle), F_OK) != 0)
    #expect(try rig.run(["search", "sparrowhawk"]).text == "")
    // Nor in a free page of the index or its log.
    let rest = try run(["grep", "-rilE", "sparrowhawk|merlin", rig.archive])
    #expect(rest.status == 1, "\(rest.text)")

    #expect(try rig.run(["unprotect", old.description]).ending == .exit(0))
    #expect(try rig.run(["gc", "--budget", "0"]).lines.count == 2)
  }
}

/// So many whole seconds.
private func seconds(_ seconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(seconds) * 1_000_000_000) }
