import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Case E21: an encoder that is slower than the screen, by a library that has each picture take as long as a test wants.
@Suite(.serialized) struct OverloadTests {
  private let server: SoundServer
  private let rig: RecorderRig
  private let folder: TemporaryFolder

  init() throws {
    (server, folder) = (try SoundServer(), try TemporaryFolder())
    let environment: [String: String?] = [
      "LD_PRELOAD": try InjectedFaults.library("slow-encoder"), "SLOW_FILE": folder.file("delay"),
    ]
    rig = try RecorderRig(
      display: VirtualDisplay(size: "640x480"), environment: environment.merging(server.environment) { _, new in new })
    try slow(by: 0)
  }

  /// Makes each picture take so many ns longer.
  private func slow(by nanoseconds: Int64) throws {
    let bytes = withUnsafeBytes(of: nanoseconds) { Array($0) }
    let descriptor = open(folder.file("delay"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    #expect(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
  }

  /// 30 frames a second are drawn, and the encoder takes four: the recording says so while it lasts, what is recorded is
  /// spread evenly and in its time, no more than the pictures in flight waits, and the sound does not notice.
  @Test func aSlowEncoderLeavesFramesOutEvenlyAndTheSoundAlone() throws {
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "30"])
    // The server's own tone never runs dry, and is as loud as the recorder leaves it.
    try server.control("load-module", "module-sine", "sink=desktop", "frequency=1000")
    let player = try #require(try server.control("list", "short", "sink-inputs").split(separator: "\t").first)
    try server.control("set-sink-input-volume", String(player), "60%")
    let recording = try StartedRecording(rig, ["--app-audio", "--no-cursor"])
    try waitUntil("frames") { try recording.status().frames ?? 0 >= 30 }
    #expect(try recording.status().state == .recording)
    let delay: Int64 = 250_000_000
    try slow(by: delay)
    let slowFrom = Timestamp(nanoseconds: try #require(try recording.status().elapsed))
    try waitUntil("the state") { try recording.status().state == .degraded }
    let status = try recording.status()
    #expect(status.message?.hasPrefix("The encoder cannot keep up") == true, "\(status)")
    #expect(status.stages.allSatisfy { $0.state == .ok })
    #expect(try #require(status.droppedFrames) > 10)
    let count = try #require(status.frames)
    try waitUntil("slow frames") { try recording.status().frames ?? 0 >= count + 8 }
    let slowUntil = Timestamp(nanoseconds: try #require(try recording.status().elapsed))
    try slow(by: 0)
    try waitUntil("the recovery") { try recording.status().state == .recording }
    #expect(try recording.status().message == nil)
    try recording.stop()
    try client.process.stop()

    let (manifest, file) = (try rig.manifest(recording.id), rig.media(recording.id))
    let times = try MediaFile.times(file)
    let counters = try MediaFile.counters(file).compactMap { $0 }
    #expect(counters.count == times.count)
    // Each is in its time, however long it waited for the encoder.
    let drawn = Dictionary(uniqueKeysWithValues: client.frames.map { ($0.counter, $0.time) })
    let late = zip(counters, times).dropLast().compactMap { counter, milliseconds in
      drawn[counter].map { manifest.clock.monotonic + Int64(milliseconds) * 1_000_000 - $0 }
    }
    let outOfStep = late.filter { !(-1_000_000...70_000_000).contains($0) }
    #expect(outOfStep.count * 10 <= late.count, "\(outOfStep)")
    #expect(zip(counters, counters.dropFirst()).allSatisfy { $0 <= $1 })
    // As many as the encoder had time for, and those in flight; none in a bunch.
    let slowTimes = times.filter {
      $0 > slowFrom.nanoseconds / 1_000_000 + 1000 && $0 < slowUntil.nanoseconds / 1_000_000
    }
    let span = (slowUntil - slowFrom) - 1_000_000_000
    #expect(slowTimes.count >= 5 && Int64(slowTimes.count) <= span / delay + 4, "\(slowTimes)")
    let steps = zip(slowTimes.dropFirst(), slowTimes).map { $0 - $1 }.sorted()
    // A thread that a busy machine held up for a while finds several pictures free at once.
    #expect(steps[steps.count / 2] >= 150, "\(steps)")
    #expect(manifest.statistics?.droppedFrames ?? 0 > 20)
    // One warning, which the session keeps, and no gap: what is left out is a slower picture, not a hole.
    let events = try rig.events(recording.id)
    #expect(events.filter { $0.kind == .warning }.map(\.text) == [status.message])
    #expect(events.compactMap(\.gap).filter { $0.track != "machine" } == [])
    let sound = try MediaFile.sound(file)
    #expect(abs(Double(sound.count) / 48_000 - manifest.duration.seconds) < 0.06)
    let blocks = stride(from: 24_000, to: sound.count - 4800, by: 480).map { start in
      sound[start..<start + 480].reduce(0) { max($0, $1.magnitude) }
    }
    #expect(blocks.allSatisfy { $0 > 0.1 }, "\(blocks.count { $0 <= 0.1 }) of \(blocks.count) blocks")
  }
}
