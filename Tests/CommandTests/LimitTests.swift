import Control
import Glibc
import SessionModel
import TestSupport
import Testing

/// Recordings that end by themselves.
@Suite(.serialized) struct LimitTests {
  private func end(_ rig: RecorderRig, _ arguments: [String]) throws -> Manifest {
    let result = try rig.run(["record"] + arguments)
    #expect(result.ending == .exit(0), "\(result.errorText)")
    return try rig.manifest(#require(SessionID(result.text.dropLast())))
  }

  @Test func aSizeEndsIt() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "30"])
    let manifest = try end(rig, ["--max-size", "400k", "--lossless"])
    try client.process.stop()
    #expect(manifest.end?.reason == .sizeLimit)
    #expect((manifest.statistics?.bytes ?? 0) >= 400_000)
    #expect(manifest.options.limits.maximumBytes == 400_000)
  }

  @Test func aPictureThatStandsStillEndsIt() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let manifest = try end(rig, ["--stop-when-idle", "800ms", "--no-cursor"])
    try client.process.stop()
    #expect(manifest.end?.reason == .idle)
    #expect(manifest.duration >= Timestamp(seconds: 0.8))
    #expect(manifest.options.limits.idle == 800_000_000)
  }

  @Test func aTimeOfDayEndsIt() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    // The rig's clock is UTC.
    let time = WallTime(nanoseconds: WallTime.now().nanoseconds + 3_000_000_000).utcComponents
    let text = [time.hour, time.minute, time.second].map { padded($0, 2) }.joined(separator: ":")
    let manifest = try end(rig, ["--until", text])
    try client.process.stop()
    #expect(manifest.end?.reason == .timeOfDay)
    #expect(manifest.options.limits.until?.text == text)
    let last = manifest.clock.wallTime(of: manifest.duration).utcComponents
    #expect(last.second == time.second || last.second == (time.second + 1) % 60)
  }

  @Test func itBeginsAfterADelayAndCanBeEndedBefore() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let begin = WallTime.now()
    let manifest = try end(rig, ["--delay", "1", "--duration", "0.2"])
    #expect(manifest.clock.utc.nanoseconds - begin.nanoseconds >= 1_000_000_000)
    #expect(manifest.options.limits.delay == 1_000_000_000)
    let waiting = try ChildProcess(
      [builtProgram("recorder"), "record", "--delay", "1h", "--name", "later"], environment: rig.environment)
    try waitUntil("it to wait") { try rig.run(["status"]).text.hasPrefix("later: idle") }
    let stop = try rig.run(["stop"])
    #expect(stop.ending == .exit(0))
    #expect(stop.text == "")
    let result = try waiting.wait()
    #expect(result.ending == .exit(0))
    #expect(result.text == "")
    #expect(result.errorText == "recorder: Ended before it began.\n")
    try client.process.stop()
  }

  @Test func inADelayASignalEndsItAtOnceAndAWrappedCommandWaitsToo() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let waiting = try ChildProcess(
      [builtProgram("recorder"), "record", "--delay", "1h", "--name", "later"], environment: rig.environment)
    try waitUntil("it to wait") { try rig.run(["status"]).text.hasPrefix("later: idle") }
    // A signal that is left to the kernel waits for nothing.
    let kernel = String(decoding: try readFile("/proc/\(waiting.pid)/status"), as: UTF8.self)
    let ignored = kernel.split(separator: "\n").first { $0.hasPrefix("SigIgn:") }?.split(separator: "\t").last
    let mask = try #require(ignored.flatMap { UInt64($0, radix: 16) })
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { #expect(mask & 1 << UInt64(number - 1) == 0) }
    waiting.signal(SIGTERM)
    #expect(try waiting.wait().ending == .signal(SIGTERM))
    let wrapped = try ChildProcess(
      [builtProgram("recorder"), "record", "--delay", "1h", "--name", "later", "--", "echo", "ran"],
      environment: rig.environment)
    try waitUntil("it to wait") { try rig.run(["status"]).text.hasPrefix("later: idle") }
    #expect(try rig.run(["stop"]).ending == .exit(0))
    let result = try wrapped.wait()
    #expect(result.ending == .exit(ExitCode.busy.rawValue))
    #expect(result.text == "")
    #expect(result.errorText.contains("the command was not run"))
  }

  @Test func wrongLimitsAreNamed() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    for (arguments, word) in [
      (["--max-size", "0"], "no bytes"), (["--max-size", "big"], "big"), (["--until", "25:00"], "25:00"),
      (["--until", "9"], "\"9\""), (["--stop-when-idle", "0"], "\"0\""), (["--delay", "x"], "\"x\""),
    ] {
      let result = try rig.run(["record"] + arguments, seconds: 20)
      #expect(result.ending == .exit(ExitCode.usage.rawValue))
      #expect(result.errorText.contains(word), "\(result.errorText)")
    }
  }
}
