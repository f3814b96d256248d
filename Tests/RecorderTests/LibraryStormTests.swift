import Archive
import Control
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing

@testable import Recorder

/// Many tasks that want different things of one recorder.
@Suite(.serialized) struct LibraryStormTests {
  @Test func hundredsOfCallsFromEightTasksLeaveWholeSessionsAndTheLastWish() async throws {
    let server = try SoundServer()
    let microphone = try MicrophoneCaptureOptions(device: "alsa:\(server.alsaPCM(source: "microphone"))")
    let rig = try LibraryRig(ScreenShareCaptureOptions(fps: 60), microphone: microphone)
    let client = try PatternClient(on: rig.display, ["counter", "--fps", "60"])
    let told = Told()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<50 {
            // A wish that starts is told a session, unless another one has taken its place; an end the one that ended.
            let session: CapturedSession? =
              switch Int.random(in: 0..<8) {
              case 0..<3: try await rig.recorder.setScreenShare(enabled: true)
              case 3: try await rig.recorder.setScreenShare(enabled: false)
              case 4..<6: try await Self.nothing { try await rig.recorder.setMicrophone(enabled: true) }
              case 6: try await Self.nothing { try await rig.recorder.setMicrophone(enabled: false) }
              default: rig.recorder.state.session
              }
            told.add(session)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(told.calls == 400)
    // The last wish wins, whatever was wished at once before.
    try await rig.recorder.setMicrophone(enabled: true)
    let last = try #require(try await rig.recorder.setScreenShare(enabled: true))
    #expect(rig.recorder.state.isCapturing && rig.recorder.state.session?.id == last.id)
    try await rig.recorder.setScreenShare(enabled: false)
    let states = await rig.close()
    #expect(illegalStep(states) == nil)
    #expect(states.last?.phase == .finished)
    try client.process.stop()

    let made = try rig.sessions()
    #expect(Set(made).isSuperset(of: told.sessions))
    #expect(made.count > 1)
    for id in made {
      let reader = try rig.archive.session(try #require(SessionID(id)))
      let manifest = try reader.manifest()
      #expect(manifest.state == .finished && manifest.end?.reason == .stopped)
      let certificate = try reader.verify()
      #expect(certificate.verdict == .intact, "\(certificate.findings)")
      // Picture and sound are of one length, however often the microphone was switched.
      #expect(manifest.tracks.map(\.kind) == [.video, .audio])
      let file = "\(rig.archive.location.folder(of: manifest.id))/\(manifest.segments[0].file)"
      let sound = Double(try MediaFile.sound(file).count) / 48_000
      #expect(abs(sound - manifest.duration.seconds) < 0.05, "\(id): \(sound) of \(manifest.duration)")
    }
  }

  /// What the calls were told.
  private final class Told: Sendable {
    private let content = Mutex<(calls: Int, sessions: Set<String>)>((0, []))
    var calls: Int { content.withLock { $0.calls } }
    var sessions: Set<String> { content.withLock { $0.sessions } }
    func add(_ session: CapturedSession?) {
      content.withLock { content in
        content.calls += 1
        if let session { content.sessions.insert(session.id) }
      }
    }
  }

  private static func nothing(_ body: () async throws -> Void) async throws -> CapturedSession? {
    try await body()
    return nil
  }

  @Test func theMicrophoneIsInTheFileExactlyWhileItIsOn() async throws {
    let server = try SoundServer()
    let tone = try server.playTone(440, seconds: 30, on: "feed")
    let rig = try LibraryRig(
      microphone: MicrophoneCaptureOptions(device: "alsa:\(server.alsaPCM(source: "microphone"))"))
    // Before a recording it is remembered.
    try await rig.recorder.setMicrophone(enabled: true)
    let session = try await rig.recorder.setScreenShare(enabled: true)
    func moment() throws -> Double { try #require(rig.recorder.status.elapsed) / .seconds(1) }
    func wait(_ seconds: Double) throws {
      let end = try moment() + seconds
      try waitUntil("\(seconds) s") { try moment() >= end }
    }
    try waitUntil("the tone") { (rig.recorder.status.levels["microphone"] ?? 0) > 0.2 }
    try wait(0.3)
    let off = try moment()
    try await rig.recorder.setMicrophone(enabled: false)
    #expect(rig.recorder.status.levels["microphone"] == nil)
    try await rig.recorder.setMicrophone(enabled: false)
    try wait(0.6)
    #expect(rig.recorder.state.phase == .recording)
    let on = try moment()
    try await rig.recorder.setMicrophone(enabled: true)
    try waitUntil("the tone") { (rig.recorder.status.levels["microphone"] ?? 0) > 0.2 }
    try wait(0.3)
    try await rig.recorder.setScreenShare(enabled: false)
    _ = tone.isRunning

    let reader = try rig.reader(session)
    let manifest = try reader.manifest()
    // A busy machine may tear others.
    let gaps = try reader.events().compactMap(\.gap).filter { $0.reason == "it was switched off" }
    try #require(gaps.map(\.track) == ["microphone"])
    let gap = gaps[0]
    #expect(abs(gap.start.seconds - off) < 0.02)
    #expect(gap.end.seconds >= on - 0.001)
    let switches = try reader.events().filter { $0.kind == .device }.compactMap(\.text)
    #expect(switches.count { $0.contains("switched off") } == 1 && switches.count { $0.contains("switched on") } == 1)
    let sound = try MediaFile.sound("\(try #require(session).folder)/\(manifest.segments[0].file)")
    #expect(abs(Double(sound.count) / 48_000 - manifest.duration.seconds) < 0.05)
    // AAC rings a packet of 21 ms before and after an edge.
    let edge = 0.045
    for time in stride(from: off - 0.25, to: manifest.duration.seconds - 0.06, by: 0.02) {
      let peak = sound.seconds(time, time + 0.02).reduce(0) { max($0, $1.magnitude) }
      if time + 0.02 < gap.start.seconds - edge || time > gap.end.seconds + edge {
        #expect(abs(peak - 0.25) < 0.05, "sound at \(time)")
      } else if time > gap.start.seconds + edge, time + 0.02 < gap.end.seconds - edge {
        #expect(peak < 0.005, "silence at \(time)")
      }
    }
    _ = await rig.close()
  }
}
