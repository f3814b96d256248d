import Control
import Glibc
import SessionModel
import TestSupport
import Testing

/// `status` names the part that hangs, and the recording goes on when it does.
@Suite(.serialized) struct HealthTests {
  private func stage(_ name: String, _ recording: StartedRecording) throws -> RecorderStatus.Stage? {
    try recording.status().stages.first { $0.name == name }
  }

  @Test func aStoppedServerIsNamedAndTheSoundGoesOn() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "204060"])
    let recording = try StartedRecording(rig, ["--app-audio"])
    #expect(try recording.status().state == .recording)
    let stopped = monotonicSeconds()
    display.server.signal(SIGSTOP)
    try waitUntil("the stall to be named") { try recording.status().state == .stalled }
    // From the stop itself: the machine's load can only make it later.
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    let status = try recording.status()
    #expect(status.stages.filter { $0.state != .ok }.map(\.name) == ["grab"])
    #expect(status.message?.contains("X server") == true)
    let sound = try #require(try stage("application", recording))
    #expect(sound.state == .ok)
    display.server.signal(SIGCONT)
    try waitUntil("the recovery") { try recording.status().state == .recording }
    _ = try client.tell("color ff0000")
    try recording.stop()
    let events = try rig.events(recording.id)
    let gap = try #require(events.compactMap(\.gap).first { $0.track == "video" })
    #expect(gap.reason == "grab stalled")
    #expect(abs(gap.start.seconds - (stopped - epoch)) < 0.75)
    #expect(gap.end - gap.start > 1_500_000_000)
    let warning = try #require(events.first { $0.kind == .warning })
    #expect(warning.time - gap.start < 2_500_000_000)
    #expect(events.filter { $0.kind == .warning }.count == 1)
    // The picture after it is there.
    let end = try rig.manifest(recording.id).duration
    #expect(try MediaFile.times(rig.media(recording.id)).filter { Double($0) / 1000 > gap.end.seconds - 1 }.count >= 2)
    #expect(end > gap.end)
    // And so is the sound, all of it.
    let audio = try #require(Double(try MediaFile.entries(rig.media(recording.id), "a")["duration"] ?? ""))
    #expect(abs(audio - end.seconds) < 0.06)
  }

  @Test func aStoppedSoundServerMakesItDegraded() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try StartedRecording(rig, ["--app-audio", "--microphone"])
    try waitUntil("sound") { try recording.status().state == .recording }
    server.server.signal(SIGSTOP)
    try waitUntil("the loss to be named") { try recording.status().state == .degraded }
    let status = try recording.status()
    #expect(Set(status.stages.filter { $0.state != .ok }.map(\.name)).isSubset(of: ["application", "microphone"]))
    #expect(try stage("grab", recording)?.state == .ok)
    server.server.signal(SIGCONT)
    try waitUntil("the recovery") { try recording.status().state == .recording }
    _ = try client.tell("color ff0000")
    try recording.stop()
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(Set(gaps.map(\.track)).isSuperset(of: ["application", "microphone"]))
  }

  @Test func aTerminalThatIsHeldHoldsNothing() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    // Standard error is a pipe that is full from the start, and whose reader is stopped; the black picture is warned of.
    let script = """
      import os, subprocess, sys, time, signal
      out, into = os.pipe()
      os.set_blocking(into, False)
      try:
          while True: os.write(into, b"x" * 4096)
      except BlockingIOError: pass
      os.set_blocking(into, True)
      child = subprocess.Popen(sys.argv[1:], stderr=into)
      os.close(into)
      signal.pause()
      """
    let holder = try ChildProcess(
      ["/usr/bin/python3", "-c", script, builtProgram("recorder"), "record", "--no-cursor"],
      environment: rig.environment)
    try waitUntil("the session's id") { holder.outputSoFar.hasSuffix("\n") }
    let id = try #require(SessionID(holder.outputSoFar.dropLast()))
    try waitUntil("the output to be named") {
      let result = try rig.run(["status", "--json"])
      return result.text.contains(#""name":"output","state":"stalled""#)
    }
    #expect(try rig.run(["status", "--json"]).text.contains(#""state":"recording""#))
    _ = try client.tell("color ff0000")
    #expect(try rig.run(["stop"]).text == "\(id)\n")
    #expect(try rig.manifest(id).state == .finished)
    #expect(try rig.events(id).contains { $0.kind == .warning })
    holder.signal(SIGKILL)
  }
}
