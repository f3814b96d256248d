import Control
import FoundationEssentials
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// `--hold`, `save` and `publish` with the built program: what is saved is a whole session, and the capture goes on.
@Suite(.serialized) struct HoldTests {
  /// A drawn counter.
  private func rig(_ server: SoundServer? = nil) throws -> (RecorderRig, PatternClient) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server?.environment ?? [:])
    return (rig, try PatternClient(on: try #require(rig.display), ["counter", "--fps", "0", "--title", "counting"]))
  }

  /// Checks that a session is whole: it begins with a keyframe at 0, each picture is decoded, and the counter in them
  /// goes up by one.
  private func expectWhole(_ rig: RecorderRig, _ id: SessionID) throws {
    let manifest = try rig.manifest(id)
    #expect(manifest.state == .finished && manifest.segments.count == 1)
    let times = try MediaFile.times(rig.media(id))
    let counters = try MediaFile.counters(rig.media(id))
    #expect(times.first == 0 && times == times.sorted())
    #expect(counters.count == times.count && !counters.contains(nil), "\(counters)")
    let seen = counters.compactMap(\.self)
    // A picture that stood for long is there again, whole, so that no cut is further away than two seconds.
    let changes = zip(seen, seen.dropFirst()).map { $1 - $0 }
    #expect(changes.allSatisfy { $0 == 1 || $0 == 0 }, "\(seen)")
    let end = Double(try #require(times.last)) / 1000
    #expect(abs(end - manifest.duration.seconds) < 0.002)
    #expect(manifest.statistics?.frames == times.count)
    #expect(manifest.statistics?.bytes == Int64(try readFile(rig.media(id)).count))
    let verified = try rig.run(["verify", id.description, "--deep"])
    #expect(verified.ending == .exit(0), "\(verified.text)\(verified.errorText)")
    #expect(manifest.chain?.sealedBy == "recorder" && manifest.check?.findings == [])
    let json = String(decoding: try readFile("\(rig.session(id))/manifest.json"), as: UTF8.self)
    #expect(try JSONSchema.problems("manifest", [json.replacing("\n", with: " ")]) == [""])
    let events = String(decoding: try readFile("\(rig.session(id))/events.ndjson"), as: UTF8.self)
    #expect(try JSONSchema.problems("event", events.split(separator: "\n").map(String.init)).allSatisfy { $0 == "" })
  }

  @Test func aSavedStretchIsAWholeSessionAndTheCaptureGoesOn() throws {
    let server = try SoundServer()
    let (rig, client) = try rig(server)
    let tone = try server.playTone(1000, seconds: 60)
    let capture = try HeldCapture(rig, ["--app-audio", "--microphone", "--no-cursor", "--tag", "held"])
    let counter = try SteadyCounter(client, of: capture)
    try capture.waitUntilHeld(seconds: 6)
    let line = try rig.run(["status", "--json"]).lines
    #expect(try JSONSchema.problems("status", line) == [""])
    let before = try capture.status()
    #expect(before.state == .holding && before.session == nil && before.bytes == nil)
    let hold = try #require(before.hold)
    #expect(hold.wanted == 6_000_000_000 && hold.span < 9_000_000_000 && !hold.isShort)
    #expect(hold.bytes > 10_000 && hold.bytes <= hold.memory)
    // Nothing is on disk, not even a folder.
    #expect(access(rig.archive, F_OK) != 0)
    let asked = MonotonicClock.now()
    let id = try capture.keep("save", ["--last", "4s", "--title", "login fails", "--tag", "bug"])
    let now = MonotonicClock.now()

    let manifest = try rig.manifest(id)
    #expect(manifest.end?.reason == .saved)
    // It reaches up to when it was asked for, and begins with the last keyframe that is early enough.
    let begin = manifest.clock.monotonic
    let end = begin + manifest.duration.nanoseconds
    #expect(end >= asked && end < now && begin <= now - 4_000_000_000, "\(asked) \(now) \(begin) \(end)")
    let keyframes = try run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-skip_frame", "nokey", "-show_entries", "frame=pts_time",
      "-of", "csv=p=0", rig.media(id),
    ]).lines.compactMap { Double($0.filter { $0.isNumber || $0 == "." }) }
    #expect(keyframes.count >= 2 && begin + Int64(keyframes[1] * 1e9) > asked - 4_000_000_000, "\(keyframes)")
    try expectWhole(rig, id)
    // Each track has sound from the beginning to the end.
    #expect(manifest.tracks.map(\.inputs) == [nil, ["application", "microphone"], ["application"], ["microphone"]])
    for track in 0..<3 {
      let sound = try MediaFile.sound(rig.media(id), track: track)
      #expect(abs(Double(sound.count) / 48_000 - manifest.duration.seconds) < 0.05, "track \(track)")
      let pieces = stride(from: 4800, to: sound.count - 9600, by: 2400).map { first in
        sound[first..<first + 2400].map(\.magnitude).max()
      }
      #expect(track == 2 || pieces.allSatisfy { $0 ?? 0 > 0.1 }, "track \(track)")
    }
    _ = tone.isRunning
    // The window that was active before the cut is found at its beginning.
    let events = try rig.events(id)
    #expect(events.prefix(3).map(\.kind) == [.start, .opened, .focus])
    #expect(events.prefix(3).allSatisfy { $0.time == .zero })
    #expect(events.filter { $0.kind == .alive }.count >= 3)
    #expect(events.last?.kind == .stop && events.last?.text == "saved")
    let hits = try rig.run(["search", "counting"])
    #expect(hits.text.contains(id.description), "\(hits.text)")
    let shown = try rig.run(["show", id.description]).text
    #expect(shown.contains("login fails") && shown.contains("bug") && shown.contains("held"), "\(shown)")

    // More than is held: all of it, with a sentence. The capture has gone on.
    let all = try rig.run(["save", "--last", "1h"])
    let allID = try #require(SessionID(all.text.dropLast()))
    #expect(all.errorText.contains("of the 60:00.000 that were asked for no more was held"), "\(all.errorText)")
    try expectWhole(rig, allID)
    #expect(try rig.manifest(allID).duration.seconds >= 6)
    #expect(try capture.status().state == .holding)
    try counter.stop()
    let given = try rig.run(["stop"])
    #expect(given.ending == .exit(0) && given.text == "")
    #expect(given.errorText.contains("of picture and sound were held and are not kept."), "\(given.errorText)")
    try waitUntil("its end") { !capture.isRunning }
    #expect(try rig.run(["list", "--json"]).lines.count == 2)
    try client.process.stop()
  }

  /// What a kept stretch tells of its sound is of that stretch alone, whether it was saved or published.
  @Test func whatWasHeardIsThatOfTheStretch() throws {
    let server = try SoundServer()
    let (rig, client) = try rig(server)
    let capture = try HeldCapture(rig, span: "20s", ["--app-audio", "--microphone", "--no-cursor"])
    try capture.waitUntilHeld(seconds: 0.5)
    _ = try server.playTone(1000, amplitude: 0.5, seconds: 1).wait()
    let tone = try server.playTone(1000, seconds: 60)
    let begun = try #require(try capture.status().elapsed)
    try waitUntil("three seconds of it") { try capture.status().elapsed ?? 0 > begun + 3_500_000_000 }
    func heard(_ id: SessionID) throws -> [Manifest.Sound] { try rig.manifest(id).statistics?.sound ?? [] }
    func expect(_ sound: [Manifest.Sound], peak: Double) {
      #expect(sound.map(\.name) == ["mix", "application", "microphone"])
      for name in ["mix", "application"] {
        let own = sound.first { $0.name == name }
        #expect(abs((own?.peak ?? 0) - peak) < 0.5, "\(sound)")
      }
      let microphone = sound.last
      #expect(microphone?.silentShare == 1 && microphone?.peak == nil && microphone?.loudness == nil)
    }
    // -6 dB before, -12 dB now.
    expect(try heard(capture.keep("save")), peak: -6.02)
    let saved = try heard(capture.keep("save", ["--last", "2s"]))
    expect(saved, peak: -12.04)
    let published = try capture.keep("publish", ["--last", "2s"])
    _ = tone.isRunning
    try capture.tell(["stop"])
    expect(try heard(published), peak: -12.04)
    for sound in [saved, try heard(published)] {
      // A stereo sine of 1 kHz is as loud as its peak.
      #expect(abs((sound[1].loudness ?? 0) + 12.04) < 0.5 && sound[1].silentShare < 0.05, "\(sound)")
    }
    #expect(try rig.run(["show", published.description]).text.contains("LUFS"))
    try client.process.stop()
  }

  @Test func tenOverlappingSavesAreAllWholeAndCostNoFrame() throws {
    let (rig, client) = try rig()
    let capture = try HeldCapture(rig, span: "5s", ["--no-cursor"])
    let counter = try SteadyCounter(client, of: capture)
    try capture.waitUntilHeld(seconds: 5)
    let found = Mutex<[SessionID]>([])
    let threads = try (0..<10).map { number in
      try WorkerThread(name: "save \(number)") {
        guard let id = try? capture.keep("save", ["--last", "\(2 + number % 3)s"]) else { return }
        found.withLock { $0.append(id) }
      }
    }
    for thread in threads { thread.join() }
    let ids = found.withLock { $0 }
    #expect(Set(ids).count == 10)
    for id in ids { try expectWhole(rig, id) }
    // What was captured while they were written is whole, too.
    let last = try capture.keep("save")
    try expectWhole(rig, last)
    try counter.stop()
    try capture.tell(["stop"])
    try client.process.stop()
  }

  @Test func pictureAndSoundOfASavedStretchAreInStep() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let player = try TimedPlayer(server)
    let capture = try HeldCapture(rig, span: "8s", ["--app-audio", "--no-cursor"])
    // Several, so that a busy machine may spoil some; the first second is given up by the cut.
    let start = MonotonicClock.now() + 2_000_000_000
    let tones = (0..<5).map { start + Int64($0) * 700_000_000 }
    for time in tones { player.play(1000, amplitude: 0.25, seconds: 0.2, at: time) }
    var flashes: [Int64] = []
    for time in tones {
      try waitUntil("the tone") { MonotonicClock.now() >= time }
      flashes.append(try client.tell("flash"))
    }
    try waitUntil("the end") { MonotonicClock.now() >= (tones.last ?? 0) + 500_000_000 }
    let id = try capture.keep("save", ["--last", "4s"])
    try capture.tell(["stop"])

    let file = rig.media(id)
    let pixels = try MediaFile.pictures(file, PixelRect(x: 100, y: 100, width: 1, height: 1))
    let isWhite = pixels.map { $0[0] > 128 }
    let times = try MediaFile.times(file)
    let shown = isWhite.indices.filter { isWhite[$0] && ($0 == 0 || !isWhite[$0 - 1]) }.map { times[$0] }
    try #require(shown.count == tones.count)
    let sound = try MediaFile.sound(file)
    let epoch = try rig.manifest(id).clock.monotonic
    let skews = tones.indices.map { index in
      let expected = Double(tones[index] - epoch) / 1e9
      let first = max(0, Int((expected - 0.25) * 48_000))
      guard let begin = onset(in: Array(sound[first..<first + 24_000]), above: 0.05) else { return Double.infinity }
      let made = Double(tones[index] - flashes[index]) / 1e6
      return abs(Double(first + begin) / 48 - Double(shown[index]) - made)
    }.sorted()
    #expect(skews[2] <= 20, "ms off: \(skews)")
    // Both are where the session's clock says.
    let late = tones.indices.map { abs(Double(epoch + Int64(shown[$0]) * 1_000_000 - flashes[$0]) / 1e6) }.sorted()
    #expect(late[2] <= 40, "ms late: \(late)")
  }
}
