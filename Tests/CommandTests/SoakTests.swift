import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Recordings that last: some seconds here, an hour and more under `make torture`.
@Suite(.serialized) struct SoakTests {
  static let seconds = Double(ProcessInfo.processInfo.environment["RECORDER_TORTURE_SOAK"] ?? "") ?? 6

  /// Cases E20 and E08: a busy screen with sound takes no more memory at the end than near the beginning, and every
  /// picture and sample of it decodes.
  @Test func aBusyRecordingDoesNotGrow() throws {
    let sound = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: sound.environment)
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "60"])
    let tone = try sound.playTone(1000, seconds: min(Self.seconds, 60))
    let recording = try rig.record(["--no-cursor", "--fps", "60", "--app-audio", "--duration", "\(Self.seconds)"])
    // Pools and buffers are filled after a third of it.
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    try waitUntil("a third", seconds: Self.seconds + 60) { monotonicSeconds() > epoch + Self.seconds / 3 }
    let before = residentBytes(of: recording.process.pid)
    try waitUntil("the end", seconds: Self.seconds + 60) { monotonicSeconds() > epoch + Self.seconds * 0.9 }
    let after = residentBytes(of: recording.process.pid)
    // A frame that leaks is 115 kB: 300 of them at least are between the two.
    #expect(before > 0 && after - before < 8 << 20, "\(before) bytes, then \(after)")
    #expect(try recording.process.wait(seconds: Self.seconds / 10 + 120).status == 0)
    _ = tone.isRunning
    try client.process.stop()
    let verified = try rig.run(["verify", "last", "--deep"], seconds: Self.seconds + 120)
    #expect(verified.ending == .exit(0), "\(verified.text)\(verified.errorText)")
    let sounds = try MediaFile.end(rig.media(recording.id), "a:0")
    #expect(abs(sounds - Int64(Self.seconds * 1e9)) < 100_000_000, "\(sounds)")
  }

  /// Case E15: on a screen where nothing happens the length is right, and every moment is found.
  @Test func aStillScreenIsAsLongAsItLasted() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["bars", "--geometry", "320x240"])
    let length = max(3, Self.seconds / 2)
    let id = try rig.record(seconds: length, ["--no-cursor", "--lossless"])
    try client.process.stop()
    let duration = try #require(Double(try MediaFile.entries(rig.media(id))["duration"] ?? ""))
    #expect(abs(duration - length) < 0.1)
    #expect(try MediaFile.times(rig.media(id)).count <= 4)
    for place in [0.1, 0.5, 0.99] {
      let file = rig.folder.file("\(place).png")
      #expect(try rig.run(["frame", "last", "--at", "\(length * place)", "-o", file]).status == 0)
      let picture = try MediaFile.pictures(file, PixelRect(x: 20, y: 120, width: 1, height: 1))[0]
      let colour = PatternLayout.bars[0]
      let bytes = [0, 8, 16].map { UInt8(truncatingIfNeeded: colour >> UInt32($0)) }
      #expect(Array(picture[..<3]) == bytes)
    }
  }
}
