import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// The session's log: what is in it, who may read it, and how `recorder logs` shows it.
@Suite(.serialized) struct LogTests {
  private func entries(_ rig: RecorderRig, _ arguments: [String]) throws -> [LogEntry] {
    let result = try rig.run(["logs", "--json"] + arguments)
    guard result.status == 0 else { throw TestFailure("logs: \(result.errorText)") }
    return try result.lines.map { try JSONDecoder().decode(LogEntry.self, from: Data($0.utf8)) }
  }

  private func path(_ rig: RecorderRig, _ id: SessionID) -> String { "\(rig.session(id))/log.ndjson" }

  @Test func itSaysHowTheSessionWasMade() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "320x240", arguments: ["-extension", "DAMAGE"]), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try StartedRecording(rig, ["--app-audio", "--no-cursor"])
    // The running one is meant when none is named.
    try waitUntil("the device") { try entries(rig, []).contains { $0.message == "A device delivers sound." } }
    try recording.tell(["pause"])
    try recording.tell(["resume"])
    try recording.tell(["split"])
    try recording.stop()
    try client.process.stop()
    let all = try entries(rig, ["last"])
    func fields(_ message: String) -> [String: String]? { all.first { $0.message == message }?.fields }
    let process = "\(recording.pid)"
    #expect(fields("A recording is prepared.")?["process"] == process)
    #expect(fields("A recording is prepared.")?["source"] == "display")
    #expect(
      fields("The picture's source is open.")
        == [
          "display": try #require(rig.display).name, "size": "320x240", "pixels": "shared memory",
          "changes": "compared",
          "missing": "DAMAGE",
        ])
    #expect(fields("The picture's encoder is open.")?["codec"] == "libx264")
    #expect(fields("The picture's encoder is open.")?["size"] == "320x240")
    #expect(fields("A sound encoder is open.") == ["track": "1", "codec": "aac", "rate": "48000 Hz"])
    #expect(
      fields("A device delivers sound.") == ["input": "application", "rate": "48000 Hz", "channels": "2"])
    #expect(fields("A new media file begins.")?["number"] == "2")
    let asked = all.filter { $0.message == "A client asks for something." }
    #expect(asked.map { $0.fields?["request"] } == ["pause", "resume", "split", "stop"])
    #expect(asked.allSatisfy { $0.fields?["process"].flatMap { Int($0) } ?? 0 > 1 && $0.category == .control })
    #expect(fields("The recording ends.") == ["reason": "stopped"])
    #expect(fields("The session is finished.")?["length"] == "\(try rig.manifest(recording.id).duration)")
    let began = try #require(all.first)
    #expect(began.message == "A recording is prepared.")
    #expect(began.time < .zero)
    // What was only counted follows at the end.
    let times = all.prefix { $0.message != "The session is finished." }.map(\.time)
    #expect(times == times.sorted())
    // Both clocks tell the same.
    let clock = try rig.manifest(recording.id).clock
    for entry in all {
      #expect(abs(entry.utc.nanoseconds - clock.utc.nanoseconds - entry.time.nanoseconds) < 50_000_000)
    }
    // What is not sealed is nobody's finding.
    #expect(try rig.run(["verify", "last"]).ending == .exit(0))
    #expect(try JSONSchema.problems("log", rig.run(["logs", "--json"]).lines).allSatisfy { $0.isEmpty })
    var status = stat()
    #expect(stat(path(rig, recording.id), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    // Only what was asked for.
    #expect(
      try entries(rig, ["--category", "encode", "--category", "audio"]).allSatisfy {
        $0.category == .encode || $0.category == .audio
      })
    #expect(try entries(rig, ["--category", "capture"]).map(\.message) == ["The picture's source is open."])
    #expect(try entries(rig, ["--level", "warning"]).isEmpty)
    #expect(try rig.run(["logs", "--level", "loud"]).ending == .exit(ExitCode.usage.rawValue))
    #expect(try rig.run(["delete", "last"]).ending == .exit(0))
    #expect(stat(path(rig, recording.id), &status) != 0)
    #expect(try rig.run(["logs"]).ending == .exit(ExitCode.sessionNotFound.rawValue))
  }

  @Test func aFollowerSeesWhatComesAndEndsWithTheRecording() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try StartedRecording(rig, ["--name", "demo"])
    let follower = try ChildProcess(
      [builtProgram("recorder"), "logs", "demo", "--follow"], environment: rig.environment)
    try waitUntil("what is there") { follower.outputSoFar.contains("The recording runs.") }
    #expect(!follower.outputSoFar.contains("split"))
    try recording.tell(["split"])
    try waitUntil("what comes") { follower.outputSoFar.contains("request: split") }
    #expect(follower.isRunning)
    try recording.stop()
    try client.process.stop()
    let result = try follower.wait()
    #expect(result.ending == .exit(0))
    let last = try #require(result.lines.last)
    #expect(last.contains("  info  control  The session is finished.  ("))
    #expect(last.hasPrefix("\(try #require(rig.manifest(recording.id).clock.utc.text(utcOffset: 0).suffix(8).first))"))
  }

  @Test func itSurvivesAKillAndShowsWhatItDoesNotSend() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try StartedRecording(rig)
    try recording.tell(["mark", "here"])
    kill(recording.pid, SIGKILL)
    try waitUntil("its end") { !recording.isRunning }
    try client.process.stop()
    // Half a line, and one that somebody else made.
    let name = path(rig, recording.id)
    let escape =
      #"{"category":"audio","level":"info","message":"a\u001b[31m\u202e","time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#
    try writeFile(name, readFile(name) + Array("\(escape)\n{\"category\":\"au".utf8))
    let text = try rig.run(["logs"])
    #expect(text.ending == .exit(0))
    #expect(text.text.contains("request: mark"))
    #expect(text.lines.last?.hasSuffix(#"a\u{1b}[31m\u{202e}"#) == true)
    let json = try rig.run(["logs", "--json"])
    #expect(json.lines.last?.contains(#"a\u001b[31m\u202e"#) == true)
    // A link in its place leads nowhere.
    let secret = rig.folder.file("secret")
    try writeFile(secret, Array("\(escape)\n".utf8))
    unlink(name)
    symlink(secret, name)
    let refused = try rig.run(["logs", "last"])
    #expect(refused.ending != .exit(0))
    #expect(refused.text == "")
  }
}
