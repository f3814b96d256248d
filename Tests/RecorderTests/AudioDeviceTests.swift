import Glibc
import Recorder
import SessionModel
import TestSupport
import Testing

/// Devices that are switched, go away and come back while they are recorded.
@Suite(.serialized) struct AudioDeviceTests {
  private func changes(_ recording: AudioRecording) -> [String] {
    recording.told.filter { $0.kind == .device }.compactMap(\.text)
  }

  /// Case A06.
  @Test(arguments: SoundServer.Kind.allCases)
  func theDefaultOutputIsFollowed(on kind: SoundServer.Kind) throws {
    let server = try SoundServer(kind)
    let reader = try server.addOutput("other")
    var options = AudioOptions()
    options.application = .standard
    let recording = try AudioRecording(options, server: server)
    let busy = ProcessorWait(of: [getpid()])
    let first = try TimedPlayer(server)
    let tone = first.play(1000, seconds: 0.5, at: recording.time(recording.now.seconds + 0.7))
    let before = recording.seconds(try first.heard(tone))
    try server.control("set-default-sink", "other")
    try waitUntil("the switch") { recording.told.filter { $0.kind == .device }.count == 2 }
    // Played before the switch, the server would have moved it to the new output.
    let unheard = try server.playTone(3000, seconds: 30)
    let second = try TimedPlayer(server, sink: "other")
    let after = recording.seconds(try second.heard(second.play(2000, at: recording.time(recording.now.seconds + 1))))
    let track = try recording.finish(at: recording.now)
    #expect(
      changes(recording) == [
        "The application sound is recorded from desktop.monitor.",
        "The application sound is recorded from other.monitor now, as was chosen.",
      ])
    #expect(recording.warnings.isEmpty)
    for (time, frequency) in [(before, 1000.0), (after, 2000)] {
      let start = try #require(onset(in: track.left.seconds(time - 0.25, time + 0.25), above: 0.1))
      #expect(abs(Double(start) / 48_000 - 0.25) < 0.02)
      #expect(usualAmplitude(of: frequency, in: track.left.seconds(time + 0.05, time + 0.15)) > 0.4)
    }
    #expect(usualAmplitude(of: 3000, in: track.left) < 0.001)
    // A machine that gave this process no turn for half a second makes gaps of its own: there the switch's alone counts.
    let switched = recording.gaps.filter { $0.reason == "another device was chosen" }
    #expect(switched.count <= 1 && (switched.count == recording.gaps.count || busy.seconds > 2), "\(recording.gaps)")
    _ = (reader, unheard)
  }

  /// Case A06.
  @Test func theDefaultInputIsFollowed() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.microphone = .standard
    let recording = try AudioRecording(options, server: server)
    let players = try [
      server.playTone(440, seconds: 30, on: "feed"), server.playTone(1000, seconds: 30, on: "desktop"),
    ]
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    let before = recording.now.seconds
    try recording.wait(until: before + 1)
    try server.control("set-default-source", "desktop.monitor")
    try waitUntil("the switch") { recording.told.filter { $0.kind == .device }.count == 2 }
    let after = recording.now.seconds
    try recording.wait(until: after + 1.2)
    let track = try recording.finish(at: recording.now)
    #expect(usualAmplitude(of: 440, in: track.left.seconds(before + 0.3, before + 0.9)) > 0.2)
    #expect(usualAmplitude(of: 1000, in: track.left.seconds(before + 0.3, before + 0.9)) < 0.001)
    #expect(usualAmplitude(of: 1000, in: track.left.seconds(after + 0.3, after + 1)) > 0.2)
    #expect(usualAmplitude(of: 440, in: track.left.seconds(after + 0.3, after + 1)) < 0.001)
    _ = players
  }

  @Test(arguments: SoundServer.Kind.allCases)
  func aDeviceThatVanishesIsRecordedAgainAsSoonAsItIsBack(on kind: SoundServer.Kind) throws {
    let server = try SoundServer(kind)
    var reader = try server.addOutput("stick")
    var options = AudioOptions()
    options.application = .pulse(source: "stick.monitor")
    let recording = try AudioRecording(options, server: server)
    var player = try server.playTone(1000, seconds: 30, on: "stick")
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    try recording.wait(until: recording.now.seconds + 0.5)
    let vanished = recording.now.seconds
    try server.removeOutput("stick")
    let removed = recording.now.seconds
    try waitUntil("the warning") { !recording.warnings.isEmpty }
    // Long enough that it is no longer merely the first attempt that finds it.
    try recording.wait(until: vanished + 1)
    let busy = ProcessorWait(of: [getpid()])
    reader = try server.addOutput("stick")
    let returned = recording.now.seconds
    player = try server.playTone(1000, seconds: 30, on: "stick")
    _ = recording.pipeline.levels
    try waitUntil("the tone again") { recording.pipeline.levels[0] > 0.2 }
    let (heard, waited) = (recording.now.seconds, busy.seconds)
    try recording.wait(until: heard + 0.7)
    let track = try recording.finish(at: recording.now)
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1)
    #expect(gap.reason == "the device was not there")
    // It went at some time of the order; the last that a server has taken it may not have given yet.
    #expect((vanished - 0.1...removed + 0.02).contains(gap.start.seconds))
    // It is told of by the server: the next attempt without that would be two seconds later.
    #expect(gap.end.seconds - returned <= 0.2 + waited)
    #expect(usualAmplitude(of: 1000, in: track.left.seconds(heard + 0.1, heard + 0.6)) > 0.2)
    #expect(recording.warnings.count == 1)
    #expect(changes(recording).last == "The application sound is there again: stick.monitor.")
    _ = (player, reader)
  }

  @Test(arguments: SoundServer.Kind.allCases)
  func whereTheOutputVanishesTheMicrophoneIsNotRecordedInItsPlace(on kind: SoundServer.Kind) throws {
    let server = try SoundServer(kind)
    let reader = try server.addOutput("stick")
    var options = AudioOptions()
    options.application = .pulse(source: "stick.monitor")
    let recording = try AudioRecording(options, server: server)
    let player = try server.playTone(440, seconds: 30, on: "feed")
    try server.removeOutput("stick")
    try waitUntil("the warning") { !recording.warnings.isEmpty }
    let lost = recording.now.seconds
    try recording.wait(until: lost + 1)
    let track = try recording.finish(at: recording.now)
    #expect(track.samples.allSatisfy { $0.magnitude < 0.001 })
    _ = (player, reader)
  }
}
