import Control
import Glibc
import SessionModel
import TestSupport
import Testing

/// Every fault that sound can have while the picture is recorded: the tracks are of one length, the gaps are where the
/// sound was missing, it is there again within 200 ms of its return, and the picture goes on.
@Suite(.serialized) struct SoundFaultTests {
  /// A return of what was away: when it was there again, in seconds of the session, and by when its sound has to be, which
  /// is 200 ms and the time for which the recorder was kept from the processors.
  private struct Return {
    let time: Double
    let bound: Double
  }

  /// Ends an outage by `body` and waits until `isBack`.
  private func bring<Result>(
    _ rig: RecorderRig, _ recording: RecorderRig.Recording, _ body: () throws -> Result, isBack: () throws -> Bool
  ) throws -> (result: Result, back: Return) {
    let busy = ProcessorWait(of: [recording.process.pid])
    let result = try body()
    let time = monotonicSeconds() - Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    try waitUntil("sound again", isBack)
    return (result, Return(time: time, bound: time + 0.2 + busy.seconds))
  }

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

  /// Cases A03 (`deaf`: it is only prepared, and never says so) and A04 (what was recorded before a device went is kept).
  @Test func thoseOfADevice() throws {
    let (device, healthy) = try (ClockedDevice(), ClockedDevice())
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: device.environment)
    // Each of its counters is on the screen for six frames.
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "5"])
    let recording = try rig.record([
      "--no-cursor", "--audio-codec", "pcm", "--app-audio=alsa:\(healthy.pcm)", "--microphone=alsa:\(device.pcm)",
    ])
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    var control = try rig.connect()
    func goOn(for seconds: Double) throws {
      try control.wait(until: Timestamp(nanoseconds: Int64((monotonicSeconds() - epoch + seconds) * 1e9)))
    }
    func isHeard(after count: Int) throws -> Bool {
      let heard = try device.heard()
      return heard.count > count && heard.last?.end == nil
    }
    try waitUntil("sound") { try isHeard(after: 0) }
    try goOn(for: 0.4)
    var returns: [Return] = []
    for fault in [ClockedDevice.Fault.stall, .vanish] {
      let count = try device.heard().count
      try device.begin(fault)
      try goOn(for: 1)
      returns.append(try bring(rig, recording, { device.end(fault) }, isBack: { try isHeard(after: count) }).back)
      try goOn(for: 0.4)
    }
    for mishap in [ClockedDevice.Mishap.overrun, .deaf] {
      let count = try device.heard().count
      returns.append(
        try bring(rig, recording, { try device.suffer(mishap) }, isBack: { try isHeard(after: count) }).back)
      try goOn(for: 0.4)
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
    // What stalls is heard again as soon as it goes on, what vanished at the next look, of which there are ten a second; one
    // that was only prepared is opened anew after half a second. In the file the device's own noise tells.
    let sound = try MediaFile.sound(rig.media(recording.id), track: 2)
    for (gap, back) in zip(long, [returns[0], returns[1], returns[3]]) {
      let waited = gap == long[2] ? 0.5 : 0
      let first = try #require(sound.firstSound(from: gap.start.seconds + 0.03, above: 0.000_05))
      #expect(first <= back.bound + waited, "\(gap): sound at \(first), back at \(back)")
    }
    // An overrun costs nothing that is long enough to be a gap, where the machine is not slow; and from its bound on there is
    // sound in each 10 ms, until the device goes deaf.
    let overrun = returns[2]
    for gap in gaps where gap.reason == "the device was read too late" { #expect(gap.end.seconds <= overrun.bound) }
    for time in stride(from: overrun.bound, to: long[2].start.seconds - 0.01, by: 0.01) {
      #expect(sound[Int(time * 48_000)..<Int((time + 0.01) * 48_000)].contains { $0 != 0 }, "no sound at \(time)")
    }
  }

  @Test(arguments: SoundServer.Kind.allCases) func thoseOfAServer(kind: SoundServer.Kind) throws {
    let folder = try TemporaryFolder()
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "640x480"),
      environment: ["PULSE_SERVER": SoundServer.address(kind, in: folder)])
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "5"])
    let recording = try rig.record(["--no-cursor", "--audio-codec", "pcm", "--app-audio"])
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    var control = try rig.connect()
    func goOn(for seconds: Double) throws {
      try control.wait(until: Timestamp(nanoseconds: Int64((monotonicSeconds() - epoch + seconds) * 1e9)))
    }
    func events(_ kind: Event.Kind) throws -> [String] {
      try rig.events(recording.id).filter { $0.kind == kind }.compactMap(\.text)
    }
    func outages() throws -> Int { try events(.warning).count { $0.contains("is silent until it is there") } }
    /// Does what ends an outage and waits until it is over.
    func bring<Result>(_ body: () throws -> Result) throws -> (result: Result, back: Return) {
      let before = try events(.device).count
      return try self.bring(rig, recording, body) { try events(.device).count > before }
    }
    let first = try bring { try SoundServer(kind, folder: folder) }
    var returns = [first.back]
    var players = [try first.result.playTone(1000, seconds: 60)]
    func waitForTone() throws {
      try waitUntil("the tone") {
        try control.ask(ControlRequest(.status)).status?.stages.contains { ($0.level ?? 0) > 0.1 } == true
      }
    }
    try waitForTone()
    try goOn(for: 0.8)
    // PipeWire's session manager has no such order.
    let sleeps = kind == .pulseAudio
    if sleeps {
      try first.result.control("suspend-sink", "desktop", "1")
      try waitUntil("the word of it") { try outages() == 2 }
      returns.append(try bring { try first.result.control("suspend-sink", "desktop", "0") }.back)
      try goOn(for: 0.8)
    }
    let told = try outages()
    try first.result.kill()
    try waitUntil("the word of it") { try outages() == told + 1 }
    let second = try bring { try SoundServer(kind, folder: folder) }
    returns.append(second.back)
    players.append(try second.result.playTone(1000, seconds: 60))
    try waitForTone()
    try goOn(for: 0.8)
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    try client.process.stop()
    try check(rig, recording.id, soundTracks: 1)

    let gaps = try rig.events(recording.id).compactMap(\.gap)
    let reasons = ["the device was not there", "the device was asleep", "the sound server was not there"]
    #expect(gaps.map(\.reason) == (sleeps ? reasons : [reasons[0], reasons[2]]))
    #expect(gaps.first?.start == .zero)
    let sound = try MediaFile.sound(rig.media(recording.id))
    for (gap, back) in zip(gaps, returns) {
      let (start, end) = (Int(gap.start.seconds * 48_000), Int(gap.end.seconds * 48_000))
      #expect(sound[(start + 96)..<(end - 96)].allSatisfy { $0 == 0 })
      // The tone had been heard up to there: the gap is all that is missing.
      if start > 0 { #expect(sound[(start - 960)..<start].contains { $0.magnitude > 0.1 }) }
      #expect(gap.end.seconds <= back.bound, "\(gap): back at \(back)")
      // What had been asleep plays on at once.
      if gap.reason == reasons[1] {
        let first = try #require(sound.firstSound(from: gap.start.seconds + 0.01, above: 0.1))
        #expect(first <= back.bound, "sound at \(first), back at \(back)")
      }
    }
    #expect(sound.suffix(9600).contains { $0.magnitude > 0.1 })
    _ = players
  }
}

extension Array where Element == Float {
  /// When, in seconds at 48 kHz, the first sample after `start` is louder than `threshold`; nil when none is.
  fileprivate func firstSound(from start: Double, above threshold: Float) -> Double? {
    onset(in: Array(dropFirst(Int(start * 48_000))), above: threshold).map { start + Double($0) / 48_000 }
  }
}
