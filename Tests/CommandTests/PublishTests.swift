import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// A held capture that is published, and every way in which one ends.
@Suite(.serialized) struct PublishTests {
  private func rig(_ pattern: [String] = ["counter", "--fps", "0"]) throws -> (RecorderRig, PatternClient) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    return (rig, try PatternClient(on: try #require(rig.display), pattern))
  }

  private func counters(_ rig: RecorderRig, _ id: SessionID) throws -> [Int] {
    let found = try MediaFile.counters(rig.media(id))
    #expect(!found.contains(nil))
    return found.compactMap(\.self)
  }

  @Test func aPublishedCaptureIsARecordingThatBeganBefore() throws {
    let (rig, client) = try rig()
    let capture = try HeldCapture(rig, ["--no-cursor"])
    let counter = try SteadyCounter(client, of: capture)
    try capture.tell(["mark", "before"])
    // However late it came, it lies before the three seconds and the two that a keyframe may be earlier.
    let marked = try #require(try capture.status().elapsed)
    try waitUntil("it to be too old") { try capture.status().elapsed ?? 0 > marked + 5_500_000_000 }
    // It has no file that could be split.
    #expect(try rig.run(["split"]).ending == .exit(ExitCode.busy.rawValue))
    let id = try capture.keep("publish", ["--last", "3s", "--title", "kept"])
    let status = try capture.status()
    #expect(status.state == .recording && status.session == id && status.hold == nil)
    #expect(status.bytes ?? 0 > 0)
    #expect(status.elapsed ?? 0 >= 3_000_000_000 && status.elapsed ?? 0 < 8_000_000_000)
    for command in ["save", "publish"] {
      let refused = try rig.run([command])
      #expect(refused.ending == .exit(ExitCode.usage.rawValue))
      #expect(refused.errorText.contains("all of it is kept already"))
    }
    let after = try rig.run(["mark", "after"])
    let start = try rig.manifest(id).clock.monotonic
    try waitUntil("two seconds more") { Int64(monotonicSeconds() * 1e9) - start > 6_000_000_000 }
    try counter.stop()
    let stopped = try rig.run(["stop"])
    #expect(stopped.ending == .exit(0) && stopped.text == "\(id)\n")
    try client.process.stop()

    let manifest = try rig.manifest(id)
    #expect(manifest.end?.reason == .stopped && manifest.duration.seconds >= 6)
    let seen = try counters(rig, id)
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $1 - $0 == 1 || $1 == $0 }, "\(seen)")
    #expect(Set(seen).count >= 10)
    let times = try MediaFile.times(rig.media(id))
    #expect(times.first == 0 && times == times.sorted())
    #expect(abs(Double(times.last ?? 0) / 1000 - manifest.duration.seconds) < 0.002)
    let marks = try rig.events(id).filter { $0.kind == .marker }
    #expect(marks.map(\.text) == ["after"])
    #expect(after.text == "\(marks[0].time)\n")
    let alive = try rig.events(id).filter { $0.kind == .alive }.map(\.time.seconds)
    #expect(zip(alive, alive.dropFirst()).allSatisfy { $1 - $0 > 0.5 && $1 - $0 < 2.5 }, "\(alive)")
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(0))
    #expect(try rig.run(["list"]).text.contains("kept"))
  }

  @Test func aKilledRecordingThatWasPublishedKeepsWhatItHad() throws {
    let (rig, client) = try rig()
    let capture = try HeldCapture(rig, ["--no-cursor"])
    let counter = try SteadyCounter(client, of: capture)
    try capture.waitUntilHeld(seconds: 3)
    let id = try capture.keep("publish", ["--last", "2s"])
    try counter.stop()
    try capture.end(by: SIGKILL)
    try client.process.stop()
    #expect(try rig.run(["list"]).text.contains("interrupted"))
    #expect(try rig.manifest(id).duration.seconds >= 2)
    let seen = try counters(rig, id)
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $1 - $0 == 1 || $1 == $0 } && Set(seen).count >= 5, "\(seen)")
  }

  @Test func whatWasInForceAtTheCutIsRestated() throws {
    let (rig, client) = try rig(["counter", "--fps", "10", "--title", "quarterly"])
    let capture = try HeldCapture(rig, span: "5s", ["--no-cursor"])
    try capture.waitUntilHeld(seconds: 1)
    try capture.tell(["pause"])
    let paused = monotonicSeconds()
    try waitUntil("the ring to begin in the pause") { monotonicSeconds() - paused > 7.5 }
    #expect(try capture.status().state == .paused)
    let during = try capture.keep("save", ["--last", "3s"])
    try capture.tell(["resume"])
    #expect(try capture.status().state == .holding)
    let resumed = monotonicSeconds()
    try waitUntil("some pictures") { monotonicSeconds() - resumed > 1 }
    let after = try capture.keep("save", ["--last", "4s"])
    try capture.tell(["stop"])
    try client.process.stop()
    for id in [during, after] {
      let manifest = try rig.manifest(id)
      let events = try rig.events(id)
      #expect(events.prefix(4).map(\.kind) == [.start, .opened, .focus, .pause])
      let gap = try #require(events.compactMap(\.gap).first)
      #expect(gap.track == "video" && gap.reason == "paused" && gap.start == .zero)
      #expect(id == after || gap.end == manifest.duration)
      let resumes = events.filter { $0.kind == .resume }.map(\.time)
      #expect(resumes == (id == after ? [gap.end] : []))
      // The last picture of before stands in the pause.
      let seen = try counters(rig, id)
      #expect(seen == seen.sorted() && (id == after || Set(seen).count == 1), "\(seen)")
      #expect(try rig.run(["verify", id.description, "--deep"]).ending == .exit(0))
      #expect(try rig.run(["search", "quarterly"]).text.contains(id.description))
    }
  }

  @Test(arguments: ["TERM", "stop --save", "duration", "display"]) func whatIsHeldIsSavedWhenItEnds(how: String) throws
  {
    let (rig, client) = try rig(["counter", "--fps", "10"])
    let capture = try HeldCapture(rig, ["--no-cursor"] + (how == "duration" ? ["--duration", "4s"] : []))
    if how == "duration" {
      try waitUntil("the end of the time") { !capture.isRunning }
    } else {
      try capture.waitUntilHeld(seconds: 2)
    }
    switch how {
    case "TERM": try capture.end(by: SIGTERM)
    case "display":
      try #require(rig.display).server.signal(SIGKILL)
      try waitUntil("the recorder's end") { !capture.isRunning }
    case "duration": break
    default:
      let stopped = try rig.run(["stop", "--save"])
      #expect(stopped.ending == .exit(0) && SessionID(stopped.text.dropLast()) != nil, "\(stopped.errorText)")
    }
    _ = try? client.process.stop()
    let listed = try rig.run(["list", "--json"]).lines
    try #require(listed.count == 1)
    let id = try #require(
      try rig.run(["list", "--json"]).text.split(separator: "\"").compactMap { SessionID($0) }.first)
    let manifest = try rig.manifest(id)
    let reasons: [String: Manifest.Reason] = [
      "TERM": .terminate, "stop --save": .stopped, "duration": .duration, "display": .displayLost,
    ]
    #expect(manifest.end?.reason == reasons[how])
    #expect(manifest.duration.seconds >= 2)
    let seen = try counters(rig, id)
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $1 >= $0 } && Set(seen).count >= 5, "\(seen)")
    #expect(try rig.run(["verify", id.description]).ending == .exit(0))
  }

  @Test func aKilledHolderLeavesNothingAndIsNotSaidToRun() throws {
    let (rig, _) = try rig(["bars"])
    let capture = try HeldCapture(rig, ["--name", "flight"])
    #expect(capture.name == "flight")
    try capture.waitUntilHeld(seconds: 1)
    try capture.end(by: SIGKILL)
    let status = try rig.run(["status"])
    #expect(status.ending == .exit(0) && status.text == "" && status.errorText.contains("Nothing is being recorded"))
    #expect(try rig.run(["save"]).ending == .exit(ExitCode.sessionNotFound.rawValue))
    #expect(access(rig.archive, F_OK) != 0)
  }

  @Test func theKeyboardGivesUpWhatIsHeldAndSaysSo() throws {
    let (rig, _) = try rig(["bars"])
    let process = try ChildProcess(
      [builtProgram("recorder"), "record", "--hold", "5s", "--name", "flight"], environment: rig.environment)
    try waitUntil("the name") { process.outputSoFar == "flight\n" }
    try waitUntil("a second") { try rig.run(["status", "--json"]).text.contains("holding") }
    process.signal(SIGINT)
    let ended = try process.wait()
    #expect(ended.ending == .exit(0))
    #expect(ended.errorText.contains("were held and are not kept."), "\(ended.errorText)")
    #expect(access(rig.archive, F_OK) != 0)
  }

  @Test func aDiskWithoutRoomRefusesASaveAndTheRingStays() throws {
    let (rig, _) = try rig(["bars"])
    let capture = try HeldCapture(rig, ["--min-free", "900000T"])
    try capture.waitUntilHeld(seconds: 2)
    for command in ["save", "publish"] {
      let refused = try rig.run([command])
      #expect(refused.ending == .exit(ExitCode.writeFailed.rawValue), "\(refused.errorText)")
      #expect(refused.text == "" && refused.errorText.contains("MB"))
    }
    let status = try capture.status()
    #expect(status.state == .holding && status.hold?.span ?? 0 >= 2_000_000_000)
    #expect(try run(["find", rig.archive, "-name", "manifest.json"]).text == "")
    try capture.tell(["stop"])
  }

  @Test(arguments: [
    (["--hold", "1s"], "5s to 24h"), (["--memory", "20M"], "--memory needs --hold"),
    (["--hold", "5m", "--memory", "1M"], "16M to 64G"), (["--hold", "5m", "--max-size", "1G"], "exclude each other"),
    (["--hold", "5m", "--", "true"], "exclude each other"),
  ])
  func whatCannotBeHeldIsRefused(arguments: [String], words: String) throws {
    let rig = try RecorderRig()
    let result = try rig.run(["record"] + arguments)
    #expect(result.ending == .exit(ExitCode.usage.rawValue))
    #expect(result.errorText.contains(words), "\(result.errorText)")
  }
}
