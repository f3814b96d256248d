import Glibc
import SessionModel
import TestSupport
import Testing
import Threading

/// Ways of being started in which much of what a program takes for granted is missing.
@Suite(.serialized) struct ClumsyStartTests {
  private func rig() throws -> RecorderRig { try RecorderRig(display: VirtualDisplay(size: "320x240")) }

  /// Runs `script`, in which `$R` is the program.
  private func shell(_ script: String, _ rig: RecorderRig, seconds: Double = 30) throws -> ChildProcess.Result {
    let environment = rig.environment.merging(["R": builtProgram("recorder")]) { _, new in new }
    return try run(["sh", "-c", script], environment: environment, seconds: seconds)
  }

  /// The one session of `rig`, which is whole.
  private func expectWhole(_ rig: RecorderRig, seconds: Double) throws {
    let id = try #require(SessionID(rig.run(["list", "--json"]).text.firstMatch(of: /"id":"([^"]*)"/)?.output.1 ?? ""))
    #expect(try rig.manifest(id).state == .finished)
    #expect(try rig.manifest(id).duration.seconds == seconds)
    // Nothing but events among the events, and nothing but Matroska in the media file.
    let lines = try String(decoding: readFile("\(rig.session(id))/events.ndjson"), as: UTF8.self).split(separator: "\n")
    #expect(try rig.events(id).count == lines.count)
    let duration = try MediaFile.entries(rig.media(id))["duration"].flatMap { Double($0) }
    #expect(abs((duration ?? 0) - seconds) <= 0.002)
  }

  /// A descriptor that the caller closed must not become a file of the session or a part of the machinery.
  @Test(arguments: ["<&-", "2>&-", "<&- 2>&-"]) func closedDescriptorsStayClosed(closed: String) throws {
    let rig = try rig()
    #expect(try shell("$R record --duration 0.5 \(closed)", rig).status == 0)
    try expectWhole(rig, seconds: 0.5)
  }

  /// The id cannot be told; what was to be recorded is recorded all the same.
  @Test(arguments: [">&-", ">/dev/full", "<&- >&- 2>&-"]) func anUnwritableOutputEndsNoRecording(output: String) throws
  {
    let rig = try rig()
    let result = try shell("$R record --duration 0.5 \(output)", rig)
    #expect(result.status == ExitCode.writeFailed.rawValue)
    let reason = output == ">/dev/full" ? "No space left on device" : "Bad file descriptor"
    let sentence = "recorder: The session's id could not be told: Standard output cannot be written: \(reason).\n"
    #expect(result.errorText.hasPrefix(sentence) || output.contains("2>&-"), "\(result.errorText)")
    try expectWhole(rig, seconds: 0.5)
  }

  @Test func listWithoutAnOutputSaysSo() throws {
    let rig = try RecorderRig()
    #expect(try shell("$R --version >&-", rig).status == ExitCode.writeFailed.rawValue)
    #expect(try shell("$R list 2>&- >&- <&-", rig).status == 0)
  }

  /// A beginning that hangs in an X server that does not answer is ended by the signals that end a recording.
  @Test(arguments: [["record"], ["replay", "last"]], [SIGINT, SIGTERM])
  func aBeginningThatHangsIsEndedByASignal(command: [String], number: Int32) throws {
    let rig = try rig()
    _ = try rig.record(seconds: 0.2)
    let server = try #require(rig.display).server
    server.signal(SIGSTOP)
    defer { server.signal(SIGCONT) }
    let process = try ChildProcess([builtProgram("recorder")] + command, environment: rig.environment)
    // Once it waits for the server's answer it takes the signals.
    try waitUntil("a handler of the signal") {
      let status = try String(decoding: readFile("/proc/\(process.pid)/status"), as: UTF8.self)
      let caught = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") } ?? ""
      return (UInt64(caught.dropFirst(8), radix: 16) ?? 0) & 1 << UInt64(number - 1) != 0
    }
    process.signal(number)
    #expect(try process.wait(seconds: 30).ending == .signal(number))
  }

  @Test func tooLittleAddressSpaceIsNamed() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    for words in [["record"], ["start"], ["record", "--", "true"]] {
      let result = try run(
        ["sh", "-c", "ulimit -v 600000; exec \"$0\" \"$@\"", builtProgram("recorder")] + words,
        environment: rig.environment)
      #expect(result.ending == .exit(ExitCode.systemCall.rawValue), "\(result.errorText)")
      #expect(result.errorText.contains("may use 585 MiB of address space"))
      #expect(result.errorText.contains("ulimit -v"))
    }
  }

  /// nohup's HUP stays ignored.
  @Test func nohupIsRespected() throws {
    let rig = try rig()
    let process = try ChildProcess(
      ["sh", "-c", "trap '' HUP; exec \"$0\" record", builtProgram("recorder")], environment: rig.environment)
    try waitUntil("the session's id") { process.outputSoFar.hasSuffix("\n") }
    process.signal(SIGHUP)
    process.signal(SIGTERM)
    #expect(try process.wait().errorText.contains("(stopped by TERM)."))
  }

  @Test func tooFewDescriptorsAreNamed() throws {
    let rig = try rig()
    for command in ["record --duration 0.2", "list"] {
      let result = try shell("ulimit -n 20; $R \(command)", rig)
      #expect(result.status == ExitCode.systemCall.rawValue)
      #expect(result.errorText.hasPrefix("recorder: Only 20 files may be open at once"), "\(result.errorText)")
    }
    // A soft limit is raised.
    #expect(try shell("ulimit -S -n 20; $R record --duration 0.2", rig).status == 0)
  }

  /// What is told to a person who limits the size of files is the limit, by whichever command meets it.
  @Test func aLimitOfFileSizesIsAnError() throws {
    let rig = try rig()
    _ = try rig.record(seconds: 0.2)
    let note = String(repeating: "x", count: 600)
    let result = try shell("ulimit -f 1; $R note last \(note); $R note last \(note)", rig)
    #expect(result.status == ExitCode.writeFailed.rawValue, "\(result.ending)")
    #expect(result.errorText.contains("annotations.ndjson cannot be written: File too large."))
  }

  /// A duration whose end the recorder slept through ends when it hears of it.
  @Test func aDurationThatIsHeardOfLateIsLonger() throws {
    let rig = try rig()
    let recording = try rig.record(["--duration", "0.5"])
    recording.process.signal(SIGSTOP)
    let woken = MonotonicClock.now() + 3_000_000_000
    try waitUntil("three seconds") { MonotonicClock.now() > woken }
    recording.process.signal(SIGCONT)
    #expect(try recording.process.wait().ending == .exit(0))
    let duration = try rig.manifest(recording.id).duration
    #expect(duration.seconds > 2.5)
    // An event from after the end would be a contradiction.
    #expect(try rig.run(["verify", "last"]).status == 0)
  }

  @Test func anArchiveWhoseNameIsNoTextIsRefused() throws {
    let rig = try RecorderRig()
    let result = try shell("RECORDER_ARCHIVE=$RECORDER_ARCHIVE$(printf '\\377') $R list", rig)
    #expect(result.status == ExitCode.configuration.rawValue)
    #expect(result.errorText.hasPrefix("recorder: The path in RECORDER_ARCHIVE is not valid UTF-8: /"))
  }

  /// A folder without sessions may be anything: looking for them leaves nothing in it.
  @Test func lookingForSessionsLeavesNothingBehind() throws {
    let rig = try RecorderRig()
    let result = try shell(
      "mkdir $RECORDER_ARCHIVE; $R list && $R search x && $R index rebuild; ls -A $RECORDER_ARCHIVE", rig)
    #expect(result.text == "")
    #expect(result.errorText.contains("There are no sessions in \(rig.archive)."))
    #expect(result.errorText.contains("it has 0 sessions."))
  }

  @Test func aUmaskThatForbidsTheOwnerIsPassedOver() throws {
    let rig = try rig()
    #expect(try shell("umask 0777; $R record --duration 0.2 && $R list", rig).status == 0)
    let modes = try run(["find", rig.archive, "-printf", "%y%m\n"]).lines
    #expect(modes.count > 8 && Set(modes) == ["d700", "f600"], "\(modes)")
  }

  /// A disk that may only be read is no place to create something, whatever is to be created.
  @Test func whatMayOnlyBeReadCannotTakeAPicture() throws {
    let rig = try rig()
    _ = try rig.record(seconds: 0.2)
    let result = try run(
      [
        "unshare", "-rm", "sh", "-c",
        "mkdir $D && mount --bind $D $D && mount -o remount,ro,bind $D && $R frame last --at 0 -o $D/x.png",
      ],
      environment: rig.environment.merging(["R": builtProgram("recorder"), "D": rig.folder.file("out")]) { $1 })
    #expect(result.status == ExitCode.cannotCreate.rawValue)
    #expect(result.errorText == "recorder: \(rig.folder.file("out"))/x.png cannot be created: Read-only file system.\n")
  }
}
