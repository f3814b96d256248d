import Recorder
import SessionModel
import TestSupport
import Testing
import Threading

/// Inputs that are switched on and off while it records.
@Suite(.serialized) struct AudioSwitchTests {
  /// The clients of `server` that record the source called `microphone`.
  private func readers(_ server: SoundServer) throws -> Int {
    let sources = try server.control("list", "short", "sources").split(separator: "\n")
    let number = try #require(sources.first { $0.contains("\tmicrophone\t") }?.prefix { $0.isNumber })
    return try server.control("list", "short", "source-outputs").split(separator: "\n").count { line in
      line.split(separator: "\t").dropFirst().first == number
    }
  }

  @Test(arguments: [false, true])
  func aSwitchedInputIsHeardExactlyWhileItIsOnAndItsDeviceIsClosedElse(usesALSA: Bool) throws {
    let server = try SoundServer()
    let tone = try server.playTone(440, seconds: 30, on: "feed")
    var options = AudioOptions()
    (options.application, options.codec) = (.standard, .pcm)
    options.microphone = usesALSA ? .alsa(pcm: server.alsaPCM(source: "microphone")) : .standard
    let recording = try AudioRecording(options, server: server, off: ["microphone"])
    #expect(try readers(server) == 0)
    try recording.wait(until: 0.3)
    var switches: [(isOn: Bool, time: Timestamp)] = []
    for isOn in [true, false, true, false] {
      let time = recording.now
      #expect(recording.pipeline.set("microphone", isOn: isOn, at: recording.epoch + time.nanoseconds))
      // What is so already is no change.
      #expect(!recording.pipeline.set("microphone", isOn: isOn, at: recording.epoch))
      switches.append((isOn, time))
      if isOn {
        try waitUntil("the microphone") { recording.pipeline.levels[1] > 0.2 }
        #expect(try readers(server) == 1)
      } else {
        try waitUntil("the closed device") { try readers(server) == 0 }
      }
      try recording.wait(until: recording.now.seconds + 0.4)
    }
    let end = recording.now
    let tracks = try recording.finishAll(at: end)
    _ = tone.isRunning
    #expect(Set(tracks.map(\.samples.count)).count == 1)
    #expect(recording.warnings.filter { $0.contains("microphone") }.isEmpty)

    // Three silent stretches: before, between and after.
    let gaps = recording.gaps.filter { $0.track == "microphone" }
    try #require(gaps.count == 3, "\(gaps)")
    #expect(gaps.allSatisfy { $0.reason == "it was switched off" })
    let edges = gaps.flatMap { [$0.start.seconds, $0.end.seconds] }
    #expect(edges.first == 0 && abs((edges.last ?? 0) - end.seconds) < 0.02)
    // Switched off, it is silent from that moment on; switched on, as soon as the device is open.
    for (edge, change) in zip([edges[2], edges[4]], [switches[1], switches[3]]) {
      #expect(abs(edge - change.time.seconds) < 0.02)
    }
    #expect(edges[1] > switches[0].time.seconds && edges[3] > switches[2].time.seconds)
    for track in [tracks[0], tracks[2]] {
      let left = track.left
      for (index, edge) in edges.enumerated() where index % 2 == 0 && index < 5 {
        let silence = left.seconds(edge + 0.02, edges[index + 1] - 0.02)
        #expect(silence.allSatisfy { $0.magnitude < 0.001 }, "silence from \(edge)")
      }
      for (start, end) in [(edges[1], edges[2]), (edges[3], edges[4])] {
        #expect(end - start > 0.3)
        // Each 20 ms of it have sound: a period of 440 Hz is 2.3 ms.
        for time in stride(from: start + 0.02, to: end - 0.04, by: 0.02) {
          let peak = left.seconds(time, time + 0.02).reduce(0) { max($0, $1.magnitude) }
          #expect(abs(peak - 0.25) < 0.03, "sound at \(time)")
        }
      }
    }
  }

  /// What is missing after it was switched on is not called switched off.
  @Test func aDeviceThatIsMissingWhenItIsSwitchedOnSaysSo() throws {
    let server = try SoundServer()
    var options = AudioOptions()
    (options.application, options.microphone, options.codec) = (.standard, .pulse(source: "nowhere"), .pcm)
    let recording = try AudioRecording(options, server: server, off: ["microphone"])
    try recording.wait(until: 0.3)
    let on = recording.now
    #expect(recording.pipeline.set("microphone", isOn: true, at: recording.epoch + on.nanoseconds))
    try waitUntil("the loss") { recording.warnings.contains { $0.contains("microphone") } }
    try recording.wait(until: recording.now.seconds + 1)
    let open = recording.pipeline.openGaps(at: recording.now, epoch: recording.epoch)
    #expect(open.map(\.reason) == ["the device was not there"])
    let end = recording.now
    _ = try recording.finishAll(at: end)
    let gaps = recording.gaps.filter { $0.track == "microphone" }
    #expect(gaps.map(\.reason) == ["it was switched off", "the device was not there"], "\(gaps)")
    // To a packet of the mix.
    #expect(abs((gaps.first?.end.seconds ?? 0) - on.seconds) < 0.03 && gaps.last?.start == gaps.first?.end)
    #expect(abs((gaps.last?.end.seconds ?? 0) - end.seconds) < 0.03)
  }
}
