import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Hooks of recordings that the built program makes.
@Suite(.serialized) struct HookCommandTests {
  /// The hook that writes what it is told to the file `out` of the rig.
  private func note(_ rig: RecorderRig) -> String { "sh -c 'cat >> \(rig.folder.file("out"))'" }

  private func told(_ rig: RecorderRig) throws -> [[String: String]] {
    let lines = String(decoding: (try? readFile(rig.folder.file("out"))) ?? [], as: UTF8.self)
      .split(separator: "\n").map(String.init)
    if lines.isEmpty { return [] }
    #expect(try JSONSchema.problems("hook", lines) == lines.map { _ in "" })
    return try lines.map { line in
      try JSONDecoder().decode([String: Field].self, from: Data(line.utf8)).mapValues(\.text)
    }
  }

  /// A value of a message, as text.
  private struct Field: Decodable {
    let text: String
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int64.self) {
        text = "\(number)"
      } else if let gap = try? container.decode(Gap.self) {
        text = "\(gap.track) \(gap.reason)"
      } else {
        text = try container.decode(String.self)
      }
    }
  }

  @Test func theBeginningAndTheEndAreTold() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let result = try rig.run(
      ["record", "--duration", "0.3", "--title", "$(touch x)'\""]
        + ["started", "stopped", "saved"].flatMap { ["--on", $0, note(rig)] })
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let id = try #require(SessionID(result.text.dropLast()))
    let messages = try told(rig)
    #expect(messages.map { $0["event"] } == ["started", "stopped", "saved"])
    for message in messages {
      #expect(message["session"] == id.description && message["archive"] == rig.archive)
      #expect(message["folder"].map { access("\($0)/manifest.json", F_OK) } == 0)
    }
    #expect(messages[0]["state"] == "recording")
    #expect(messages[1]["state"] == "finished" && messages[1]["reason"] == "duration")
    #expect(messages[1]["time"] == "\(try rig.manifest(id).duration.nanoseconds)")
    #expect(messages[1]["exitCode"] == nil)
  }

  @Test func gapsAndTheConfigurationsHooks() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    #expect(try rig.run(["config", "set", "on.gap", note(rig)]).ending == .exit(0))
    let recording = try rig.record(["--on", "gap", note(rig), "--on", "stopped", note(rig)])
    for command in ["pause", "resume"] { #expect(try rig.run([command]).ending == .exit(0)) }
    try waitUntil("the gap's hooks") { try told(rig).count == 2 }
    #expect(try rig.run(["stop"]).ending == .exit(0))
    #expect(try recording.process.wait().ending == .exit(0))
    let messages = try told(rig)
    #expect(messages.map { $0["event"] } == ["gap", "gap", "stopped"])
    #expect(messages[0]["gap"] == "video paused" && messages[0] == messages[1])
    #expect(messages[2]["reason"] == "stopped")
    // On the command line they can be left out.
    let quiet = try rig.record(["--no-on"])
    for command in ["pause", "resume", "stop"] { _ = try rig.run([command]) }
    #expect(try quiet.process.wait().ending == .exit(0))
    #expect(try told(rig).count == 3)
  }

  @Test func aDiskThatFillsUpIsTold() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let recording = try rig.record(["--warn-free", "900000T", "--on", "disk", note(rig)])
    try waitUntil("the hook") { try told(rig).count == 1 }
    try recording.process.stop()
    let message = try told(rig)[0]
    #expect(message["event"] == "disk" && message["session"] == recording.id.description)
    #expect(message["message"]?.hasPrefix("The disk has ") == true)
  }

  @Test func aHookThatFailsIsToldAndChangesNothing() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let result = try rig.run([
      "record", "--duration", "0.2", "--on", "started", "sh -c 'echo words; exit 3'", "--on", "stopped", "/nowhere/x",
      "--on", "saved", "sh -c 'kill -SEGV $$'",
    ])
    #expect(result.ending == .exit(0))
    #expect(SessionID(result.text.dropLast()) != nil)
    #expect(result.errorText.contains("words\n"))
    for sentence in [
      "recorder: The hook \"sh\" for started ended with 3.\n",
      "recorder: The hook \"/nowhere/x\" for stopped cannot be started: No such file or directory.\n",
      "recorder: The hook \"sh\" for saved was ended by signal 11.\n",
    ] {
      #expect(result.errorText.contains(sentence), "\(result.errorText)")
    }
  }

  /// Nobody reads what a recorder in the background says: the session's log does.
  @Test func aHookThatFailsIsInTheLog() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let recording = try StartedRecording(rig, ["--on", "started", "sh -c 'exit 3'"])
    try waitUntil("the hook's failure") {
      try rig.run(["logs", "--level", "warning"]).text.contains("The hook \"sh\" for started ended with 3.")
    }
    try recording.stop()
  }

  /// The hooks that the end runs have ended after the session was closed; its log has them all the same, and its seal holds.
  @Test(arguments: [[], ["--hold", "10s"]]) func aHookThatFailsAfterTheEndIsInTheLog(hold: [String]) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let started = try rig.run(["start", "--on", "stopped", "sh -c 'exit 3'", "--on", "saved", "sh -c 'exit 4'"] + hold)
    #expect(started.ending == .exit(0), "\(started.errorText)")
    // What is held is saved at that.
    #expect(try rig.run(["stop"] + (hold.isEmpty ? [] : ["--save"])).ending == .exit(0))
    try waitUntil("the hooks' failures") {
      let log = try rig.run(["logs", "last", "--level", "warning"]).text
      return log.contains("The hook \"sh\" for stopped ended with 3.") && log.contains("for saved ended with 4.")
    }
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(0))
  }

  /// A device that is really lost.
  @Test func aLostDeviceIsTold() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let recording = try rig.record(["--microphone", "--on", "degraded", note(rig)])
    try waitUntil("sound") {
      let line = try #require(try rig.run(["status", "--json"]).lines.first)
      let status = try JSONDecoder().decode(RecorderStatus.self, from: Data(line.utf8))
      return status.state == .recording && status.stages.contains { $0.name == "microphone" && $0.last != nil }
    }
    server.server.signal(SIGKILL)
    try waitUntil("the hook") { try !told(rig).isEmpty }
    let message = try told(rig)[0]
    #expect(message["event"] == "degraded" && message["state"] == "degraded")
    #expect(message["session"] == recording.id.description)
    // What the person was told.
    let warning = try rig.events(recording.id).first { $0.kind == .warning }?.text
    #expect(message["message"] == warning && warning?.hasPrefix("The sound server ended (") == true, "\(message)")
    try recording.process.stop()
  }

  @Test func aFailedRecordingSaysSo() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let recording = try rig.record(["--on", "stopped", note(rig)])
    display.server.signal(SIGKILL)
    #expect(try recording.process.wait().ending == .exit(72))
    let message = try #require(try told(rig).first)
    #expect(message["state"] == "failed" && message["exitCode"] == "72" && message["reason"] == "displayLost")
    #expect(message["message"]?.isEmpty == false)
  }

  @Test func aWrappedCommandsOutputIsItsOwn() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let hooks = ["started", "stopped", "saved"].flatMap {
      ["--on", $0, "sh -c 'cat >> \(rig.folder.file("out")); echo x; echo y >&2'"]
    }
    let kept = try rig.run(
      ["record", "--keep", "failure"] + hooks + ["--", "sh", "-c", "echo out; echo err >&2; exit 7"])
    #expect(kept.ending == .exit(7) && kept.text == "out\n")
    #expect(kept.errorText.hasPrefix("err\n") && !kept.errorText.contains("y\n"))
    #expect(try told(rig).map { $0["event"] } == ["started", "stopped", "saved"])
    let dropped = try rig.run(["record", "--keep", "failure"] + hooks + ["--", "true"])
    #expect(dropped.ending == .exit(0))
    #expect(try told(rig).dropFirst(3).map { $0["event"] } == ["started", "stopped"])
  }

  @Test func whatWasStartedRunsThemToo() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let start = try rig.run(["start", "--duration", "0.3", "--on", "saved", note(rig)])
    #expect(start.ending == .exit(0))
    try waitUntil("the hook") { try told(rig).count == 1 }
    #expect(try told(rig)[0]["session"] == String(start.text.dropLast()))
  }

  @Test func wrongHooksAreNamed() throws {
    let rig = try RecorderRig()
    for (words, sentence) in [
      (["begun", "x"], "--on: \"begun\" is no event. Write one of started, stopped, saved, degraded, gap, disk."),
      (["gap", "a 'b"], "--on: \"a 'b\" has a single quote that is not closed."),
      (["gap"], "--on needs a value. Write --on EVENT COMMAND."),
    ] {
      let result = try rig.run(["record", "--on"] + words)
      #expect(result.status == 64 && result.errorText == "recorder: \(sentence)\n")
    }
    let set = try rig.run(["config", "set", "on.gap", "a 'b"])
    #expect(set.status == 64 && set.errorText == "recorder: on.gap: \"a 'b\" has a single quote that is not closed.\n")
  }
}
