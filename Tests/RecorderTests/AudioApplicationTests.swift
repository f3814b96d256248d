import Glibc
import Recorder
import SessionModel
import TestSupport
import Testing

/// One application's sound, apart from all other.
@Suite(.serialized) struct AudioApplicationTests {
  /// What the server says of who plays what where, without what time alone changes.
  private func streams(_ server: SoundServer) throws -> [String] {
    try server.control("list", "sink-inputs").split(separator: "\n").map(String.init).filter {
      !$0.contains("Latency")
    }
  }

  /// The amplitude at which the 1 kHz tone of the meant application and the 2 kHz tone of the other one are recorded, and
  /// what the server said of who plays what where meanwhile.
  private func record(
    _ device: AudioDeviceSpecification, windowProcess: Int? = nil, _ server: SoundServer
  ) throws -> (meant: Double, other: Double, streams: [String]) {
    var options = AudioOptions()
    options.application = device
    let recording = try AudioRecording(options, windowProcess: windowProcess, server: server)
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    let start = recording.now.seconds
    try recording.wait(until: start + 1.5)
    let during = try streams(server)
    let track = try recording.finish(at: recording.now)
    #expect(recording.warnings.isEmpty)
    #expect(recording.gaps.isEmpty)
    let part = track.left.seconds(start + 0.5, start + 1.3)
    return (usualAmplitude(of: 1000, in: part), usualAmplitude(of: 2000, in: part), during)
  }

  @Test(arguments: ["name", "process", "window"], SoundServer.Kind.allCases)
  func oneOfTwoIsRecordedAloneAndNoneIsMoved(by kind: String, on serverKind: SoundServer.Kind) throws {
    let server = try SoundServer(serverKind)
    let other = try server.playTone(2000, amplitude: 0.5, seconds: 30, as: "Other")
    let meant = try server.playTone(1000, amplitude: 0.25, seconds: 30, as: "Meant")
    try waitUntil("both to play") {
      try server.control("list", "short", "sink-inputs").split(separator: "\n").count == 2
    }
    let before = try streams(server)
    let device: AudioDeviceSpecification =
      switch kind {
      case "name": .application(name: "meant")
      case "process": .process(id: Int(meant.pid))
      default: .window
      }
    let tones = try record(device, windowProcess: Int(meant.pid), server)
    #expect(tones.streams == before)
    #expect(try streams(server) == before)
    #expect(abs(decibels(tones.meant, over: 0.25)) < 0.5)
    #expect(decibels(tones.other, over: 0.5) < -60)
    _ = (other, meant)
  }

  @Test func aProcessesChildrenBelongToIt() throws {
    let server = try SoundServer()
    let other = try server.playTone(2000, amplitude: 0.5, seconds: 30)
    let samples = SoundServer.tone(1000, amplitude: 0.25, seconds: 30)
    let shell = try server.play(samples, through: ["sh", "-c", "\"$@\"; true", "sh"])
    let tones = try record(.process(id: Int(shell.pid)), server)
    #expect(abs(decibels(tones.meant, over: 0.25)) < 0.5)
    #expect(decibels(tones.other, over: 0.5) < -60)
    _ = other
    shell.signal(SIGKILL, group: true)
  }

  @Test func whatItBeginsToPlayLaterIsHeardWhereItWasPlayed() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .application(name: "player")
    let other = try server.playTone(2000, seconds: 30, as: "Other")
    try waitUntil("it to play") { try !server.control("list", "short", "sink-inputs").isEmpty }
    let recording = try AudioRecording(options, server: server)
    try recording.wait(until: 0.5)
    var beats: [Double] = []
    for _ in 0..<3 {
      let player = try TimedPlayer(server)
      let tone = player.play(1000, at: recording.time(recording.now.seconds + 0.8))
      beats.append(recording.seconds(try player.heard(tone)))
    }
    let end = recording.now
    let track = try recording.finish(at: end)
    for time in beats {
      let start = try #require(onset(in: track.left.seconds(time - 0.25, time + 0.25), above: 0.1))
      #expect(abs(Double(start) / 48_000 - 0.25) < 0.02)
    }
    // Where it does not play nothing is missing; that it does not, and then does, is told.
    #expect(recording.gaps.isEmpty)
    #expect(recording.warnings == ["app:player plays nothing yet; app:Other plays. It is recorded as soon as it does."])
    #expect(
      recording.told.filter { $0.kind == .device }.map(\.text) == ["The application sound is recorded from app:player."]
    )
    #expect(abs(track.samples.count / 2 - Int((end.seconds * 48_000).rounded())) <= 1024)
    _ = other
  }

  @Test func itIsFollowedToAnotherOutput() throws {
    let server = try SoundServer()
    let reader = try server.addOutput("other")
    let player = try server.playTone(1000, amplitude: 0.25, seconds: 30, as: "Meant")
    var options = AudioOptions()
    options.application = .application(name: "Meant")
    let recording = try AudioRecording(options, server: server)
    try waitUntil("the tone") { recording.pipeline.levels[0] > 0.2 }
    try recording.wait(until: recording.now.seconds + 0.5)
    let stream = try server.control("list", "short", "sink-inputs").prefix { $0.isNumber }
    try server.control("move-sink-input", String(stream), "other")
    let moved = recording.now.seconds
    try recording.wait(until: moved + 1.2)
    let track = try recording.finish(at: recording.now)
    #expect(abs(decibels(usualAmplitude(of: 1000, in: track.left.seconds(moved + 0.4, moved + 1)), over: 0.25)) < 0.5)
    #expect(recording.warnings.isEmpty)
    _ = (player, reader)
  }

  @Test func aServerThatEndsIsAGapHereToo() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .application(name: "Meant")
    let recording = try AudioRecording(options, server: server)
    try recording.wait(until: 1)
    let killed = recording.now.seconds
    try server.kill()
    try recording.wait(until: killed + 1)
    _ = try recording.finish(at: recording.now)
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1)
    #expect(abs(gap.start.seconds - killed) < 0.1)
    #expect(gap.reason == "the sound server was not there")
  }

  @Test func withoutAWindowsProcessThereIsNoSoundOfIt() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .window
    let error = #expect(throws: RecorderError.self) { try AudioPipeline(options, server: server.address) }
    #expect(error?.code == .unavailable)
  }
}
