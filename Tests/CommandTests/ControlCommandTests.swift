import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `start`, `stop`, `status`, `mark` and names, with the built program.
@Suite(.serialized) struct ControlCommandTests {
  private func rig() throws -> (RecorderRig, PatternClient) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    return (rig, try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"]))
  }

  @Test func statusSaysWhenEachPartWasLastAtWorkAndHowMuchRoomIsLeft() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try StartedRecording(
      rig, ["--app-audio", "--no-cursor", "--warn-free", "100000T", "--min-free", "1M"])
    try client.tell("color ff0000")
    func stage(_ name: String, _ status: RecorderStatus) -> RecorderStatus.Stage? {
      status.stages.first { $0.name == name }
    }
    /// Whether it is the time of the last frame; packets have whole milliseconds.
    func isLast(_ time: Timestamp?, _ status: RecorderStatus) -> Bool {
      guard let time, let frame = status.lastFrame else { return false }
      return abs(time - frame) <= 1_000_000
    }
    try waitUntil("the second frame on disk") {
      let status = try recording.status()
      let isWritten = isLast(stage("mux", status)?.last, status) && status.frames ?? 0 > 1
      return isWritten && status.bytes ?? 0 > 0 && stage("application", status)?.last != nil
    }
    let result = try rig.run(["status", "--json"])
    #expect(try JSONSchema.problems("status", result.lines) == [""])
    let status = try recording.status()
    let frame = try #require(status.lastFrame)
    #expect(frame > .zero)
    for name in ["grab", "encode", "mux"] { #expect(isLast(stage(name, status)?.last, status)) }
    #expect(stage("grab", status)?.dropped == status.droppedFrames)
    #expect(stage("mux", status)?.bytes == status.bytes)
    let elapsed = try #require(status.elapsed)
    let sound = try #require(stage("application", status)?.last)
    #expect(sound > .zero && sound.nanoseconds <= elapsed)
    #expect(status.isDiskLow == true)
    let room = Double(try #require(status.diskFree) - 1_000_000)
    let expected = room / Double(try #require(status.bytes)) * Double(elapsed)
    #expect(abs(Double(try #require(status.timeLeft)) / expected - 1) < 0.000_001)
    #expect(try rig.run(["status"]).text.contains("free, which is little,"))
    try recording.stop()
    let other = try StartedRecording(rig, ["--no-cursor"])
    #expect(try other.status().isDiskLow == false)
    try other.stop()
    try client.process.stop()
  }

  @Test func aStartedRecordingOutlivesItsShellAndIsStopped() throws {
    let (rig, _) = try rig()
    // The shell is gone with its whole process group when the recording is looked at.
    let shell = try ChildProcess(
      ["bash", "-c", "\"$0\" start && kill -HUP 0", builtProgram("recorder")], environment: rig.environment,
      ownGroup: true)
    let id = try #require(SessionID(try shell.wait().text.dropLast()))
    let before = try rig.run(["status", "--json"])
    let status = try JSONDecoder().decode(RecorderStatus.self, from: Data(before.text.utf8))
    #expect(status.state == .recording)
    #expect(status.session == id)
    #expect(try JSONSchema.problems("status", before.lines) == [""])
    // Its name is its process, which leads a session of its own and holds no terminal.
    let process = try #require(status.process)
    #expect(status.name == "\(process)")
    #expect(getsid(process) == process)
    let result = try rig.run(["stop"])
    #expect(result.ending == .exit(0))
    #expect(result.text == "\(id)\n")
    // Its files are finished when stop returns.
    let head = try #require(try rig.manifest(id).chain?.head)
    #expect(result.errorText == "recorder: Sealed with \(head).\n")
    #expect(try rig.manifest(id).state == .finished)
    #expect(try rig.manifest(id).end?.reason == .stopped)
    let after = try rig.run(["status"])
    #expect(after.ending == .exit(0))
    #expect(after.text == "")
    #expect(after.errorText == "recorder: Nothing is being recorded.\n")
  }

  @Test func whyItCannotStartIsToldWithItsExitCode() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let cases: [([String], ExitCode, String)] = [
      (["window:title=nothing"], .unavailable, "nothing"), (["--fps", "0"], .usage, "0 frames"),
      (["--fps"], .usage, "--fps needs"), (["--display", ":987"], .unavailable, ":987"),
      (["--name", "4711"], .usage, "4711"), (["--name", "../x"], .usage, "../x"),
    ]
    for (arguments, code, words) in cases {
      let result = try rig.run(["start"] + arguments)
      #expect(result.ending == .exit(code.rawValue), "\(arguments)")
      #expect(result.text == "")
      #expect(result.errorText.contains(words), "\(result.errorText)")
      #expect(result.errorText.split(separator: "\n").count == 1)
    }
    #expect(try run(["find", rig.archive, "-name", "manifest.json"]).text == "")
    #expect(try run(["ls", "-A", rig.folder.file("recorder")]).text == "")
  }

  @Test func aNameIsUsedOnceAndSeveralRecordingsRun() throws {
    let (rig, _) = try rig()
    let named = try StartedRecording(rig, ["--name", "demo"])
    for command in ["start", "record"] {
      let second = try rig.run([command, "--name", "demo"])
      #expect(second.ending == .exit(ExitCode.busy.rawValue))
      #expect(second.errorText.contains(named.id.description))
    }
    let other = try StartedRecording(rig)
    let recording = try rig.record()
    #expect(try rig.run(["status", "--json"]).lines.count == 3)
    // Which one is meant must be said now.
    let unclear = try rig.run(["stop"])
    #expect(unclear.ending == .exit(ExitCode.sessionNotFound.rawValue))
    #expect(unclear.errorText.contains("demo (\(named.id))"))
    #expect(try rig.run(["stop", "nobody"]).ending == .exit(ExitCode.sessionNotFound.rawValue))
    #expect(try rig.run(["stop", "demo"]).text == "\(named.id)\n")
    #expect(try rig.run(["stop", "--name", other.id.description]).text == "\(other.id)\n")
    // A recording in a terminal is controlled in the same way.
    #expect(try rig.run(["stop"]).text == "\(recording.id)\n")
    let ended = try recording.process.wait()
    #expect(ended.ending == .exit(0))
    #expect(ended.errorText.contains("(stopped)"))
  }

  @Test func aMarkIsFoundByItsWords() throws {
    let (rig, _) = try rig()
    let recording = try StartedRecording(rig)
    let time = try recording.tell(["mark", "login\u{1B}[31m fails"])
    try recording.tell(["mark"])
    let marks = try rig.events(recording.id).filter { $0.kind == .marker }
    #expect(marks.map(\.text) == ["login\u{1B}[31m fails", nil])
    #expect(marks.first?.time.description == time)
    try recording.stop()
    let hits = try rig.run(["search", "login", "fails"])
    #expect(hits.text.contains("recorder replay \(recording.id) --at \(time)"))
    #expect(!hits.text.contains("\u{1B}"))
  }

  @Test func aKilledRecorderIsSaidToBe() throws {
    let (rig, _) = try rig()
    let recording = try StartedRecording(rig, ["--name", "demo"])
    kill(recording.pid, SIGKILL)
    try waitUntil("its end") { !recording.isRunning }
    let status = try recording.status()
    #expect(status.state == .failed)
    #expect(status.message == "Its recorder was killed.")
    #expect(status.process == nil)
    #expect(try rig.run(["mark", "x"]).ending == .exit(ExitCode.sessionNotFound.rawValue))
    // The socket it left is in nobody's way.
    let next = try StartedRecording(rig, ["--name", "demo"])
    #expect(try next.status().name == "demo")
    try next.stop()
    // Once another command has closed the session, the manifest says the same.
    _ = try rig.run(["list"])
    #expect(try recording.status().state == .failed)
    #expect(try next.status().state == .finished)
  }

  /// `stop` and `split` wait for as long as the disk takes, but not for a recorder that does not answer at all.
  @Test func aRecorderThatHangsIsNotWaitedFor() throws {
    let (rig, _) = try rig()
    let recording = try StartedRecording(rig)
    kill(recording.pid, SIGSTOP)
    defer { kill(recording.pid, SIGCONT) }
    for command in ["stop", "split"] {
      let result = try rig.run([command], seconds: 30)
      #expect(result.status == ExitCode.busy.rawValue)
      let sentence = "recorder: The recorder \(recording.pid) does not answer. See whether it is stopped or hangs.\n"
      #expect(result.errorText == sentence)
    }
    // What it was not asked for does not happen later.
    kill(recording.pid, SIGCONT)
    _ = try recording.tell(["mark", "after"])
    #expect(try rig.manifest(recording.id).state == .recording)
    try recording.stop()
  }

  @Test func aWatcherSeesEachChangeUntilTheEnd() throws {
    let (rig, _) = try rig()
    let recording = try StartedRecording(rig)
    let watcher = try ChildProcess(
      [builtProgram("recorder"), "status", "--watch"], environment: rig.environment)
    func states() throws -> [RecordingState] {
      try watcher.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
        try JSONDecoder().decode(RecorderStatus.self, from: Data($0.utf8)).state
      }
    }
    try waitUntil("the first line") { try states().last == .recording }
    try recording.tell(["pause"])
    try waitUntil("the pause") { try states().last == .paused }
    try recording.tell(["resume"])
    try waitUntil("the end of the pause") { try states().last == .recording }
    try recording.stop()
    let result = try watcher.wait()
    #expect(result.ending == .exit(0))
    #expect(try states().last == .finished)
    #expect(try JSONSchema.problems("status", result.lines).allSatisfy { $0 == "" })
  }

  @Test func aRuntimeFolderThatIsNotSafeIsRefused() throws {
    let (rig, _) = try rig()
    let target = rig.folder.file("elsewhere")
    #expect(mkdir(target, 0o700) == 0)
    #expect(symlink(target, rig.folder.file("recorder")) == 0)
    for command in [["start"], ["record", "--duration", "1"], ["status"]] {
      let result = try rig.run(command)
      #expect(result.ending == .exit(ExitCode.permission.rawValue), "\(command)")
      #expect(result.errorText.contains("symbolic link"))
    }
    #expect(try run(["ls", "-A", target]).text == "")
  }
}
