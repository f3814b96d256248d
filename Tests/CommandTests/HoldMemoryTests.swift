import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// What a held capture costs: the ring stays within its bound however long it is held, by its own count and by that of the
/// system, and a disk that fails costs it nothing.
@Suite(.serialized) struct HoldMemoryTests {
  let rig: RecorderRig
  let server: SoundServer
  /// A terminal full of noise: a megabyte a second without loss.
  let noise: ChildProcess

  init() throws {
    server = try SoundServer()
    rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    noise = try ChildProcess(
      [
        "xterm", "-geometry", "105x36+0+0", "-e", "sh", "-c",
        "while :; do head -c 2800 /dev/urandom | base64 -w 0; sleep 0.02; done",
      ], environment: rig.environment)
    try waitUntil("the terminal") {
      try run(["xwininfo", "-root", "-tree"], environment: rig.environment).text.contains("xterm")
    }
  }

  /// Times that the ring is filled; `make torture` asks for more.
  private static let wraps = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_WRAPS"] ?? "") ?? 3

  /// Bytes of its own that the process `pid` has in use.
  private func memory(of pid: Int32) throws -> Int64 {
    let status = try String(decoding: readFile("/proc/\(pid)/status"), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    return try #require(Int64(line.filter(\.isNumber))) * 1024
  }

  @Test func theRingStaysWithinItsBoundAndSaysThatItIsShort() throws {
    let limit: Int64 = 16_000_000
    let process = try ChildProcess(
      [
        builtProgram("recorder"), "record", "--hold", "1h", "--memory", "16M", "--lossless", "--no-cursor",
        "--app-audio", "--microphone", "--name", "ring",
      ], environment: rig.environment)
    try waitUntil("the name") { process.outputSoFar == "ring\n" }
    let capture = try HeldCapture(rig, attachingTo: "ring")
    let tone = try server.playTone(1000, seconds: 60)
    // When the encoders have what they need for themselves.
    var begun = (bytes: Int64(0), memory: Int64(0))
    try waitUntil("a quarter of it") {
      begun.bytes = try capture.status().hold?.bytes ?? 0
      begun.memory = try memory(of: capture.pid)
      return begun.bytes > limit / 4
    }
    var largest: Int64 = 0
    for _ in 0..<Self.wraps {
      // The ring has wrapped when it begins past all that it held.
      let before = try #require(try capture.status().elapsed)
      try waitUntil("the ring to wrap", seconds: 60) {
        let status = try capture.status()
        let hold = try #require(status.hold)
        #expect(hold.bytes <= limit)
        largest = max(largest, hold.bytes)
        return hold.isShort && (status.elapsed ?? 0) - hold.span > before
      }
    }
    #expect(largest > limit * 7 / 10)
    // What is counted is all that grows. A megabyte is for what is on its way to the ring, whole pictures of noise.
    let grown = try memory(of: capture.pid) - begun.memory
    #expect(grown <= (limit - begun.bytes) * 11 / 10 + 1_000_000, "\(grown) after \(begun)")
    _ = tone.isRunning
    #expect(process.errorsSoFar.contains("16 MB hold only"), "\(process.errorsSoFar)")
    let status = try rig.run(["status"]).text
    #expect(status.contains("of 60:00.000 held in") && status.contains("hold no more"), "\(status)")
    _ = try capture.keep("save")
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(0))
    try capture.tell(["stop"])
  }

  @Test func aSaveThatTheDiskDoesNotTakeLeavesTheRing() throws {
    // A file may have a megabyte; the rest of it fails while it is written.
    let started = try run(
      ["bash", "-c", "ulimit -f 1000; exec \"$0\" start --hold 1h --lossless --no-cursor", builtProgram("recorder")],
      environment: rig.environment)
    try #require(started.status == 0)
    let capture = try HeldCapture(rig, attachingTo: String(started.text.dropLast()))
    try waitUntil("more than that to be held") { try capture.status().hold?.bytes ?? 0 > 4_000_000 }
    let refused = try rig.run(["save"])
    #expect(refused.ending == .exit(ExitCode.writeFailed.rawValue), "\(refused.errorText)")
    #expect(try run(["find", rig.archive, "-name", "manifest.json"]).text == "")
    #expect(try rig.run(["status"]).text.contains("holding"))
    let stopped = try rig.run(["stop"])
    #expect(stopped.ending == .exit(0) && stopped.errorText.contains("are not kept"))
  }
}
