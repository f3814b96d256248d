import Glibc
import SessionModel
import TestSupport
import Testing

@Suite("The sound of a replay")
struct ReplaySoundTests {
  /// Records what the output `desktop` plays, as stereo floats, until `enough` says so of the left channel.
  private static func record(
    _ server: SoundServer, until enough: ([Float]) throws -> Bool
  ) throws -> [Float] {
    let folder = try TemporaryFolder()
    let file = folder.file("heard.raw")
    let reader = try ChildProcess(
      [
        "parec", "--raw", "--format=float32le", "--rate=48000", "--channels=2", "--latency-msec=5", "-d",
        "desktop.monitor", file,
      ], environment: server.environment)
    var left: [Float] = []
    try waitUntil("enough sound") {
      let bytes = (try? readFile(file)) ?? []
      left = stride(from: 0, to: bytes.count / 8 * 8, by: 8).map { at in
        Float(bitPattern: bytes[at..<at + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
      }
      return try enough(left)
    }
    try reader.stop()
    return left
  }

  @Test("comes out at its level, by the volume asked for, on PulseAudio and through ALSA", arguments: [false, true])
  func levels(_ throughALSA: Bool) throws {
    let server = try SoundServer()
    let session = try RecordedSession(Shot.series(2), length: 60_000) { $0.tone = 0 }
    var environment = server.environment
    if throughALSA {
      let file = session.folder.file("alsa.conf")
      let pcm = "pcm.!default { type pulse server \"\(server.address)\" }"
      try writeFile(file, "</usr/share/alsa/alsa.conf>\n\(pcm)\n".utf8)
      environment = ["ALSA_CONFIG_PATH": file]
    }
    let rig = try ReplayRig(session, ["--volume", "0.5"], environment: environment)
    let tone = try Self.record(server) { left in left.suffix(48_000).filter { abs($0) > 0.1 }.count > 24_000 }
    let level = amplitude(of: 1000, in: tone.suffix(24_000))
    #expect(abs(decibels(level, over: 0.25)) < 1)
    // Digital silence: not one sample differs from zero.
    try rig.press("m")
    try rig.waitForTitle("muted")
    let muted = try Self.record(server) { left in left.count > 48_000 && left.suffix(24_000).allSatisfy { $0 == 0 } }
    #expect(muted.suffix(24_000).allSatisfy { $0 == 0 })
    try rig.press("m", "space")
    try rig.waitForTitle("paused")
    _ = try Self.record(server) { left in left.count > 48_000 && left.suffix(24_000).allSatisfy { $0 == 0 } }
    try rig.press("Right", "space")
    _ = try Self.record(server) { left in left.suffix(4800).contains { abs($0) > 0.1 } }
    #expect(try rig.quit().status == 0)
  }

  @Test("is the mix's or one input's, and as loud and as silent when another track follows or the next file begins")
  func tracks() throws {
    let server = try SoundServer()
    // Files of a second each: whatever is heard for long is heard across their borders.
    let files = (0..<30).map { Shot.series(2, from: Int64($0) * 1000) }
    var recipe = RecordedSession.Recipe(files: files, starts: files.map { $0[0].milliseconds }, length: 30_000, tone: 0)
    recipe.stems = [("application", 2000), ("microphone", 3000)]
    let session = try RecordedSession(recipe)
    let rig = try ReplayRig(session, ["--track", "app", "--volume", "0.5"], environment: server.environment)
    try rig.waitForTitle("application")
    /// Waits until one tone alone is heard at a quarter of full scale, for more than a file.
    func expect(_ frequency: Double) throws {
      let others = [1000.0, 2000, 3000].filter { $0 != frequency }
      let heard = try Self.record(server) { left in
        let end = Array(left.suffix(57_600))
        return end.count == 57_600 && abs(decibels(usualAmplitude(of: frequency, in: end), over: 0.25)) < 1
          && others.allSatisfy { usualAmplitude(of: $0, in: end) < 0.001 }
      }
      #expect(heard.count >= 57_600)
    }
    try expect(2000)
    try rig.press("t")
    try rig.waitForTitle("microphone")
    try expect(3000)
    // A track that is switched on while all is silent is silent too, to the sample.
    try rig.press("m", "t")
    try rig.waitForTitle("muted")
    let muted = try Self.record(server) { left in left.count > 72_000 && left.suffix(57_600).allSatisfy { $0 == 0 } }
    #expect(muted.suffix(57_600).allSatisfy { $0 == 0 })
    try rig.press("m")
    try expect(1000)
    #expect(try rig.quit().status == 0)
  }

  @Test("of a track that there is none of is refused, and those that there are are named")
  func noTrack() throws {
    let session = try RecordedSession(Shot.series(2), length: 1000) { recipe in
      recipe.tone = 0
      recipe.stems = [("microphone", 440), ("other", 880)]
    }
    let known = "It has 1 (mix), 2 (microphone), 3 (other)."
    for (track, words) in [("app", known), ("0", known), ("voice", "is no sound track")] {
      let result = try run(
        [builtProgram("recorder"), "replay", "last", "--track", track], environment: ReplayRig.environment(session))
      #expect(result.ending == .exit(64))
      #expect(result.errorText.contains(words), "\(result.errorText)")
    }
  }

  @Test("drives the picture: the tone is heard when its picture is shown")
  func clock() throws {
    let server = try SoundServer()
    let session = try RecordedSession(
      [Shot(milliseconds: 0, colour: 1), Shot(milliseconds: 1000, colour: 2)], length: 2500
    ) { $0.tone = 1000 }
    let rig = try ReplayRig(session, ["--paused"], environment: server.environment)
    try rig.press("space")
    _ = try Self.record(server) { left in left.contains { abs($0) > 0.1 } }
    try rig.waitForPixel(3, 3, 2)
    try rig.waitForTitle("0:02.500 / 0:02.500 – paused")
    #expect(try rig.quit().errorText == "")
  }

  @Test("that goes away does not end the replay")
  func serverKilled() throws {
    let server = try SoundServer()
    let session = try RecordedSession(Shot.series(12, every: 200), length: 5000) { $0.tone = 0 }
    let rig = try ReplayRig(session, [], environment: server.environment)
    _ = try Self.record(server) { left in left.contains { abs($0) > 0.1 } }
    try server.kill()
    try rig.waitForTitle("0:05.000 / 0:05.000 – paused")
    let result = try rig.quit()
    #expect(result.status == 0)
    #expect(result.errorText.hasPrefix("recorder: The sound server cannot be used"))
  }
}
