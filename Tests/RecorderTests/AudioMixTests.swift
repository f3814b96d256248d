import Media
import Recorder
import SessionModel
import TestSupport
import Testing

/// The mix and the tracks that follow it.
@Suite(.serialized) struct AudioMixTests {
  /// What is recorded of a tone on the desktop and one in the microphone, from when both are there.
  private struct Recorded {
    let tracks: [AudioRecording.Track]
    let streams: [StreamDescription]
    let statistics: [Manifest.Sound]
    let warnings: [String]
    let start: Double
    /// The left channel of a track where both tones are steady.
    func part(_ track: Int) -> [Float] { tracks[track].left.seconds(start + 0.5, start + 1.5) }
  }

  private func record(
    _ server: SoundServer, application: (Double, Float), microphone: (Double, Float),
    then action: (AudioRecording) -> Void = { _ in }, _ change: (inout AudioOptions) -> Void
  ) throws -> Recorded {
    var options = AudioOptions()
    options.application = .standard
    options.microphone = .standard
    change(&options)
    let recording = try AudioRecording(options, server: server)
    let players = try [
      server.playTone(application.0, amplitude: application.1, seconds: 10),
      server.playTone(microphone.0, amplitude: microphone.1, seconds: 10, on: "feed"),
    ]
    let wanted = [application.1, microphone.1].map { $0 * 0.8 }
    try waitUntil("both inputs to be loud") { zip(recording.pipeline.levels, wanted).allSatisfy { $0 > $1 } }
    action(recording)
    let start = recording.now.seconds
    try recording.wait(until: start + 2)
    let tracks = try recording.finishAll(at: recording.now)
    _ = players
    return Recorded(
      tracks: tracks, streams: recording.pipeline.streams, statistics: recording.pipeline.statistics,
      warnings: recording.warnings, start: start)
  }

  @Test(arguments: SoundServer.Kind.allCases)
  func stemsFollowTheMixAtTheirLevelsAndAllAreOfOneLength(on kind: SoundServer.Kind) throws {
    let server = try SoundServer(kind)
    let recorded = try record(server, application: (1000, 0.25), microphone: (440, 0.125)) { $0.codec = .pcm }
    #expect(recorded.tracks.count == 3)
    #expect(Set(recorded.tracks.map(\.samples.count)).count == 1)
    // Each frequency's amplitude in mix, application and microphone.
    let levels = [(1000.0, [0.25, 0.25, 0]), (440, [0.125, 0, 0.125])]
    for (frequency, amplitudes) in levels {
      for (track, expected) in amplitudes.enumerated() {
        let measured = usualAmplitude(of: frequency, in: recorded.part(track))
        if expected == 0 {
          #expect(measured < 0.000_25, "\(frequency) Hz in track \(track)")
        } else {
          #expect(abs(decibels(measured, over: expected)) < 0.2, "\(frequency) Hz in track \(track)")
        }
      }
    }
    // The mix is the stems' sum, each sample of it in its place.
    let parts = (0...2).map { recorded.part($0) }
    for frame in stride(from: 0, to: 40_000, by: 97) {
      #expect(abs(parts[0][frame] - parts[1][frame] - parts[2][frame]) < 0.000_1)
    }
    #expect(recorded.statistics.map(\.name) == ["mix", "application", "microphone"])
    let peaks = recorded.statistics.map { $0.peak ?? -200 }
    #expect(abs(peaks[1] - decibels(0.25, over: 1)) < 0.2)
    #expect(abs(peaks[2] - decibels(0.125, over: 1)) < 0.2)
  }

  @Test func withoutStemsAndWithOneInputTheMixIsAlone() throws {
    let recorded = try record(SoundServer(), application: (1000, 0.25), microphone: (440, 0.25)) { $0.stems = .none }
    #expect(recorded.tracks.count == 1)
    // What is no track is measured too.
    #expect(recorded.statistics.map(\.name) == ["mix", "application", "microphone"])
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    let alone = try AudioRecording(options, server: server)
    #expect(alone.pipeline.streams.count == 1)
    _ = try alone.finishAll(at: alone.now)
  }

  @Test func gainsCountBeforeTheSumAndNotInTheStems() throws {
    let recorded = try record(SoundServer(), application: (1000, 0.25), microphone: (440, 0.125)) { options in
      options.codec = .pcm
      options.gains.application = -6
      options.gains.microphone = 3
    }
    for (frequency, track, amplitude, gain) in [(1000.0, 1, 0.25, -6.0), (440, 2, 0.125, 3)] {
      #expect(abs(decibels(usualAmplitude(of: frequency, in: recorded.part(0)), over: amplitude) - gain) < 0.2)
      #expect(abs(decibels(usualAmplitude(of: frequency, in: recorded.part(track)), over: amplitude)) < 0.2)
    }
  }

  @Test func aGainIsChangedFromItsMomentOn() throws {
    var changed = 0
    let recorded = try record(
      SoundServer(), application: (1000, 0.25), microphone: (440, 0.125),
      then: { recording in
        let now = recording.now
        changed = Int((now.seconds * 48_000).rounded())
        recording.pipeline.setGain(-20, of: "application", from: now)
      }
    ) { $0.codec = .pcm }
    #expect(abs(decibels(usualAmplitude(of: 1000, in: recorded.part(0)), over: 0.25) + 20) < 0.2)
    #expect(abs(decibels(usualAmplitude(of: 440, in: recorded.part(0)), over: 0.125)) < 0.2)
    let lefts = recorded.tracks.map(\.left)
    func error(_ frames: Range<Int>, _ factor: Float) -> Float {
      frames.reduce(0) { max($0, abs(lefts[0][$1] - factor * lefts[1][$1] - lefts[2][$1])) }
    }
    // To the sample: one before it and one 10 ms after it have nothing of the other gain.
    #expect(error(changed - 4800..<changed - 1, 1) < 0.000_1)
    #expect(error(changed + 481..<changed + 4800, 0.1) < 0.000_1)
    #expect(error(changed - 4800..<changed + 48, 1) > 0.000_1)
  }

  /// Case A12.
  @Test(arguments: AudioCodec.allCases)
  func twoInputsAtFullScaleDoNotClip(codec: AudioCodec) throws {
    let recorded = try record(SoundServer(), application: (300, 0.98), microphone: (470, 0.98)) { $0.codec = codec }
    let part = recorded.part(0)
    // -0.1 dBFS.
    #expect(part.allSatisfy { $0.magnitude <= 0.988_55 })
    let fundamental = usualAmplitude(of: 300, in: part)
    #expect(fundamental > 0.35 && usualAmplitude(of: 470, in: part) > 0.35)
    // A sum that was cut would have these at -15 to -25 dB: 3a, 3b, 2a+b, 2b+a.
    for product in [900.0, 1410, 1070, 1240] {
      #expect(decibels(usualAmplitude(of: product, in: part), over: fundamental) < -35, "\(product) Hz")
    }
    #expect(!recorded.warnings.contains { $0.contains("clips") })
  }

  /// Case A14: a mono microphone is in the centre.
  @Test func monoAt44100BesideStereoAt48000() throws {
    let server = try SoundServer(microphoneRate: 44_100)
    let recorded = try record(server, application: (1000, 0.25), microphone: (440, 0.25)) { _ in }
    for samples in [recorded.tracks[0].left, recorded.tracks[0].right] {
      let part = samples.seconds(recorded.start + 0.5, recorded.start + 1.5)
      for frequency in [1000.0, 440] {
        #expect(abs(decibels(usualAmplitude(of: frequency, in: part), over: 0.25)) < 0.3)
      }
    }
  }

  /// Case A14: the channel is chosen.
  @Test func aMicrophoneOnOneSideIsHeardOnBothWhenItsChannelIsNamed() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.microphone = .pulse(source: "desktop.monitor")
    options.microphoneChannel = 2
    let recording = try AudioRecording(options, server: server)
    let tone = SoundServer.tone(440, amplitude: 0.25, seconds: 10, channels: 1)
    let player = try server.play(tone.flatMap { [0, $0] })
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    let start = recording.now.seconds
    try recording.wait(until: start + 1)
    let track = try recording.finish(at: recording.now)
    for side in [track.left, track.right] {
      #expect(abs(decibels(usualAmplitude(of: 440, in: side.seconds(start + 0.3, start + 0.9)), over: 0.25)) < 0.3)
    }
    _ = player
  }

  @Test(arguments: [(AudioCodec.aac, "aac"), (.opus, "opus"), (.flac, "flac"), (.pcm, "pcm_s16le")])
  func eachCodecKeepsLevelAndPlace(codec: AudioCodec, name: String) throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    options.codec = codec
    let player = try TimedPlayer(server)
    let recording = try AudioRecording(options, server: server)
    let tone = player.play(1000, amplitude: 0.25, seconds: 0.5, at: recording.time(1))
    let time = recording.seconds(try player.heard(tone))
    let end = recording.now
    let track = try recording.finish(at: end)
    #expect(recording.pipeline.streams[0].codecName == name)
    let start = try #require(onset(in: track.left.seconds(time - 0.25, time + 0.25), above: 0.06))
    #expect(abs(Double(start) / 48_000 - 0.25) < 0.02)
    #expect(abs(decibels(usualAmplitude(of: 1000, in: track.left.seconds(time + 0.1, time + 0.4)), over: 0.25)) < 0.5)
    let frames = Int((end.seconds * 48_000).rounded())
    // A packet of FLAC is 4608 frames, the last one as long as what is left.
    #expect((frames - 1..<frames + 1024).contains(track.samples.count / 2), "\(track.samples.count / 2) of \(frames)")
  }
}
