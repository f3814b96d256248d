import SessionModel
import TestSupport
import Testing

@testable import Recorder

@Suite(.serialized) struct SoundGuardTests {
  /// Feeds a guard blocks of 10 ms of one sample.
  private func look(_ soundGuard: inout SoundGuard, _ sample: Float, seconds: Double) -> [SoundGuard.Finding] {
    let samples = [Float](repeating: sample, count: 960)
    return (0..<Int(seconds * 100)).compactMap { _ in
      samples.withUnsafeBufferPointer { soundGuard.look(at: $0, seconds: 0.01) }
    }
  }

  @Test func silenceIsToldOnceWithinFiveSeconds() {
    for isNeverSilent in [true, false] {
      var soundGuard = SoundGuard(isNeverSilent: isNeverSilent)
      #expect(look(&soundGuard, 0, seconds: 3.9) == [])
      #expect(look(&soundGuard, 0, seconds: 0.3) == [.silent])
      #expect(look(&soundGuard, 0, seconds: 60) == [])
    }
  }

  @Test func theFaintestSoundIsNoSilence() {
    var soundGuard = SoundGuard(isNeverSilent: true)
    #expect(look(&soundGuard, 1 / 32_768, seconds: 60) == [])
  }

  @Test func aMicrophoneThatFallsSilentIsToldAgainAndAnApplicationIsNot() {
    for (isNeverSilent, expected) in [(true, [SoundGuard.Finding.silent]), (false, [])] {
      var soundGuard = SoundGuard(isNeverSilent: isNeverSilent)
      _ = look(&soundGuard, 0, seconds: 10)
      _ = look(&soundGuard, 0.1, seconds: 1)
      #expect(look(&soundGuard, 0, seconds: 10) == expected)
    }
  }

  @Test func clippingIsToldOnce() {
    var soundGuard = SoundGuard(isNeverSilent: true)
    #expect(look(&soundGuard, 0.99, seconds: 10) == [])
    #expect(look(&soundGuard, 1, seconds: 10) == [.clipped])
  }

  @Test func aFewSamplesAtFullScaleAreNoClipping() {
    var soundGuard = SoundGuard(isNeverSilent: true)
    for _ in 0..<100 {
      let found = [Float](repeating: 1, count: 20).withUnsafeBufferPointer { soundGuard.look(at: $0, seconds: 0.01) }
      #expect(found == nil)
      #expect(look(&soundGuard, 0.5, seconds: 1.1) == [])
    }
  }

  @Test func aMutedMicrophoneIsToldAtOnceAndNotAgainAsSilent() throws {
    let server = try SoundServer()
    try server.control("set-source-mute", "microphone", "1")
    var options = AudioOptions()
    options.microphone = .standard
    let recording = try AudioRecording(options, server: server)
    try waitUntil("the warning") { !recording.warnings.isEmpty }
    #expect(recording.now.seconds < 5)
    try recording.wait(until: 4.6)
    try server.control("set-source-mute", "microphone", "0")
    try waitUntil("the other word") { recording.told.contains { $0.text?.contains("no longer muted") == true } }
    let track = try recording.finish(at: recording.now)
    #expect(
      recording.warnings == ["The microphone is muted in the sound server (microphone): it is silent."])
    #expect(track.samples.allSatisfy { $0.magnitude < 0.000_1 })
    #expect(recording.pipeline.statistics.map(\.silentShare) == [1, 1])
    #expect(recording.pipeline.statistics.map(\.peak) == [nil, nil])
  }

  @Test func aClippedMicrophoneAndASilentDesktopAreTold() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    options.application = .standard
    options.microphone = .standard
    let recording = try AudioRecording(options, server: server)
    let player = try server.playTone(440, amplitude: 1.5, seconds: 30, on: "feed")
    try waitUntil("both warnings", seconds: 8) { recording.warnings.count == 2 }
    _ = try recording.finish(at: recording.now)
    #expect(
      Set(recording.warnings) == [
        "The microphone is too loud and clips: turn it down at its source.",
        "The application sound has been wholly silent for four seconds: does anything play on this device?",
      ])
    #expect(recording.gaps.isEmpty)
    _ = player
  }
}
