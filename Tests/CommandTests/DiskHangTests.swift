import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Disks whose calls do not come back: for a while, or never.
@Suite(.serialized) struct DiskHangTests {
  let display: VirtualDisplay
  let client: PatternClient

  init() throws {
    display = try VirtualDisplay(size: "400x300")
    client = try PatternClient(on: display, ["counter", "--fps", "20"])
  }

  /// A recording onto a disk that can be made to hang.
  private struct Run {
    let rig: RecorderRig
    let disk: HangingDisk
    let process: ChildProcess

    /// Starts `recorder record` with `arguments` and waits until frames are written, or held.
    init(_ display: VirtualDisplay, _ call: String, files: String? = nil, _ arguments: [String]) throws {
      rig = try RecorderRig(display: display)
      disk = try HangingDisk(below: rig.archive, call, files: files)
      process = try ChildProcess(
        [builtProgram("recorder"), "record", "--no-cursor"] + arguments,
        environment: rig.environment.merging(disk.environment) { _, new in new })
      let process = process
      try waitUntil("the beginning: \(process.errorsSoFar)") { process.outputSoFar.hasSuffix("\n") }
      try waitUntil("frames") { try status().frames ?? 0 > 20 }
    }

    var id: SessionID {
      get throws { try #require(SessionID(process.outputSoFar.dropLast())) }
    }

    func status() throws -> RecorderStatus {
      let result = try rig.run(["status", "--json"])
      let line = try #require(result.lines.first, "\(result.ending) \(result.errorText)")
      return try JSONDecoder().decode(RecorderStatus.self, from: Data(line.utf8))
    }

    func waitUntilStalled() throws {
      try waitUntil("the stall to be named") { try self.status().state == .stalled }
      let found = try status()
      #expect(found.stages.first { $0.name == "mux" }?.state == .stalled)
      #expect(found.message?.contains("disk takes nothing") == true, "\(found)")
    }
  }

  /// Each way to hang that no call comes back from: the recording ends by itself or when it is told to, says why, and the
  /// next command closes the session.
  @Test func aDiskThatHangsForGoodEndsIt() throws {
    let arguments = ["--disk-timeout", "2s", "--sync", "300ms"]
    let all = try Run(display, "write", arguments)
    let media = try Run(display, "write", files: ".mkv", arguments)
    let syncs = try Run(display, "fsync", arguments)
    let told = try Run(display, "write", ["--disk-timeout", "10s"])
    let runs = [all, media, syncs, told]
    for run in runs { try run.disk.hang() }
    try told.waitUntilStalled()
    let stop = try told.rig.run(["stop"])
    #expect(stop.ending == .exit(74) && stop.errorText.contains("The disk has taken nothing for"), "\(stop.errorText)")
    for run in runs {
      let result = try run.process.wait()
      #expect(result.status == 74, "\(result.ending) \(result.errorText)")
      let sentence =
        "The disk has taken nothing for \(run.process === told.process ? "0:10.000" : "0:02.000"): the recording ends."
      #expect(result.errorText.split(separator: "\n").last?.contains(sentence) == true, "\(result.errorText)")
      #expect(result.errorText.components(separatedBy: sentence).count == 2, "\(result.errorText)")
      // It answers again.
      let id = try #require(SessionID(result.text.dropLast()))
      let listed = try run.rig.run(["list", "--json"])
      #expect(listed.ending == .exit(0) && listed.lines.count == 1, "\(listed.errorText)")
      let manifest = try run.rig.manifest(id)
      #expect(manifest.state == .interrupted)
      #expect(try run.rig.run(["verify", "last", "--deep"]).ending == .exit(76))
      let counters = try MediaFile.counters(run.rig.media(manifest.id)).compactMap(\.self)
      #expect(counters.count > 15 && counters == counters.sorted())
    }
    // Where the manifest could still be written, it says what the log says.
    let end = try #require(try media.rig.manifest(media.id).end)
    #expect(end.reason == .writeFailed && end.message?.contains("The disk has taken nothing") == true, "\(end)")
    let log = try media.rig.run(["logs", "last", "--level", "error"]).text
    #expect(log.contains("The disk has taken nothing for 0:02.000"), "\(log)")
    let events = try media.rig.events(media.id)
    #expect(events.contains { $0.kind == .warning && $0.text?.hasPrefix("The disk takes nothing") == true })
    #expect(events.last { $0.kind == .stop }?.text == "writeFailed")
    #expect(try all.rig.manifest(all.id).end?.reason == .killed)
  }

  /// What comes back in time costs the pictures of the time between, and nothing else.
  @Test func aDiskThatComesBackIsRecordedOnTo() throws {
    let writes = try Run(display, "write", [])
    let syncs = try Run(display, "fsync", ["--sync", "300ms"])
    for run in [writes, syncs] { try run.disk.hang() }
    try writes.waitUntilStalled()
    // A mark that is made meanwhile is acknowledged when it is written.
    let mark = try ChildProcess(
      [builtProgram("recorder"), "mark", "between", "--name", writes.id.description],
      environment: writes.rig.environment)
    #expect(try syncs.status().state == .recording)
    let frames = try #require(try syncs.status().frames)
    try waitUntil("frames while the disk is made to take them") { try syncs.status().frames ?? 0 > frames + 10 }
    #expect(mark.isRunning)
    for run in [writes, syncs] { run.disk.goOn() }
    try waitUntil("the recovery") { try writes.status().state == .recording }
    #expect(try mark.wait().ending == .exit(0))
    let after = try #require(try writes.status().frames)
    try waitUntil("frames after it") { try writes.status().frames ?? 0 > after + 10 }
    for run in [writes, syncs] {
      #expect(try run.rig.run(["stop"]).ending == .exit(0))
      #expect(try run.process.wait().ending == .exit(0))
      #expect(try run.rig.manifest(run.id).state == .finished)
      #expect(try run.rig.run(["verify", "last", "--deep"]).ending == .exit(0))
    }
    let gaps = try writes.rig.events(writes.id).compactMap(\.gap)
    #expect(gaps.map(\.reason) == ["mux stalled"])
    #expect(try syncs.rig.events(syncs.id).compactMap(\.gap) == [])
    let events = try writes.rig.events(writes.id)
    #expect(events.contains { $0.kind == .marker && $0.text == "between" })
    #expect(!events.contains { $0.text?.contains("are missing here") == true })
    let counters = try MediaFile.counters(writes.rig.media(writes.id)).compactMap(\.self)
    #expect(counters == counters.sorted())
    // Both what was on its way when it began to hang and what came after it.
    let gap = try #require(gaps.first)
    let times = try MediaFile.times(writes.rig.media(writes.id)).map { Double($0) / 1000 }
    #expect(times.contains { $0 > gap.start.seconds } && times.contains { $0 > gap.end.seconds })
  }

  /// What is held is on no disk: one that hangs costs the save alone.
  @Test func aSaveThatHangsIsRefusedAndTheCaptureGoesOn() throws {
    let run = try Run(display, "write", ["--hold", "10s", "--disk-timeout", "2s", "--name", "ring"])
    try run.disk.hang()
    let refused = try run.rig.run(["save"])
    #expect(refused.ending == .exit(74), "\(refused.text) \(refused.errorText)")
    #expect(
      refused.errorText.contains("The disk has taken nothing for 0:02.000. It is still held"), "\(refused.errorText)")
    #expect(try run.status().state == .holding)
    let frames = try #require(try run.status().frames)
    try waitUntil("the capture to go on") { try run.status().frames ?? 0 > frames + 5 }
    // And it ends in time with what it holds lost, which it says.
    run.process.signal(SIGHUP)
    let result = try run.process.wait()
    #expect(result.status == 74 && result.errorText.contains("The disk has taken nothing"), "\(result.errorText)")
    // A disk that comes back takes what it refused.
    let other = try Run(display, "write", ["--hold", "10s", "--disk-timeout", "2s", "--name", "ring"])
    try other.disk.hang()
    #expect(try other.rig.run(["publish"]).ending == .exit(74))
    other.disk.goOn()
    let saved = try other.rig.run(["save"])
    #expect(saved.ending == .exit(0), "\(saved.errorText)")
    #expect(try other.rig.run(["verify", "last", "--deep"]).ending == .exit(0))
    // What was refused is not made after all.
    try waitUntil("one session") { try other.rig.run(["list", "--json"]).lines.count == 1 }
    #expect(try other.status().state == .holding)
    #expect(try other.rig.run(["stop"]).ending == .exit(0))
  }
}
