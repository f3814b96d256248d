import Glibc
import SessionModel
import TestSupport
import Testing

/// However a recording ends, its file is finished, its manifest says why, and the exit code tells a script.
@Suite(.serialized) struct RecordEndingTests {
  /// A rig whose display shows something.
  private func rig() throws -> (RecorderRig, PatternClient) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    return (rig, try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"]))
  }

  /// The file plays alone, and to the length that the manifest states.
  private func expectFinished(_ rig: RecorderRig, _ id: SessionID, _ reason: Manifest.Reason) throws {
    let manifest = try rig.manifest(id)
    #expect(manifest.state == .finished)
    #expect(manifest.end?.reason == reason)
    let entries = try MediaFile.entries(rig.media(id))
    let duration = try #require(Double(entries["duration"] ?? ""))
    #expect(abs(duration - manifest.duration.seconds) <= 0.002)
    #expect(try MediaFile.times(rig.media(id)).count >= 2)
    #expect(manifest.segments.map(\.bytes) == [Int64(try readFile(rig.media(id)).count)])
    #expect(try rig.events(id).last?.kind == .stop)
  }

  /// Case C01.
  @Test(arguments: [
    (SIGINT, Manifest.Reason.interrupt), (SIGTERM, .terminate), (SIGHUP, .hangup), (SIGQUIT, .quit),
  ])
  func aSignalEndsItProperly(signal: Int32, reason: Manifest.Reason) throws {
    let (rig, client) = try rig()
    let recording = try rig.record()
    _ = try client.tell("color ff0000")
    recording.process.signal(signal)
    let result = try recording.process.wait()
    #expect(result.ending == .exit(0))
    #expect(result.text == "\(recording.id)\n")
    try expectFinished(rig, recording.id, reason)
  }

  /// Case C01: signals that tell of a pipe without a reader and of a file that may not grow end nothing by themselves.
  @Test func whatAWriteIsToldByASignalDoesNotEndIt() throws {
    let (rig, client) = try rig()
    let recording = try rig.record()
    for signal in [SIGPIPE, SIGXFSZ] { recording.process.signal(signal) }
    let drawn = try client.tell("color ff0000") - (try rig.manifest(recording.id).clock.monotonic)
    var control = try rig.connect()
    try control.wait(forFrameAt: Timestamp(nanoseconds: drawn))
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().ending == .exit(0))
    try expectFinished(rig, recording.id, .interrupt)
  }

  @Test func twoInterruptsEndWith130AndAFinishedFile() throws {
    let (rig, client) = try rig()
    let recording = try rig.record()
    _ = try client.tell("color ff0000")
    // Both keys at once: signals of one kind would count as one.
    recording.process.signal(SIGSTOP)
    recording.process.signal(SIGINT)
    recording.process.signal(SIGQUIT)
    recording.process.signal(SIGCONT)
    let result = try recording.process.wait()
    #expect(result.ending == .exit(130))
    // Which of two signals that wait at once is taken first is the system's to say.
    let reason = try #require(try rig.manifest(recording.id).end?.reason)
    #expect([.interrupt, .quit].contains(reason))
    try expectFinished(rig, recording.id, reason)
  }

  @Test func aReaderThatWentAwayDoesNotEndIt() throws {
    let (rig, _) = try rig()
    // The pipe's reader is gone before the id is written.
    let script = "sleep 0 | :; exec 3>&1; (\"$1\" record --duration 0.5; echo $? >&3) | true"
    let result = try run(
      ["sh", "-c", script, "sh", builtProgram("recorder")], environment: rig.environment)
    #expect(result.text == "0\n")
  }

  @Test func theEndOfTheDurationIsExact() throws {
    let (rig, _) = try rig()
    let id = try rig.record(seconds: 0.75)
    try expectFinished(rig, id, .duration)
    #expect(try rig.manifest(id).duration == Timestamp(seconds: 0.75))
  }

  /// Case X10.
  @Test func aClosedWindowEndsItWith72() throws {
    let (rig, client) = try rig()
    let recording = try rig.record(["window:title=test-pattern"])
    client.process.write("quit\n")
    let result = try recording.process.wait()
    #expect(result.ending == .exit(72))
    #expect(result.errorText.contains("window was closed"))
    try expectFinished(rig, recording.id, .windowClosed)
  }

  /// Case X28.
  @Test func aDeadServerEndsItWith72() throws {
    let (rig, client) = try rig()
    let recording = try rig.record()
    _ = try client.tell("color ff0000")
    rig.display?.server.signal(SIGKILL)
    let result = try recording.process.wait()
    #expect(result.ending == .exit(72))
    #expect(result.errorText.contains("X server"))
    try expectFinished(rig, recording.id, .displayLost)
  }

  @Test func aStoppedServerDoesNotKeepTheFileFromBeingFinished() throws {
    let (rig, client) = try rig()
    let recording = try rig.record()
    _ = try client.tell("color ff0000")
    rig.display?.server.signal(SIGSTOP)
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    #expect(result.ending == .exit(0))
    try expectFinished(rig, recording.id, .interrupt)
  }

  @Test func aPictureThatStaysBlackIsToldOnce() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let recording = try rig.record(["--no-cursor"])
    try waitUntil("the warning") { recording.process.errorsSoFar.contains("wholly black") }
    try waitUntil("two more alive events") {
      let events = try rig.events(recording.id)
      let warning = events.firstIndex { $0.kind == .warning } ?? events.count
      return events[warning...].filter { $0.kind == .alive }.count >= 2
    }
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    try client.process.stop()
    #expect(result.ending == .exit(0))
    #expect(result.errorText.ranges(of: "wholly black").count == 1)
    #expect(try rig.events(recording.id).filter { $0.kind == .warning }.count == 1)
  }
}
