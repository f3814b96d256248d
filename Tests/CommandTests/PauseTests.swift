import Archive
import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing
import Threading

@testable import Replay

/// What a pause and a split leave in the files (case E10).
@Suite(.serialized) struct PauseTests {
  /// A packet of the picture, its time in ms of the file.
  private struct Picture: Equatable {
    let time: Int
    let isKeyframe: Bool
  }

  private func pictures(_ path: String) throws -> [Picture] {
    let result = try run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0",
      path,
    ])
    return result.lines.compactMap { line in
      let parts = line.split(separator: ",")
      guard parts.count >= 2, let time = Double(parts[0]) else { return nil }
      return Picture(time: Int((time * 1000).rounded()), isKeyframe: parts[1].hasPrefix("K"))
    }
  }

  /// The control socket of the one recording of `rig`.
  private func connect(_ rig: RecorderRig) throws -> ControlClient {
    let runtime = try #require(
      try RuntimeFolder.open(["XDG_RUNTIME_DIR": rig.folder.path], archive: rig.archive, creating: false))
    return try RunningRecordings(runtime).connect(nil)
  }

  private func ask(_ control: inout ControlClient, _ command: ControlRequest.Command) throws -> Timestamp {
    let response = try control.ask(ControlRequest(command))
    #expect(response.error == nil)
    return response.time ?? .zero
  }

  /// Waits until a recording has gone on to `time`.
  private func wait(_ control: inout ControlClient, until time: Timestamp) throws {
    try waitUntil("\(time)") { try control.ask(ControlRequest(.status)).status?.elapsed ?? 0 >= time.nanoseconds }
  }

  /// Waits until a recording has a frame of `time` or later.
  private func wait(_ control: inout ControlClient, forFrameAt time: Timestamp) throws {
    try waitUntil("a frame at \(time)") { try control.ask(ControlRequest(.status)).status?.lastFrame ?? .zero >= time }
  }

  private func milliseconds(_ time: Timestamp) -> Int { Int((time.nanoseconds + 500_000) / 1_000_000) }

  /// Half of them with frames between them, half as fast as they can be asked for.
  @Test func twoHundredPausesLeaveNoPictureInThemAndAKeyframeAfterEach() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "60"])
    let recording = try StartedRecording(rig, ["--no-cursor", "--fps", "60"])
    var control = try connect(rig)
    for round in 0..<200 {
      let pause = try ask(&control, .pause)
      if round % 2 == 0 { try wait(&control, until: pause + 17_000_000) }
      let resume = try ask(&control, .resume)
      if round % 2 == 0 { try wait(&control, forFrameAt: resume) }
    }
    try recording.stop()
    try client.process.stop()
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(gaps.count == 200)
    #expect(gaps.allSatisfy { $0.track == "video" && $0.reason == "paused" && $0.start < $0.end })
    #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $0.end <= $1.start })
    let shown = try pictures(rig.media(recording.id))
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0.time < $1.time })
    for gap in gaps {
      let (start, end) = (milliseconds(gap.start), milliseconds(gap.end))
      #expect(!shown.contains { $0.time > start && $0.time < end }, "a picture between \(start) and \(end)")
    }
    // After each, a whole picture at once, unless the next pause came before it.
    for (gap, next) in zip(gaps, gaps.dropFirst()) {
      let first = shown.first { $0.time >= milliseconds(gap.end) && $0.time <= milliseconds(next.start) }
      #expect(first?.isKeyframe != false, "after \(gap.end)")
    }
    #expect(shown.filter(\.isKeyframe).count > 50)
    let counters = try MediaFile.counters(rig.media(recording.id)).compactMap { $0 }
    #expect(counters == counters.sorted())
    let manifest = try rig.manifest(recording.id)
    #expect(shown.last?.time == milliseconds(manifest.duration))
  }

  /// A flash and a beep before, between and after a hundred pauses are as far apart as they were made.
  @Test func soundAndPictureStayTogetherOverAHundredPauses() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let player = try TimedPlayer(server)
    let recording = try StartedRecording(rig, ["--no-cursor", "--fps", "60", "--app-audio"])
    let epoch = try rig.manifest(recording.id).clock.monotonic
    var control = try connect(rig)
    var marks: [(tone: Int64, flash: Int64)] = []
    for round in 0..<5 {
      for _ in 0..<(round == 0 ? 0 : 25) {
        let pause = try ask(&control, .pause)
        try wait(&control, until: pause + 10_000_000)
        let resume = try ask(&control, .resume)
        try wait(&control, forFrameAt: resume)
      }
      let tone = MonotonicClock.now() + 600_000_000
      player.play(1000, seconds: 0.1, at: tone)
      try waitUntil("the tone") { MonotonicClock.now() >= tone }
      let flash = try client.tell("flash")
      marks.append((tone, flash))
      // The flash is over, and so is the tone.
      try wait(&control, until: Timestamp(nanoseconds: max(tone, flash) - epoch) + 350_000_000)
    }
    try recording.stop()
    try client.process.stop()
    let gaps = try rig.events(recording.id).compactMap(\.gap).filter { $0.reason == "paused" }
    for track in ["video", "application"] {
      let own = gaps.filter { $0.track == track }
      #expect(own.count == 100)
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
    var control = try connect(rig)
    let stretch: Int64 = 700_000_000
    try wait(&control, until: try ask(&control, .pause) + stretch)
    try wait(&control, until: try ask(&control, .resume) + stretch)
    let mute = try #require(try control.ask(ControlRequest(.mute, input: .application)).time)
    #expect(try recording.status().stages.first { $0.name == "application" }?.isMuted == true)
    try wait(&control, until: mute + stretch)
    try wait(&control, until: try ask(&control, .unmute) + stretch)
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

  @Test func splitFilesFollowEachOtherWithoutAGap() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let tone = try server.playTone(1000, seconds: 60)
    let recording = try StartedRecording(rig, ["--no-cursor", "--app-audio"])
    var sizes: [[UInt8]] = []
    var control = try connect(rig)
    var last = Timestamp.zero
    for number in 2...4 {
      try wait(&control, forFrameAt: last + 600_000_000)
      last = try #require(try control.ask(ControlRequest(.split), waiting: true).time)
      // The file before is finished when its sound has come.
      try waitUntil("the file to be closed") {
        try rig.manifest(recording.id).segments.dropLast().allSatisfy { $0.bytes != nil }
      }
      let segments = try rig.manifest(recording.id).segments
      #expect(segments.map(\.file) == (1...number).map { "media/00000\($0).mkv" })
      sizes.append(try readFile("\(rig.session(recording.id))/media/00000\(number - 1).mkv"))
    }
    try wait(&control, forFrameAt: last + 600_000_000)
    try recording.stop()
    _ = tone.isRunning
    try client.process.stop()
    let manifest = try rig.manifest(recording.id)
    let files = manifest.segments.map { "\(rig.session(recording.id))/\($0.file)" }
    // A closed file is never written again.
    for (file, bytes) in zip(files, sizes) { #expect(try readFile(file) == bytes) }
    #expect(try manifest.segments.map(\.bytes) == files.map { Int64(try readFile($0).count) })
    #expect(zip(manifest.segments, manifest.segments.dropFirst()).allSatisfy { $0.end == $1.start })
    #expect(manifest.segments.last?.end == manifest.duration)
    #expect(manifest.statistics?.bytes == manifest.segments.compactMap(\.bytes).reduce(0, +))
    // Each begins with a picture that needs no other, at its own time 0, and the drawn counter runs through.
    var counters: [Int] = []
    for file in files {
      #expect(try pictures(file).first?.isKeyframe == true)
      counters += try MediaFile.counters(file).compactMap { $0 }
    }
    for file in files.dropFirst() { #expect(try pictures(file).first?.time == 0) }
    #expect(counters == counters.sorted())
    // The sound of all files is the sound of the session.
    var packets = 0
    for file in files {
      packets += try run([
        "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "packet=pts", "-of", "csv=p=0", file,
      ]).lines.count
    }
    #expect(abs(Double(packets) * 1024 / 48_000 - manifest.duration.seconds) < 0.06)

    // Frames, replay's sound and export go through all of them.
    let exported = rig.folder.file("whole.mp4")
    let result = try rig.run(["export", "last", "-o", exported])
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let whole = try MediaFile.counters(exported).compactMap { $0 }
    // The last picture stands until the end; the export may show that by one picture or by two.
    #expect(whole == counters || whole + [counters.last] == counters, "\(whole) \(counters)")
    let duration = try #require(Double(try MediaFile.entries(exported)["duration"] ?? ""))
    #expect(abs(duration - manifest.duration.seconds) < 0.05)
    let png = rig.folder.file("frame.png")
    for segment in manifest.segments.dropFirst() {
      try? FileManager.default.removeItem(atPath: png)
      #expect(try rig.run(["frame", "last", "--at", segment.start.description, "-o", png]).ending == .exit(0))
    }
    #expect(try rig.events(recording.id).filter { $0.kind == .split }.map(\.text) == ["2", "3", "4"])
    try expectUnbrokenSound(rig, manifest)
  }

  /// What replay plays over the joints of files is, sample by sample, what one decoder makes of all packets in one file;
  /// from a moment just after a joint too.
  private func expectUnbrokenSound(_ rig: RecorderRig, _ manifest: Manifest) throws {
    let joined = rig.folder.file("joined.mkv")
    #expect(try rig.run(["export", "last", "-o", joined]).ending == .exit(0))
    let decoded = try run(["ffmpeg", "-v", "error", "-i", joined, "-vn", "-f", "f32le", "-ac", "2", "-"])
    let expected = decoded.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    let timeline = try Timeline(ArchiveReader(ArchiveLocation(path: rig.archive)).session(manifest.id))
    func played(from start: Timestamp, _ frames: Int) throws -> [Float] {
      var cursor = SoundCursor(timeline)
      try cursor.seek(to: start)
      var samples = [Float](repeating: 0, count: frames * 2)
      let count = try samples.withUnsafeMutableBufferPointer { buffer throws(RecorderError) in
        try cursor.read(into: buffer)
      }
      #expect(count == frames)
      return samples
    }
    /// The largest difference to what is expected `frame` frames on, the file's rounded times left out of account.
    func difference(_ samples: [Float], at frame: Int) -> Float {
      func difference(_ shift: Int, _ range: Range<Int>) -> Float {
        range.reduce(Float(0)) { worst, index in
          let place = (frame + shift) * 2 + index
          return expected.indices.contains(place) ? max(worst, abs(expected[place] - samples[index])) : worst
        }
      }
      // A few samples from the end tell how far the times are off, and all are held against what they say.
      let last = (samples.count - 100)..<samples.count
      let shift = (-100...100).min { difference($0, last) < difference($1, last) } ?? 0
      return difference(shift, samples.indices)
    }
    for segment in manifest.segments.dropFirst() {
      let joint = Int(segment.start.nanoseconds * 48 / 1_000_000)
      let before = try played(from: segment.start + -100_000_000, 9600)
      #expect(difference(before, at: joint - 4800) < 0.001)
      let after = try played(from: segment.start + 1_000_000, 4800)
      #expect(difference(after, at: joint + 48) < 0.001)
    }
  }

  @Test func aKillAfterASplitKeepsBothFiles() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let recording = try StartedRecording(rig, ["--no-cursor"])
    try recording.tell(["split"])
    try waitUntil("a second of the second file") {
      let times = try pictures("\(rig.session(recording.id))/media/000002.mkv")
      return (times.last?.time ?? 0) > 1000
    }
    kill(recording.pid, SIGKILL)
    try waitUntil("its end") { !recording.isRunning }
    try client.process.stop()
    #expect(try rig.run(["list"]).text.contains("interrupted"))
    let manifest = try rig.manifest(recording.id)
    #expect(manifest.segments.count == 2)
    #expect(manifest.segments[0].end == manifest.segments[1].start)
    #expect(manifest.segments[1].end == manifest.duration)
    let start = manifest.segments[1].start
    #expect(manifest.duration - start >= 1_000_000_000)
    let exported = rig.folder.file("whole.mp4")
    #expect(try rig.run(["export", "last", "-o", exported]).ending == .exit(0))
    let counters = try MediaFile.counters(exported).compactMap { $0 }
    #expect(counters == counters.sorted())
    #expect(counters.count > 15)
  }
}
