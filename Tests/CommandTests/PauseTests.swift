import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing
import Threading

/// What a pause leaves in the files (case E10).
@Suite(.serialized) struct PauseTests {
  private func milliseconds(_ time: Timestamp) -> Int { Int((time.nanoseconds + 500_000) / 1_000_000) }

  /// Half of them with frames between them, half as fast as they can be asked for.
  @Test func twoHundredPausesLeaveNoPictureInThemAndAKeyframeAfterEach() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "60"])
    let recording = try StartedRecording(rig, ["--no-cursor", "--fps", "60"])
    var control = try rig.connect()
    for round in 0..<200 {
      let pause = try control.tell(.pause)
      if round % 2 == 0 { try control.wait(until: pause + 17_000_000) }
      let resume = try control.tell(.resume)
      if round % 2 == 0 { try control.wait(forFrameAt: resume) }
    }
    try recording.stop()
    try client.process.stop()
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(gaps.count == 200)
    #expect(gaps.allSatisfy { $0.track == "video" && $0.reason == "paused" && $0.start < $0.end })
    #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $0.end <= $1.start })
    let shown = try MediaFile.packets(rig.media(recording.id))
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0.time < $1.time })
    for gap in gaps {
      let (start, end) = (milliseconds(gap.start), milliseconds(gap.end))
      #expect(!shown.contains { $0.time > start && $0.time < end }, "a picture between \(start) and \(end)")
    }
    // After each, a whole picture at once, unless the next pause came before it.
    for (gap, next) in zip(gaps, gaps.dropFirst()) {
      // One of the millisecond in which the pause began may be of before.
      let begin = max(milliseconds(gap.end), milliseconds(gap.start) + 1)
      let first = shown.first { $0.time >= begin && $0.time <= milliseconds(next.start) }
      #expect(first?.isKeyframe != false, "after \(gap.end)")
    }
    #expect(shown.filter(\.isKeyframe).count > 50)
    let counters = try MediaFile.counters(rig.media(recording.id)).compactMap { $0 }
    #expect(counters == counters.sorted())
    let manifest = try rig.manifest(recording.id)
    // One that is a tick of the container old at the end is not shown once more.
    #expect([0, 1].contains(milliseconds(manifest.duration) - (try #require(shown.last).time)))
  }

  /// A flash and a beep before, between and after two hundred pauses are as far apart as they were made.
  @Test func soundAndPictureStayTogetherOverTwoHundredPauses() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let player = try TimedPlayer(server)
    let recording = try StartedRecording(rig, ["--no-cursor", "--fps", "60", "--app-audio"])
    let epoch = try rig.manifest(recording.id).clock.monotonic
    var control = try rig.connect()
    var marks: [(tone: Int64, flash: Int64)] = []
    for round in 0..<5 {
      for _ in 0..<(round == 0 ? 0 : 50) {
        let pause = try control.tell(.pause)
        try control.wait(until: pause + 10_000_000)
        let resume = try control.tell(.resume)
        try control.wait(forFrameAt: resume)
      }
      let tone = MonotonicClock.now() + 600_000_000
      player.play(1000, seconds: 0.1, at: tone)
      try waitUntil("the tone") { MonotonicClock.now() >= tone }
      let flash = try client.tell("flash")
      marks.append((tone, flash))
      // The flash is over, and so is the tone.
      try control.wait(until: Timestamp(nanoseconds: max(tone, flash) - epoch) + 350_000_000)
    }
    try recording.stop()
    try client.process.stop()
    let gaps = try rig.events(recording.id).compactMap(\.gap).filter { $0.reason == "paused" }
    for track in ["video", "application"] {
      let own = gaps.filter { $0.track == track }
      #expect(own.count == 200)
      #expect(zip(own, own.dropFirst()).allSatisfy { $0.end <= $1.start })
    }
    let file = rig.media(recording.id)
    let times = try MediaFile.times(file)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    let isWhite = try MediaFile.pictures(file, PixelRect(x: 100, y: 100, width: 1, height: 1)).map { $0[0] > 128 }
    let shown = isWhite.indices.filter { isWhite[$0] && ($0 == 0 || !isWhite[$0 - 1]) }.map { times[$0] }
    try #require(shown.count == marks.count)
    let sound = try MediaFile.sound(file)
    // A busy machine may spoil two of them.
    let skews = marks.indices.map { index -> Double in
      let first = Int((Double(marks[index].tone - epoch) / 1e9 - 0.2) * 48_000)
      guard let begin = onset(in: Array(sound[first..<first + 19_200]), above: 0.1) else { return .infinity }
      let made = Double(marks[index].tone - marks[index].flash) / 1e6
      return abs(Double(first + begin) / 48 - Double(shown[index]) - made)
    }
    #expect(skews.sorted()[2] <= 20, "ms off: \(skews)")
    // The sound has not slipped by the pauses.
    #expect(abs(Double(sound.count) / 48_000 - (try rig.manifest(recording.id).duration.seconds)) < 0.05)
  }

  @Test func pausedSoundIsSilenceInItsPlaceAndMutedSoundToo() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["bars"])
    let tone = try server.playTone(1000, seconds: 60)
    let recording = try StartedRecording(rig, ["--app-audio", "--microphone"])
    try waitUntil("the tone") {
      let status = try recording.status()
      return (status.elapsed ?? 0) > 1_000_000_000 && status.stages.contains { ($0.level ?? 0) > 0.1 }
    }
    var control = try rig.connect()
    let stretch: Int64 = 700_000_000
    try control.wait(until: try control.tell(.pause) + stretch)
    try control.wait(until: try control.tell(.resume) + stretch)
    let mute = try #require(try control.ask(ControlRequest(.mute, input: .application)).time)
    #expect(try recording.status().stages.first { $0.name == "application" }?.isMuted == true)
    try control.wait(until: mute + stretch)
    try control.wait(until: try control.tell(.unmute) + stretch)
    try recording.stop()
    _ = tone.isRunning
    try client.process.stop()

    let gaps = try rig.events(recording.id).compactMap(\.gap).filter { ["paused", "muted"].contains($0.reason) }
    #expect(gaps.map(\.track) == ["video", "application", "microphone", "application"])
    #expect(gaps.map(\.reason) == ["paused", "paused", "paused", "muted"])
    let decoded = try run(
      ["ffmpeg", "-v", "error", "-i", rig.media(recording.id), "-vn", "-f", "f32le", "-ac", "1", "-ar", "48000", "-"])
    let samples = decoded.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    func peak(_ start: Double, _ end: Double) -> Float {
      let last = min(samples.count, max(0, Int(end * 48_000)))
      return samples[min(last, max(0, Int(start * 48_000)))..<last].reduce(0) { max($0, $1.magnitude) }
    }
    // AAC rings a packet of 21 ms before and after an edge.
    let edge = 0.045
    for gap in [gaps[1], gaps[3]] {
      #expect(peak(gap.start.seconds + edge, gap.end.seconds - edge) < 0.01)
      #expect(peak(gap.start.seconds - 0.3, gap.start.seconds - edge) > 0.1)
      #expect(peak(gap.end.seconds + edge, gap.end.seconds + 0.3) > 0.1)
    }
    let length = Double(samples.count) / 48_000
    #expect(abs(length - (try rig.manifest(recording.id).duration.seconds)) < 0.05)
  }
}
