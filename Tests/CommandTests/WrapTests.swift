import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `record -- COMMAND`: its status, its output, and whether the session is kept.
@Suite(.serialized) struct WrapTests {
  private func rig() throws -> (RecorderRig, PatternClient) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    return (rig, try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"]))
  }

  private func sessions(_ rig: RecorderRig) throws -> [SessionID] {
    try rig.run(["list"]).lines.dropFirst().compactMap { SessionID($0.prefix(21)) }
  }

  @Test(arguments: [
    (["true"], 0), (["false"], 1), (["sh", "-c", "exit 77"], 77), (["sh", "-c", "kill -SEGV $$"], 128 + 11),
    (["/nonexistent/program"], 127), (["/etc/passwd"], 126),
  ])
  func itEndsAsTheCommandDid(command: [String], expected: Int) throws {
    let status = Int32(expected)
    let (rig, _) = try rig()
    let result = try rig.run(["record", "--"] + command)
    #expect(result.ending == .exit(status))
    #expect(result.text == "")
    let id = try #require(try sessions(rig).first)
    #expect(result.errorText.contains("Recorded \(id)"))
    let manifest = try rig.manifest(id)
    #expect(manifest.command == Manifest.WrappedCommand(arguments: command, status: status))
    #expect(manifest.end?.reason == .commandEnded)
    #expect(manifest.state == .finished)
    #expect(try MediaFile.times(rig.media(id)).count >= 1)
  }

  @Test(arguments: [
    ("always", "exit 0", true), ("always", "exit 3", true), ("failure", "exit 0", false), ("failure", "exit 3", true),
    ("never", "exit 3", false), ("match=ca[tr] found", "echo a car found here", true),
    ("match=^oops", "echo >&2 oops", true), ("match=^oops", "echo no oops", false),
    // The last line may have no end.
    ("match=last$", "printf 'first\nthe last'", true),
  ])
  func itIsKeptAsAsked(keep: String, script: String, isKept: Bool) throws {
    let (rig, _) = try rig()
    let result = try rig.run(["record", "--keep", keep, "--", "sh", "-c", script])
    #expect(result.status == (script.hasPrefix("exit ") ? script.last.flatMap { Int32(String($0)) } : 0))
    #expect(try sessions(rig).count == (isKept ? 1 : 0))
    #expect(result.errorText.contains("recorder: Recorded ") == isKept)
    let left = try run(["find", "\(rig.archive)/sessions", "-name", "*.mkv"]).lines
    #expect(left.count == (isKept ? 1 : 0))
  }

  @Test(arguments: [[], ["--log"], ["--keep", "match=x"]]) func itsOutputIsItsOwnByteForByte(options: [String]) throws {
    let (rig, _) = try rig()
    // A megabyte of all bytes on one, and as many lines on the other.
    let script = """
      import sys
      data = bytes(range(256)) * 4096
      sys.stdout.buffer.write(data)
      sys.stderr.buffer.write(b"\\xff line\\n" * 20000)
      sys.stdout.buffer.write(b"no end")
      """
    let result = try rig.run(["record"] + options + ["--", "/usr/bin/python3", "-c", script])
    #expect(result.ending == .exit(0))
    let page = (0...255).map { UInt8($0) }
    let expected = [[UInt8]](repeating: page, count: 4096).flatMap(\.self) + Array("no end".utf8)
    #expect(result.output == expected)
    let line = [0xFF] + Array(" line\n".utf8)
    let errors = [[UInt8]](repeating: line, count: 20000).flatMap(\.self)
    #expect(Array(result.errors.prefix(errors.count)) == errors)
    #expect(String(decoding: result.errors.dropFirst(errors.count), as: UTF8.self).hasPrefix("recorder: Recorded "))
  }

  /// A command that writes faster than the event track is written waits for it.
  @Test func noLineOfALongOutputIsLeftOut() throws {
    let (rig, _) = try rig()
    let result = try rig.run(["record", "--log", "--", "seq", "20000"])
    #expect(result.status == 0)
    let id = try #require(try sessions(rig).first)
    let lines = try rig.events(id).filter { $0.kind == .text }.compactMap(\.text)
    let isWhole = lines == (1...20_000).map(String.init)
    #expect(isWhole, "\(lines.count) lines")
  }

  @Test func loggedLinesAreFound() throws {
    let (rig, _) = try rig()
    let result = try rig.run(["record", "--log", "--", "sh", "-c", "echo starting zebra; echo broken yak >&2"])
    #expect(result.text == "starting zebra\n")
    let id = try #require(try sessions(rig).first)
    let lines = try rig.events(id).filter { $0.kind == .text }.compactMap(\.text)
    #expect(Set(lines) == ["starting zebra", "broken yak"])
    #expect(try rig.run(["search", "yak"]).text.contains("recorder replay \(id)"))
    #expect(try JSONSchema.problems("hit", rig.run(["search", "yak", "--json"]).lines) == [""])
    let manifest = String(decoding: try readFile("\(rig.session(id))/manifest.json"), as: UTF8.self)
    let oneLine = manifest.replacing("\n", with: " ")
    #expect(try JSONSchema.problems("manifest", [oneLine]) == [""])
    let events = String(decoding: try readFile("\(rig.session(id))/events.ndjson"), as: UTF8.self)
    #expect(try JSONSchema.problems("event", events.split(separator: "\n").map(String.init)).allSatisfy { $0 == "" })
  }

  @Test func oneThatTakesTooLongIsEnded() throws {
    let (rig, _) = try rig()
    // What it started ends with it.
    let result = try rig.run([
      "record", "--keep", "failure", "--timeout", "500ms", "--", "sh", "-c", "sleep 100; exit 0",
    ])
    #expect(result.ending == .exit(128 + SIGTERM))
    let id = try #require(try sessions(rig).first)
    #expect(try rig.manifest(id).command?.timedOut == true)
    #expect(result.errorText.contains("took too long"))
  }

  @Test func oneThatIgnoresTermIsKilled() throws {
    let (rig, _) = try rig()
    let result = try rig.run([
      "record", "--timeout", "300ms", "--", "/usr/bin/python3", "-c",
      "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()",
    ])
    #expect(result.ending == .exit(128 + SIGKILL))
  }

  @Test func signalsArePassedOnAndTheRecordingEndsWithTheCommand() throws {
    let (rig, _) = try rig()
    let recording = try ChildProcess(
      [
        builtProgram("recorder"), "record", "--", "sh", "-c",
        "trap 'echo got it; exit 5' TERM; echo up; while :; do sleep 0.05; done",
      ],
      environment: rig.environment)
    try waitUntil("the command") { recording.outputSoFar == "up\n" }
    recording.signal(SIGTERM)
    let result = try recording.wait()
    #expect(result.ending == .exit(5))
    #expect(result.text == "up\ngot it\n")
    // A recording that is stopped leaves the command alone.
    let other = try ChildProcess(
      [builtProgram("recorder"), "record", "--", "sh", "-c", "read line; echo $line; exit 6"],
      environment: rig.environment)
    try waitUntil("the recording") { try rig.run(["status"]).text.contains(": recording") }
    #expect(try rig.run(["stop"]).ending == .exit(0))
    #expect(other.isRunning)
    other.write("still here\n")
    let ended = try other.wait()
    #expect(ended.ending == .exit(6))
    #expect(ended.text == "still here\n")
    // What was sealed before is as it was, and still it is known how the command ended.
    let id = try #require(try sessions(rig).first)
    #expect(try rig.manifest(id).command?.status == nil)
    #expect(try rig.run(["verify", "last"]).ending == .exit(0))
    let shown = try rig.run(["show", "last"]).text
    #expect(shown.contains("(ended with 6)"), "\(shown)")
    let report = try rig.run(["show", "last", "--json"]).text.replacing("\n", with: " ")
    #expect(report.contains("\"commandStatus\" : 6"), "\(report)")
    #expect(try JSONSchema.problems("report", [report]) == [""])
    let annotations = String(decoding: try readFile("\(rig.session(id))/annotations.ndjson"), as: UTF8.self)
    #expect(try JSONSchema.problems("annotation", annotations.split(separator: "\n").map(String.init)) == [""])
  }

  /// What `nohup` and `trap ''` ask for is meant for the command; what the recorder ignores itself is not.
  @Test func itIgnoresTheSignalsThatTheRecorderWasStartedToIgnore() throws {
    let (rig, _) = try rig()
    for (trapped, ignored) in [("HUP USR1", [SIGHUP, SIGUSR1]), ("", [])] {
      let traps = trapped.isEmpty ? "" : "trap '' \(trapped); "
      let result = try run(
        ["sh", "-c", "\(traps)exec \"$0\" record -- grep SigIgn /proc/self/status", builtProgram("recorder")],
        environment: rig.environment)
      #expect(result.ending == .exit(0), "\(result.errorText)")
      let mask = try #require(result.text.split(separator: "\t").last.flatMap { UInt64($0.dropLast(), radix: 16) })
      // The two after 31 are the C library's own, which it sets in every child.
      #expect((1..<32).filter { mask & 1 << UInt64($0 - 1) != 0 } == ignored)
    }
  }

  @Test func itHasADisplayOfItsOwn() throws {
    let rig = try RecorderRig()
    let result = try rig.run([
      "record", "--virtual-display=640x480", "--no-cursor", "--", "sh", "-c",
      "echo $DISPLAY; \"$0\" bars & sleep 1; kill $!", builtProgram("test-pattern"),
    ])
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let id = try #require(try sessions(rig).first)
    let manifest = try rig.manifest(id)
    #expect(manifest.source.rect == PixelRect(x: 0, y: 0, width: 640, height: 480))
    #expect(result.lines.first == manifest.host.display)
    // The bars were seen, and the server is gone.
    let pictures = try MediaFile.pictures(rig.media(id), PixelRect(x: 0, y: 0, width: 640, height: 480))
    let white = (240 * 640 + 40) * 4
    #expect(pictures.contains { $0[white] > 200 && $0[white + 1] > 200 && $0[white + 2] > 200 })
    #expect(try rig.run(["record", "--display", manifest.host.display]).ending == .exit(ExitCode.unavailable.rawValue))
  }

  @Test func secretsAreNotStored() throws {
    let (rig, _) = try rig()
    _ = try rig.run([
      "record", "--", "echo", "--token", "s3cret1", "--password=s3cret2", "https://me:s3cret3@host/x", "-v",
    ])
    let id = try #require(try sessions(rig).first)
    #expect(
      try rig.manifest(id).command?.arguments
        == ["echo", "--token", "***", "--password=***", "https://me:***@host/x", "-v"])
    #expect(try run(["grep", "-rl", "s3cret", rig.archive]).text == "")
  }

  @Test func whatNeedsACommandSaysSo() throws {
    let (rig, _) = try rig()
    for (arguments, words) in [
      (["--"], "COMMAND after --"), (["--log"], "--log needs a command"), (["--keep", "failure"], "--keep needs"),
      (["--keep", "sometimes", "--", "true"], "sometimes"),
      (["--keep", "match=(", "--", "true"], "regular expression"),
    ] {
      let result = try rig.run(["record"] + arguments)
      #expect(result.ending == .exit(ExitCode.usage.rawValue))
      #expect(result.errorText.contains(words), "\(result.errorText)")
    }
    // Without a display nothing is run.
    let result = try rig.run(["record", "--display", ":987", "--", "echo", "ran"])
    #expect(result.ending == .exit(ExitCode.unavailable.rawValue))
    #expect(result.text == "")
  }
}

extension Manifest.WrappedCommand {
  fileprivate init(arguments: [String], status: Int32) {
    self.init(arguments: arguments)
    self.status = status
  }
}
