import Glibc
import SessionModel
import TestSupport
import Testing

/// Every fault that sound can have while the picture is recorded: the tracks are of one length, the gaps are where the
/// sound was missing, and the picture goes on.
@Suite(.serialized) struct SoundFaultTests {
  /// Checks what no fault may change: every counter that was drawn is in the picture, and each sound track has a sample
  /// for each moment of the session.
  private func check(_ rig: RecorderRig, _ id: SessionID, soundTracks: Int) throws {
    let counters = try MediaFile.counters(rig.media(id)).compactMap { $0 }
    let (first, last) = try (#require(counters.first), #require(counters.last))
    #expect(Set(counters) == Set(first...last))
    let length = Int((try rig.manifest(id).duration.seconds * 48_000).rounded())
    for track in 0..<soundTracks {
      #expect(abs(try MediaFile.soundFrames(rig.media(id), track: track) - length) <= 1)
    }
    #expect(abs(Double(try #require(try MediaFile.times(rig.media(id)).last)) / 1000 - Double(length) / 48_000) < 0.04)
  }

  @Test func thoseOfADevice() throws {
    let (device, healthy) = try (ClockedDevice(), ClockedDevice())
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: device.environment)
    // Each of its counters is on the screen for six frames.
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "5"])
    let recording = try rig.record([
      "--no-cursor", "--audio-codec", "pcm", "--app-audio=alsa:\(healthy.pcm)", "--microphone=alsa:\(device.pcm)",
    ])
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    func waitForSound(after count: Int) throws {
      try waitUntil("sound again") { try device.heard().count > count && device.heard().last?.end == nil }
      usleep(400_000)
    }
    try waitForSound(after: 0)
    var returns: [Double] = []
    for fault in [ClockedDevice.Fault.stall, .vanish] {
      let count = try device.heard().count
      try device.begin(fault)
      usleep(1_000_000)
      device.end(fault)
      returns.append(monotonicSeconds())
      try waitForSound(after: count)
    }
    for mishap in [ClockedDevice.Mishap.overrun, .deaf] {
      let count = try device.heard().count
      try device.suffer(mishap)
      try waitForSound(after: count)
    }
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    #expect(result.status == 0, "\(result.errorText)")
    try client.process.stop()
    try check(rig, recording.id, soundTracks: 3)

    // By the device's own word. What is shorter than 50 ms is no gap; an overrun is, where the machine is slow.
    let heard = try device.heard().filter { ($0.end ?? .infinity) - $0.start > 0.001 }
    let missing = zip(heard, heard.dropFirst()).map { (start: ($0.end ?? 0) - epoch, end: $1.start - epoch) }
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(gaps.allSatisfy { $0.track == "microphone" }, "\(gaps)")
    for hole in missing where hole.end - hole.start > 0.06 {
      #expect(
        gaps.contains { abs($0.start.seconds - hole.start) < 0.02 && abs($0.end.seconds - hole.end) < 0.02 },
        "\(hole) in \(gaps)")
    }
    for gap in gaps {
      #expect(
        missing.contains { abs(gap.start.seconds - $0.start) < 0.02 && abs(gap.end.seconds - $0.end) < 0.02 },
        "\(gap) in \(missing)")
    }
    let long = gaps.filter { $0.end - $0.start > 400_000_000 }
    let stalled = "the device delivered nothing"
    #expect(long.map(\.reason) == [stalled, "the device was not there", stalled])
    // What stalls is heard again as soon as it goes on, what vanished at the next look, of which there are ten a second.
    for (gap, time) in zip(long, returns) { #expect(gap.end.seconds - (time - epoch) <= 0.2) }
    // One that was only prepared is opened anew after half a second.
    #expect(long[2].end - long[2].start < 750_000_000)
  }

  @Test func thoseOfAServer() throws {
    let folder = try TemporaryFolder()
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "640x480"), environment: ["PULSE_SERVER": "unix:\(folder.file("native"))"])
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "5"])
    let recording = try rig.record(["--no-cursor", "--audio-codec", "pcm", "--app-audio"])
    func events(_ kind: Event.Kind) throws -> Int { try rig.events(recording.id).filter { $0.kind == kind }.count }
    /// Does what ends an outage and waits until it is over; then half a second of the tone.
    func bring<Result>(_ body: () throws -> Result) throws -> Result {
      let before = try events(.device)
      let result = try body()
      try waitUntil("sound again") { try events(.device) > before }
      return result
    }
    var server = try bring { try SoundServer(folder: folder) }
    var players = [try server.playTone(1000, seconds: 60)]
    usleep(800_000)
    try server.control("suspend-sink", "desktop", "1")
    try waitUntil("the word of it") { try events(.warning) == 2 }
    _ = try bring { try server.control("suspend-sink", "desktop", "0") }
    usleep(800_000)
    try server.kill()
    try waitUntil("the word of it") { try events(.warning) == 3 }
    server = try bring { try SoundServer(folder: folder) }
    players.append(try server.playTone(1000, seconds: 60))
    usleep(800_000)
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    try client.process.stop()
    try check(rig, recording.id, soundTracks: 1)

    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(
      gaps.map(\.reason) == ["the device was not there", "the device was asleep", "the sound server was not there"])
    #expect(gaps.first?.start == .zero)
    let sound = try MediaFile.sound(rig.media(recording.id))
    for gap in gaps {
      let (start, end) = (Int(gap.start.seconds * 48_000), Int(gap.end.seconds * 48_000))
      #expect(sound[(start + 96)..<(end - 96)].allSatisfy { $0 == 0 })
      // The tone had been heard up to there: the gap is all that is missing.
      if start > 0 { #expect(sound[(start - 960)..<start].contains { $0.magnitude > 0.1 }) }
    }
    #expect(sound.suffix(9600).contains { $0.magnitude > 0.1 })
    _ = players
  }
}
