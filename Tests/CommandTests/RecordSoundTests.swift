import Control
import Glibc
import SessionModel
import TestSupport
import Testing
import Threading

/// What `record` keeps of sound, beside the picture and read back by another program.
@Suite(.serialized) struct RecordSoundTests {
  /// A rig with a display and the environment of `server`.
  private func rig(_ server: SoundServer) throws -> RecorderRig {
    try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
  }

  @Test func bothTonesStartWithTheFlashAndHaveTheirLevels() throws {
    let server = try SoundServer()
    let rig = try rig(server)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let players = try (desktop: TimedPlayer(server), feed: TimedPlayer(server, sink: "feed"))
    let recording = try rig.record(["--app-audio", "--microphone", "--no-cursor"])
    let start = MonotonicClock.now() + 1_000_000_000
    // Three times one after the other, each with a flash, so that a busy machine may spoil one; then both together.
    let tones = (0..<6).map { (time: start + Int64($0) * 700_000_000, isDesktop: $0 % 2 == 0) }
    let wishes = tones.map { tone in
      let player = tone.isDesktop ? players.desktop : players.feed
      return (player, player.play(tone.isDesktop ? 1000 : 440, amplitude: 0.25, seconds: 0.2, at: tone.time))
    }
    let together = start + 5_000_000_000
    let last = [(players.desktop, 1000.0), (players.feed, 440.0)].map { player, frequency in
      (player, player.play(frequency, amplitude: 0.25, seconds: 1, at: together))
    }
    var flashes: [Int64] = []
    for tone in tones {
      try waitUntil("the tone") { MonotonicClock.now() >= tone.time }
      flashes.append(try client.tell("flash"))
    }
    let heard = try wishes.map { player, tone in try player.heard(tone) }
    let both = try last.map { player, tone in try player.heard(tone) }.max() ?? together
    try waitUntil("the end") { MonotonicClock.now() >= both + 1_500_000_000 }
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    #expect(result.status == 0, "\(result.errorText)")

    let file = rig.media(recording.id)
    let pixels = try MediaFile.pictures(file, PixelRect(x: 100, y: 100, width: 1, height: 1))
    let isWhite = pixels.map { $0[0] > 128 }
    let times = try MediaFile.times(file)
    let shown = isWhite.indices.filter { isWhite[$0] && ($0 == 0 || !isWhite[$0 - 1]) }.map { times[$0] }
    try #require(shown.count == tones.count)
    let sound = try MediaFile.sound(file)
    let epoch = try rig.manifest(recording.id).clock.monotonic
    for isDesktop in [true, false] {
      let skews = tones.indices.filter { tones[$0].isDesktop == isDesktop }.map { index in
        let expected = Double(heard[index] - epoch) / 1e9
        let first = Int((expected - 0.25) * 48_000)
        guard let begin = onset(in: Array(sound[first..<first + 24_000]), above: 0.05) else { return Double.infinity }
        // In the file sound and picture are as far apart as they were made.
        let made = Double(heard[index] - flashes[index]) / 1e6
        return abs(Double(first + begin) / 48 - Double(shown[index]) - made)
      }.sorted()
      #expect(skews[1] <= 40, "\(isDesktop ? "desktop" : "microphone"): ms off: \(skews)")
    }
    let place = Int((Double(both - epoch) / 1e9 + 0.2) * 48_000)
    let part = Array(sound[place..<place + 28_800])
    #expect(abs(decibels(usualAmplitude(of: 1000, in: part), over: 0.25)) < 1)
    #expect(abs(decibels(usualAmplitude(of: 440, in: part), over: 0.25)) < 1)
    let manifest = try rig.manifest(recording.id)
    #expect(
      manifest.tracks.map(\.inputs) == [nil, ["application", "microphone"], ["application"], ["microphone"]])
    let stems = try (MediaFile.sound(file, track: 1), MediaFile.sound(file, track: 2))
    #expect(abs(stems.0.count - sound.count) <= 1 && abs(stems.1.count - sound.count) <= 1)
    #expect(usualAmplitude(of: 440, in: Array(stems.0[place..<place + 28_800])) < 0.000_25)
    #expect(usualAmplitude(of: 1000, in: Array(stems.1[place..<place + 28_800])) < 0.000_25)
    let shownText = try rig.run(["show", recording.id.description]).text
    for name in ["mix", "application", "microphone"] { #expect(shownText.contains("Sound, \(name):"), "\(shownText)") }
  }

  /// Case A07: neither a sound server nor a sound card.
  @Test func withoutASoundServerThePictureIsRecordedAndAWarningSaysSo() throws {
    let folder = try TemporaryFolder()
    // ALSA has no device without its configuration, whatever this machine has.
    try writeFile(folder.file("alsa.conf"), [])
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "320x240"),
      environment: ["PULSE_SERVER": "unix:\(folder.file("none"))", "ALSA_CONFIG_PATH": folder.file("alsa.conf")])
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "ff8000"])
    let result = try rig.run(["record", "--app-audio", "--microphone", "--no-cursor", "--duration", "1.5"])
    try client.process.stop()
    #expect(result.status == 0)
    let id = try #require(SessionID(result.text.dropLast()))
    let lines = result.errorText.split(separator: "\n")
    for input in ["application sound", "microphone"] {
      #expect(
        lines.contains { $0.contains("No sound server answers") && $0.contains("The \(input) is silent until") },
        "\(result.errorText)")
    }
    let colour = try MediaFile.pictures(rig.media(id), PixelRect(x: 100, y: 100, width: 1, height: 1))[0]
    for (value, wanted) in zip(colour, [0, 0x80, 0xFF]) { #expect(abs(Int(value) - wanted) <= 4) }
    let sound = try MediaFile.sound(rig.media(id))
    #expect(sound.allSatisfy { $0.magnitude < 0.000_1 })
    #expect(abs(sound.count - 72_000) < 1024)
    let gaps = try rig.events(id).compactMap(\.gap)
    #expect(Set(gaps.map(\.track)) == ["application", "microphone"])
    #expect(gaps.allSatisfy { $0.start == .zero && abs($0.end.seconds - 1.5) < 0.02 })
  }

  /// The codec and the stems are those that were asked for, in the file as in the manifest.
  @Test(arguments: [
    ("aac", "aac", "all"), ("opus", "opus", "none"), ("flac", "flac", "all"), ("pcm", "pcm_s16le", "none"),
  ])
  func codecAndStemsAreThoseAskedFor(codec: String, name: String, stems: String) throws {
    let folder = try TemporaryFolder()
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "320x240"), environment: ["PULSE_SERVER": "unix:\(folder.file("none"))"])
    let id = try rig.record(
      seconds: 0.5, ["--app-audio", "--microphone=pulse:x", "--audio-codec", codec, "--stems", stems])
    let found = try run([
      "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name,sample_rate,channels",
      "-of",
      "csv=p=0", rig.media(id),
    ])
    let inputs = [["application", "microphone"]] + (stems == "all" ? [["application"], ["microphone"]] : [])
    #expect(found.lines == inputs.map { _ in "\(name),48000,2" })
    #expect(try rig.manifest(id).tracks.dropFirst().map(\.inputs) == inputs)
    for track in inputs.indices {
      #expect(abs(try MediaFile.soundFrames(rig.media(id), track: track) - 24_000) <= (codec == "aac" ? 1024 : 960))
    }
  }

  /// What a child of the window's program plays belongs to it.
  @Test func aWindowIsRecordedWithTheSoundOfItsProgramAlone() throws {
    let server = try SoundServer()
    let rig = try rig(server)
    let other = try server.playTone(2000, amplitude: 0.5, seconds: 30, as: "Other")
    let display = try #require(rig.display).name
    let player = try server.play(
      SoundServer.tone(1000, amplitude: 0.25, seconds: 30),
      through: [
        "sh", "-c", "\"$@\" & exec \"$0\" color --display \(display) --title Player", builtProgram("test-pattern"),
      ])
    try waitUntil("both to play") {
      try server.control("list", "short", "sink-inputs").split(separator: "\n").count == 2
    }
    let id = try rig.record(seconds: 2, ["window:title=Player", "--wait", "--no-cursor", "--app-audio=window"])
    player.signal(SIGKILL, group: true)
    let part = Array(try MediaFile.sound(rig.media(id))[24_000..<86_400])
    #expect(abs(decibels(usualAmplitude(of: 1000, in: part), over: 0.25)) < 0.5)
    #expect(decibels(usualAmplitude(of: 2000, in: part), over: 0.5) < -60)
    _ = other
  }

  @Test func aGainIsChangedWhileItRecords() throws {
    let server = try SoundServer()
    let rig = try rig(server)
    let player = try server.playTone(440, amplitude: 0.125, seconds: 30, on: "feed")
    let recording = try StartedRecording(rig, ["--microphone", "--gain", "mic=-6dB", "--audio-codec", "pcm"])
    func gain() throws -> Double? { try recording.status().stages.first { $0.name == "microphone" }?.gain }
    #expect(try gain() == -6)
    try waitUntil("the tone") { (try recording.status().stages.first { $0.name == "microphone" }?.level ?? 0) > 0.1 }
    var control = try rig.connect()
    func goOn(for time: Int64) throws {
      try control.wait(until: Timestamp(nanoseconds: (try recording.status().elapsed ?? 0) + time))
    }
    try goOn(for: 300_000_000)
    try recording.tell(["gain", "mic=+6dB"])
    #expect(try gain() == 6)
    let status = try rig.run(["status", "--json"])
    #expect(try JSONSchema.problems("status", status.lines) == [""])
    #expect(try rig.run(["status"]).text.contains("microphone ok gain +6.0 dB"))
    // What is not recorded, not a gain, or none that an input can have, changes nothing.
    for (arguments, code, words) in [
      (["app=-6dB"], ExitCode.unavailable, "The application sound is not recorded."),
      (["mic=0", "app=0"], .unavailable, "The application sound is not recorded."),
      (["mic=40dB"], .usage, "\"mic=40dB\" is no gain."), ([], .usage, "INPUT=dB"),
    ] {
      let result = try rig.run(["gain"] + arguments)
      #expect(result.ending == .exit(code.rawValue))
      #expect(result.errorText.contains(words), "\(result.errorText)")
    }
    #expect(try gain() == 6)
    try goOn(for: 700_000_000)
    try recording.stop()
    let events = try rig.events(recording.id).filter { $0.kind == .gain }
    #expect(events.map(\.text) == ["microphone 6.0 dB"])
    let lines = String(decoding: try readFile("\(rig.session(recording.id))/events.ndjson"), as: UTF8.self)
    let gainLines = lines.split(separator: "\n").filter { $0.contains("\"gain\"") }.map(String.init)
    #expect(try JSONSchema.problems("event", gainLines) == [""])
    let sound = try MediaFile.sound(rig.media(recording.id))
    let place = Int(try #require(events.first).time.seconds * 48_000)
    let (before, after) = (Array(sound[place - 9600..<place - 480]), Array(sound[place + 960..<place + 19_200]))
    #expect(abs(decibels(usualAmplitude(of: 440, in: before), over: 0.125) + 6) < 0.3)
    #expect(abs(decibels(usualAmplitude(of: 440, in: after), over: 0.125) - 6) < 0.3)
    _ = player
  }

  @Test func anALSADeviceCanBeNamedForTheApplicationsSound() throws {
    let server = try SoundServer()
    let rig = try rig(server)
    let recording = try rig.record(["--app-audio=alsa:\(server.alsaPCM(source: "desktop.monitor"))"])
    let player = try server.playTone(1000, amplitude: 0.25, seconds: 4)
    try waitUntil("the tone to be over") { !player.isRunning }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    let sound = try MediaFile.sound(rig.media(recording.id))
    let start = try #require(onset(in: sound, above: 0.05)) + 24_000
    let part = Array(sound[start..<start + 48_000])
    #expect(abs(decibels(usualAmplitude(of: 1000, in: part), over: 0.25)) < 1)
    #expect(abs(pitch(of: part) - 1000) <= 3.1)
  }
}
