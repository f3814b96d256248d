import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `kill -9` of the whole process group loses at most a second, on a busy screen as on a still one, and the next command
/// finds the session whole.
@Suite(.serialized) struct KillTests {
  /// One line of `list --json`.
  struct Listed: Decodable {
    let id: SessionID
    let state: String
    let reason: String?
    let duration: Int64
  }

  /// Kills the recording in its tenth second, 9.7 s after its epoch.
  private func killInTheTenthSecond(_ recording: RecorderRig.Recording, _ rig: RecorderRig) throws -> Timestamp {
    let epoch = try rig.manifest(recording.id).clock.monotonic
    try waitUntil("the tenth second") { monotonicSeconds() >= Double(epoch) / 1e9 + 9.7 }
    recording.process.signal(SIGKILL, group: true)
    let killed = Timestamp(nanoseconds: Int64(monotonicSeconds() * 1e9) - epoch)
    #expect(try recording.process.wait().ending == .signal(SIGKILL))
    return killed
  }

  private func listed(_ rig: RecorderRig) throws -> [Listed] {
    let result = try rig.run(["list", "--json"])
    #expect(result.ending == .exit(0))
    return try result.lines.map { try JSONDecoder().decode(Listed.self, from: Data($0.utf8)) }
  }

  @Test func nineSecondsOfABusyScreenRemain() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(
      on: try #require(rig.display), ["counter", "--fps", "30", "--title", "busy screen"])
    let recording = try rig.record(["--no-cursor"], ownGroup: true)
    let killed = try killInTheTenthSecond(recording, rig)
    try client.process.stop()

    // The next command finds it, says what happened, and can search it.
    let sessions = try listed(rig)
    #expect(sessions.map(\.id) == [recording.id])
    #expect(sessions.map(\.state) == ["interrupted"])
    #expect(sessions.map(\.reason) == ["killed"])
    let hits = try rig.run(["search", "busy", "screen", "--json"])
    #expect(hits.ending == .exit(0))
    #expect(hits.text.contains(recording.id.description))

    // By the clock drawn into the picture.
    let epoch = try rig.manifest(recording.id).clock.monotonic
    let drawn = Dictionary(uniqueKeysWithValues: client.frames.map { ($0.counter, $0.time) })
    let counters = try MediaFile.counters(rig.media(recording.id)).compactMap { $0 }
    let last = try #require(counters.last.flatMap { drawn[$0] })
    let lost = killed.nanoseconds - (last - epoch)
    #expect(lost <= 1_000_000_000, "\(lost) ns lost")
    #expect(last - epoch >= 9_000_000_000 - 300_000_000)
    #expect(Set(counters).count >= 250)
    #expect(counters == counters.sorted())

    // Looking again changes nothing.
    let before = try readFile(rig.media(recording.id))
    _ = try listed(rig)
    #expect(try readFile(rig.media(recording.id)) == before)
  }

  /// A new file is begun while the disk takes ten seconds for whatever it is made to keep: nobody who records waits for that,
  /// and recovery knows where the file belongs that the manifest has not heard of.
  @Test func aSlowDiskAtASplitCostsNoMore() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let recording = try rig.record(["--no-cursor", "--sync", "1h"], ownGroup: true)
    let slow = try ChildProcess([
      "strace", "-f", "-qq", "-o", rig.folder.file("trace"), "-p", "\(recording.process.pid)", "-e", "trace=fsync",
      "-e",
      "inject=fsync:delay_enter=10000000",
    ])
    try waitUntil("strace; \(slow.errorsSoFar)") {
      let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(recording.process.pid)/task")
      return try threads.allSatisfy { thread in
        let status = try readFile("/proc/\(recording.process.pid)/task/\(thread)/status")
        return !String(decoding: status, as: UTF8.self).contains("TracerPid:\t0\n")
      }
    }
    let busy = ProcessorWait(of: [recording.process.pid])
    let split = try ChildProcess([builtProgram("recorder"), "split"], environment: rig.environment)
    let second = "\(rig.session(recording.id))/media/000002.mkv"
    // By the file that is written, or by the clock where it is not.
    let began = monotonicSeconds()
    try waitUntil("a second of the new file") {
      (try? MediaFile.times(second).last ?? 0) ?? 0 > 1000 || monotonicSeconds() > began + 6
    }
    let waited = Int64(busy.seconds * 1e9)
    recording.process.signal(SIGKILL, group: true)
    let epoch = try rig.manifest(recording.id).clock.monotonic
    let killed = Int64(monotonicSeconds() * 1e9) - epoch
    slow.signal(SIGKILL)
    #expect(try recording.process.wait().ending == .signal(SIGKILL))
    _ = try split.wait()
    try client.process.stop()
    let sessions = try listed(rig)
    #expect(sessions.map(\.state) == ["interrupted"])
    let manifest = try rig.manifest(recording.id)
    try #require(manifest.segments.count == 2)
    #expect(manifest.segments[0].end == manifest.segments[1].start)
    let event = try #require(try rig.events(recording.id).first { $0.kind == .split })
    #expect(manifest.segments[1].start == event.time)
    // By the clock drawn into the picture.
    let drawn = Dictionary(uniqueKeysWithValues: client.frames.map { ($0.counter, $0.time - epoch) })
    let counters = try manifest.segments.flatMap { segment in
      try MediaFile.counters("\(rig.session(recording.id))/\(segment.file)").compactMap { $0 }
    }
    #expect(counters == counters.sorted())
    let last = try #require(counters.last.flatMap { drawn[$0] })
    #expect(killed - last <= 1_000_000_000 + waited, "\(killed - last) ns lost, \(waited) waited")
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(76))
  }

  @Test func nineSecondsOfAStillScreenRemainWithThePictureToTheEnd() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "641x479"))
    let client = try PatternClient(on: try #require(rig.display), ["bars"])
    let recording = try rig.record(["--no-cursor", "--lossless"], ownGroup: true)
    let killed = try killInTheTenthSecond(recording, rig)
    try client.process.stop()

    let sessions = try listed(rig)
    #expect(sessions.map(\.state) == ["interrupted"])
    let duration = try #require(sessions.first?.duration)
    #expect(killed.nanoseconds - duration <= 1_000_000_000)
    #expect(duration >= 9_000_000_000 - 300_000_000)
    let end = try #require(try rig.events(recording.id).last { $0.kind == .alive })
    #expect(duration >= end.time.nanoseconds)

    for time in ["0", "5", end.time.description] {
      let file = rig.folder.file("frame-\(time).png")
      let result = try rig.run(["frame", "last", "--at", time, "-o", file])
      #expect(result.ending == .exit(0), "\(result.errorText)")
      let picture = try MediaFile.pictures(file, PixelRect(x: 0, y: 0, width: 641, height: 479))
      let width = 641
      for (index, colour) in PatternLayout.bars.enumerated() {
        let pixel = (240 * width + index * width / 8 + 40) * 4
        let shown = (0..<3).map { UInt32(picture[0][pixel + $0]) << UInt32(8 * $0) }.reduce(0, +)
        #expect(shown == colour & 0xFF_FFFF, "bar \(index) at \(time)")
      }
    }
  }
}
