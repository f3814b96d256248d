import Glibc
import Recorder
import SessionModel
import TestSupport
import Testing
import Threading

@Suite struct AudioPipelineTests {
  @Test func noSoundIsAskedFor() throws {
    #expect(try AudioPipeline(AudioOptions()) == nil)
  }

  @Test func bothTonesAreInTheMixAtTheirLevels() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    options.microphone = .alsa(pcm: server.alsaPCM(source: "microphone"))
    let recording = try AudioRecording(options, server: server)
    #expect(recording.pipeline.inputs == ["application", "microphone"])
    let players = try [
      server.playTone(1000, amplitude: 0.25, seconds: 6),
      server.playTone(440, amplitude: 0.25, seconds: 6, on: "feed"),
    ]
    try waitUntil("both inputs to be loud") { recording.pipeline.levels.allSatisfy { $0 > 0.2 } }
    let both = recording.now.seconds
    try recording.wait(until: both + 2)
    let end = recording.now
    let track = try recording.finish(at: end)
    for channel in [track.left, track.right] {
      let part = channel.seconds(both + 0.5, both + 1.5)
      #expect(abs(decibels(usualAmplitude(of: 1000, in: part), over: 0.25)) < 1)
      #expect(abs(decibels(usualAmplitude(of: 440, in: part), over: 0.25)) < 1)
      #expect(usualAmplitude(of: 700, in: part) < 0.001)
    }
    #expect(recording.warnings.isEmpty)
    #expect(recording.told.filter { $0.kind == .device }.count == 2)
    _ = players
  }

  @Test func theTrackCoversExactlyTheSession() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    let recording = try AudioRecording(options, server: server)
    try recording.wait(until: 1)
    let end = recording.now
    let track = try recording.finish(at: end)
    // AAC's packets carry 1024 frames, the first one before the epoch: the encoder's delay.
    #expect(track.start == .zero)
    #expect(track.packetTimes.first.map { Int(($0.seconds * 48_000).rounded()) } == -1024)
    let frames = track.samples.count / 2
    let wanted = Int((end.seconds * 48_000).rounded())
    #expect((wanted..<(wanted + 1024)).contains(frames))
    for (earlier, later) in zip(track.packetTimes, track.packetTimes.dropFirst()) {
      #expect(abs((later - earlier) - 21_333_333) <= 1)
    }
  }

  @Test func withoutAServerTheRecordingIsSilentAndSaysSo() throws {
    let folder = try TemporaryFolder()
    var options = AudioOptions()
    options.application = .standard
    let recording = try AudioRecording(options, address: "unix:\(folder.file("none"))")
    try recording.wait(until: 1.2)
    let end = recording.now
    let track = try recording.finish(at: end)
    #expect(
      recording.warnings == [
        "No sound server answers (Connection refused). The application sound is silent until it is there."
      ])
    #expect(track.samples.count / 2 >= Int((end.seconds * 48_000).rounded()))
    #expect(track.samples.allSatisfy { $0.magnitude < 0.000_1 })
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1)
    #expect(gap.track == "application")
    #expect(gap.start == .zero)
    #expect(abs(gap.end - end) < 20_833)
    #expect(gap.reason == "the device was not there")
  }

  @Test(arguments: SoundServer.Kind.allCases)
  func aServerThatDiesLeavesSilenceOfTheRightLengthAndComesBack(on kind: SoundServer.Kind) throws {
    let folder = try TemporaryFolder()
    var server = try SoundServer(kind, folder: folder)
    var options = AudioOptions()
    options.application = .standard
    let recording = try AudioRecording(options, server: server)
    var player = try server.playTone(1000, seconds: 30)
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    try recording.wait(until: recording.now.seconds + 1)
    let before = recording.now.seconds
    try server.kill()
    let killed = recording.now.seconds
    try waitUntil("the warning") { !recording.warnings.isEmpty }
    let busy = ProcessorWait(of: [getpid()])
    server = try SoundServer(kind, folder: folder)
    let answered = recording.now.seconds
    player = try server.playTone(1000, seconds: 30)
    _ = recording.pipeline.levels
    try waitUntil("the tone again") { recording.pipeline.levels[0] > 0.2 }
    let (returned, waited) = (recording.now.seconds, busy.seconds)
    try recording.wait(until: returned + 1)
    let end = recording.now
    let track = try recording.finish(at: end)
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1)
    // The last that a server has taken it may not have given yet.
    #expect((before - 0.15...killed + 0.02).contains(gap.start.seconds))
    #expect(gap.end.seconds <= returned && gap.end.seconds <= answered + 0.2 + waited)
    #expect(gap.reason == "the sound server was not there")
    #expect(track.left.seconds(gap.start.seconds + 0.05, gap.end.seconds - 0.05).allSatisfy { $0.magnitude < 0.001 })
    #expect(usualAmplitude(of: 1000, in: track.left.seconds(returned + 0.3, returned + 0.8)) > 0.2)
    #expect(track.samples.count / 2 - Int((end.seconds * 48_000).rounded()) < 1024)
    // On a busy machine PipeWire's session manager may choose another default first.
    let told = recording.told.filter { $0.kind == .device }.compactMap(\.text)
    #expect(told.count { $0.contains("is there again") } == 1, "\(told)")
    _ = player
  }

  /// ALSA's plugin tells of a server that ends by errors of its own, EPIPE and then EIO (DESIGN section 6b).
  @Test func aServerThatDiesIsNoticedThroughALSA() throws {
    let folder = try TemporaryFolder()
    var server = try SoundServer(folder: folder)
    var options = AudioOptions()
    (options.microphone, options.codec) = (.alsa(pcm: server.alsaPCM(source: "microphone")), .pcm)
    let recording = try AudioRecording(options, server: server)
    var player = try server.playTone(440, seconds: 30, on: "feed")
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    try recording.wait(until: recording.now.seconds + 0.5)
    let before = recording.now.seconds
    try server.kill()
    let killed = recording.now.seconds
    try waitUntil("the warning") { !recording.warnings.isEmpty }
    try recording.wait(until: killed + 0.7)
    let busy = ProcessorWait(of: [getpid()])
    server = try SoundServer(folder: folder)
    let answered = recording.now.seconds
    player = try server.playTone(440, seconds: 30, on: "feed")
    _ = recording.pipeline.levels
    try waitUntil("the tone again") { recording.pipeline.levels[0] > 0.2 }
    let (returned, waited) = (recording.now.seconds, busy.seconds)
    try recording.wait(until: returned + 0.8)
    let end = recording.now
    let track = try recording.finish(at: end)
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1 && recording.warnings.count == 1, "\(recording.gaps)")
    #expect((before - 0.15...killed + 0.02).contains(gap.start.seconds))
    #expect(gap.end.seconds <= answered + 0.2 + waited, "\(gap): there at \(answered)")
    let sound = track.left
    #expect(sound.seconds(gap.start.seconds + 0.01, gap.end.seconds - 0.01).allSatisfy { $0 == 0 })
    #expect(usualAmplitude(of: 440, in: sound.seconds(returned + 0.2, returned + 0.7)) > 0.2)
    #expect(abs(sound.count - Int((end.seconds * 48_000).rounded())) <= 1)
    _ = player
  }

  /// Cases A08, and A14: a mono microphone is in the centre.
  @Test(arguments: [8000, 16_000, 44_100, 96_000])
  func aToneKeepsItsPitchAtAnyRate(rate: Int) throws {
    let server = try SoundServer(microphoneRate: rate)
    var options = AudioOptions()
    options.microphone = .pulse(source: "microphone")
    let recording = try AudioRecording(options, server: server)
    let player = try server.playTone(1000, amplitude: 0.5, seconds: 6, on: "feed")
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.4 }
    let start = recording.now.seconds
    try recording.wait(until: start + 2.2)
    let track = try recording.finish(at: recording.now)
    let part = track.left.seconds(start + 0.5, start + 1.5)
    // Drift correction may bend it by 0.3 %; a wrong rate would by 8.8 % at least.
    #expect(abs(pitch(of: part) - 1000) <= 3.1)
    // Mono: in the centre, at its full level.
    #expect(abs(decibels(usualAmplitude(of: 1000, in: part), over: 0.5)) < 0.3)
    #expect(abs(decibels(usualAmplitude(of: 1000, in: track.right.seconds(start + 0.5, start + 1.5)), over: 0.5)) < 0.3)
    _ = player
  }

  @Test func tonesLieWhereTheyWereHeard() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    options.microphone = .alsa(pcm: server.alsaPCM(source: "microphone"))
    let players = try (desktop: TimedPlayer(server), feed: TimedPlayer(server, sink: "feed"))
    let recording = try AudioRecording(options, server: server)
    let tones = (1...3).flatMap { beat in
      [
        (players.desktop, players.desktop.play(1000, at: recording.time(Double(beat)))),
        (players.feed, players.feed.play(2000, at: recording.time(Double(beat) + 0.5))),
      ]
    }
    let times = try tones.map { player, tone in recording.seconds(try player.heard(tone)) }
    let track = try recording.finish(at: recording.now)
    #expect(recording.gaps.isEmpty)
    for time in times {
      let start = try #require(onset(in: track.left.seconds(time - 0.25, time + 0.25), above: 0.1))
      #expect(abs(Double(start) / 48_000 - 0.25) < 0.02)
    }
  }

  /// Case A10.
  @Test func aDeviceThatSleepsLeavesExactSilenceAndShiftsNothing() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    let recording = try AudioRecording(options, server: server)
    let before = try server.playTone(1000, seconds: 30)
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    try recording.wait(until: recording.now.seconds + 0.7)
    let suspended = recording.now.seconds
    try server.control("suspend-sink", "desktop", "1")
    try waitUntil("the warning") { !recording.warnings.isEmpty }
    before.signal(SIGKILL)
    let busy = ProcessorWait(of: [getpid()])
    try server.control("suspend-sink", "desktop", "0")
    let woken = recording.now.seconds
    try waitUntil("sound to be back") { recording.told.filter { $0.kind == .device }.count == 2 }
    let bound = woken + 0.2 + busy.seconds
    let player = try TimedPlayer(server)
    let time = recording.seconds(try player.heard(player.play(1000, at: recording.time(recording.now.seconds + 1))))
    let track = try recording.finish(at: recording.now)
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1)
    #expect(abs(gap.start.seconds - suspended) < 0.3)
    #expect(gap.end - gap.start > 450_000_000)
    #expect(gap.end.seconds <= bound, "\(gap): woken at \(woken)")
    #expect(gap.reason == "the device was asleep")
    #expect(track.left.seconds(gap.start.seconds + 0.05, gap.end.seconds - 0.05).allSatisfy { $0.magnitude < 0.001 })
    let start = try #require(onset(in: track.left.seconds(time - 0.25, time + 0.25), above: 0.1))
    #expect(abs(Double(start) / 48_000 - 0.25) < 0.02)
    // Told once, however often the sleeping device was opened in vain.
    #expect(recording.warnings.count == 1)
  }
}
