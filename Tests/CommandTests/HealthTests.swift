import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `status` names the part that hangs, and the recording goes on when it does.
@Suite(.serialized) struct HealthTests {
  private func stage(_ name: String, _ recording: StartedRecording) throws -> RecorderStatus.Stage? {
    try recording.status().stages.first { $0.name == name }
  }

  /// When the recorder itself first said that a recording is `state`, by its log.
  private func time(of state: RecordingState, _ rig: RecorderRig, _ id: SessionID, after: Timestamp = .zero) throws
    -> Timestamp
  {
    let lines = try rig.run(["logs", id.description, "--json", "--category", "control"]).lines
    let entries = try lines.map { try JSONDecoder().decode(LogEntry.self, from: Data($0.utf8)) }
    let entry = entries.first { $0.fields?["state"] == state.rawValue && $0.time >= after }
    return try #require(entry, "\(lines)").time
  }

  /// The server is stopped for ten seconds: that stretch is a gap, and everything else is there.
  @Test func aStoppedServerIsNamedAndTheSoundGoesOn() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "204060"])
    let recording = try StartedRecording(rig, ["--app-audio"])
    #expect(try recording.status().state == .recording)
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    let shown = Double(try client.tell("color 406020")) / 1e9 - epoch
    try waitUntil("its frame") { try stage("grab", recording)?.last?.seconds ?? 0 >= shown }
    let stopped = monotonicSeconds() - epoch
    display.server.signal(SIGSTOP)
    try waitUntil("the stall to be named") { try recording.status().state == .stalled }
    let status = try recording.status()
    #expect(status.stages.filter { $0.state != .ok }.map(\.name) == ["grab"])
    #expect(status.message?.contains("X server") == true)
    let sound = try #require(try stage("application", recording))
    #expect(sound.state == .ok)
    try waitUntil("ten seconds") { monotonicSeconds() - epoch >= stopped + 10 }
    #expect(try recording.status().state == .stalled)
    let continued = monotonicSeconds() - epoch
    display.server.signal(SIGCONT)
    try waitUntil("the recovery") { try recording.status().state == .recording }
    let recovered = monotonicSeconds() - epoch
    _ = try client.tell("color ff0000")
    try recording.stop()
    let events = try rig.events(recording.id)
    let gaps = events.compactMap(\.gap).filter { $0.track == "video" }
    #expect(gaps.map(\.reason) == ["grab stalled"])
    let gap = try #require(gaps.first)
    // From the last answer before the stop, which may be heard of a moment after it, to the first one afterwards.
    #expect((shown...stopped + 0.5).contains(gap.start.seconds), "\(gap), shown \(shown), stopped \(stopped)")
    #expect((continued...recovered).contains(gap.end.seconds), "\(gap), \(continued), \(recovered)")
    // Within two seconds of its last sign of life, by the recorder's own clock.
    #expect(try time(of: .stalled, rig, recording.id) - gap.start < 2_000_000_000)
    // Told once; that nothing plays is told as well.
    #expect(events.count { $0.kind == .warning && $0.text?.contains("X server") == true } == 1)
    // No picture is in it, and those after it are there.
    let end = try rig.manifest(recording.id).duration
    let times = try MediaFile.times(rig.media(recording.id)).map { Double($0) / 1000 }
    #expect(!times.contains { $0 > stopped + 0.5 && $0 < continued })
    #expect(times.count { $0 >= continued } >= 2)
    #expect(end > gap.end)
    // And so is the sound, all of it.
    let audio = try #require(Double(try MediaFile.entries(rig.media(recording.id), "a")["duration"] ?? ""))
    #expect(abs(audio - end.seconds) < 0.06)
  }

  /// Voluntary switches of all threads of the process so far, each of which is a wake-up.
  private func switches(_ pid: Int32) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").reduce(0) { sum, thread in
      let status = String(decoding: try readFile("/proc/\(pid)/task/\(thread)/status"), as: UTF8.self)
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
      return sum + (line.flatMap { Int($0.split(separator: "\t")[1]) } ?? 0)
    }
  }

  /// Nobody wakes to look after the others while nothing happens; a server and a disk that hang then are told of as soon
  /// as ever. A busy machine makes fewer of the wake-ups, since each waits for its time.
  @Test func aStillScreenIsFewWakeUpsAndWhatHangsIsToldInTime() throws {
    let displays = try [VirtualDisplay(size: "320x240"), VirtualDisplay(size: "320x240")]
    let clients = try displays.map { try PatternClient(on: $0, ["color", "--color", "204060"]) }
    let rigs = try displays.map { try RecorderRig(display: $0) }
    let disk = try HangingDisk(below: rigs[1].archive, "write", files: "events.ndjson")
    let recordings = try [rigs[0].record(), rigs[1].record(environment: disk.environment)]
    func seconds() throws -> Double {
      try rigs[0].events(recordings[0].id).last { $0.kind == .alive }?.time.seconds ?? 0
    }
    // A screen counts as still after five seconds; what is made to reach the disk every five is once in what follows.
    try waitUntil("a still screen") { try seconds() > 5.5 }
    let (began, before) = (monotonicSeconds(), try switches(recordings[0].process.pid))
    try waitUntil("nine seconds of it") { try seconds() > 14 && monotonicSeconds() > began + 8.5 }
    let (count, time) = (try switches(recordings[0].process.pid) - before, monotonicSeconds() - began)
    #expect(Double(count) <= (try CostBounds().voluntarySwitchesPerSecond) * time, "\(count) in \(time) s")

    // Just after what is looked at every five seconds was.
    try waitUntil("fifteen seconds") { try seconds() > 15.3 }
    displays[0].server.signal(SIGSTOP)
    try disk.hang()
    // In the file: a command that asks the recorder would make it look.
    func isStalled(_ rig: RecorderRig, _ id: SessionID) throws -> Bool {
      String(decoding: try readFile("\(rig.session(id))/log.ndjson"), as: UTF8.self).contains(#""state":"stalled""#)
    }
    try waitUntil("the stalls to be told") {
      try zip(rigs, recordings).allSatisfy { rig, recording in try isStalled(rig, recording.id) }
    }
    displays[0].server.signal(SIGCONT)
    disk.goOn()
    for (rig, recording) in zip(rigs, recordings) {
      try waitUntil("the recovery") { try rig.events(recording.id).contains { $0.kind == .gap } }
      recording.process.signal(SIGINT)
      #expect(try recording.process.wait().status == 0)
      let gap = try #require(try rig.events(recording.id).compactMap(\.gap).first)
      #expect(gap.reason == (rig === rigs[0] ? "grab stalled" : "mux stalled"))
      #expect(try self.time(of: .stalled, rig, recording.id) - gap.start < 2_000_000_000)
    }
    for client in clients { try client.process.stop() }
  }

  /// A stall that is not over when a stretch is saved is a gap of what was saved, up to its end.
  @Test func aStallThatGoesOnIsAGapOfWhatIsSavedMeanwhile() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["counter", "--fps", "10"])
    let capture = try HeldCapture(rig, span: "10s", ["--no-cursor"])
    try capture.waitUntilHeld(seconds: 2)
    display.server.signal(SIGSTOP)
    defer { display.server.signal(SIGCONT) }
    try waitUntil("the stall to be named") { try capture.status().state == .stalled }
    let id = try capture.keep("save", ["--last", "4s"])
    let duration = try rig.manifest(id).duration
    let gaps = try rig.events(id).compactMap(\.gap)
    #expect(gaps.map(\.reason) == ["grab stalled"] && gaps.first?.track == "video")
    let gap = try #require(gaps.first)
    #expect(gap.end == duration && duration - gap.start > 1_500_000_000, "\(gap) \(duration)")
    display.server.signal(SIGCONT)
    try waitUntil("the recovery") { try capture.status().state == .holding }
    try capture.tell(["stop"])
    try client.process.stop()
  }

  /// The server lives, and the connections that were made before hang: the picture is fetched on a new one.
  @Test func aConnectionThatHangsIsMadeAnewAndTheSoundGoesOn() throws {
    let server = try SoundServer()
    let display = try VirtualDisplay(size: "640x480")
    let proxy = try DisplayProxy(to: display)
    let rig = try RecorderRig(
      environment: server.environment.merging(["DISPLAY": proxy.name, "XAUTHORITY": nil]) { _, new in new })
    let client = try PatternClient(on: display, ["counter", "--fps", "10"])
    let recording = try StartedRecording(rig, ["--app-audio", "--no-cursor"])
    try waitUntil("some frames") { try recording.status().frames ?? 0 > 5 }
    try proxy.freeze()
    try waitUntil("the stall to be named") { try recording.status().state == .stalled }
    #expect(try stage("application", recording)?.state == .ok)
    try waitUntil("the recovery") { try recording.status().state == .recording }
    let frames = try #require(try recording.status().frames)
    try waitUntil("frames after it") { try recording.status().frames ?? 0 > frames + 5 }
    try recording.stop()
    try client.process.stop()
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(gaps.map(\.track) == ["video"])
    let gap = try #require(gaps.first)
    #expect(gap.reason == "grab stalled")
    // Nothing between, and the drawn counter goes on behind it.
    let times = try MediaFile.times(rig.media(recording.id)).map { Double($0) / 1000 }
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    #expect(!times.contains { $0 > gap.start.seconds + 1 && $0 < gap.end.seconds - 1 })
    #expect(times.filter { $0 > gap.end.seconds }.count > 5)
    let counters = try MediaFile.counters(rig.media(recording.id)).compactMap { $0 }
    #expect(counters == counters.sorted())
    #expect(Set(counters).count > 10)
    let end = try rig.manifest(recording.id).duration
    let audio = try #require(Double(try MediaFile.entries(rig.media(recording.id), "a")["duration"] ?? ""))
    #expect(abs(audio - end.seconds) < 0.06)
    let log = try rig.run(["logs", "last", "--category", "capture"]).lines
    #expect(log.filter { $0.contains("it is made anew") }.count == 1)
    #expect(log.filter { $0.contains("source is open") }.count == 2)
  }

  @Test func aStoppedSoundServerMakesItDegraded() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try StartedRecording(rig, ["--app-audio", "--microphone"])
    try waitUntil("sound") { try recording.status().state == .recording }
    let heard = Timestamp(nanoseconds: try #require(try recording.status().elapsed) - 500_000_000)
    server.server.signal(SIGSTOP)
    try waitUntil("the loss to be named") { try recording.status().state == .degraded }
    let status = try recording.status()
    let degraded = status.elapsed.map { Timestamp(nanoseconds: $0) }
    #expect(Set(status.stages.filter { $0.state != .ok }.map(\.name)).isSubset(of: ["application", "microphone"]))
    #expect(try stage("grab", recording)?.state == .ok)
    server.server.signal(SIGCONT)
    try waitUntil("the recovery") { try recording.status().state == .recording }
    _ = try client.tell("color ff0000")
    try waitUntil("sound again") {
      let inputs = try recording.status().stages.filter { ["application", "microphone"].contains($0.name) }
      return inputs.count == 2 && inputs.allSatisfy { $0.state == .ok && ($0.last ?? .zero) > (degraded ?? .zero) }
    }
    try recording.stop()
    let events = try rig.events(recording.id)
    let gaps = events.compactMap(\.gap)
    #expect(Set(gaps.map(\.track)).isSuperset(of: ["application", "microphone"]))
    // The hole begins with the last sound that came; the state tells of it within two seconds, by the recorder's clock.
    let hole = try #require(gaps.map(\.start).filter { $0 > heard }.min())
    #expect(try time(of: .degraded, rig, recording.id, after: heard) - hole < 2_000_000_000)
  }

  /// The command's output goes through the recorder, and the reader of that is stopped.
  @Test func aStoppedReaderIsNamedAndReadsOn() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let script = """
      import os, signal, subprocess, sys
      reader = subprocess.Popen(["wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
      reader.send_signal(signal.SIGSTOP)
      recorder = subprocess.Popen(sys.argv[1:], stdout=reader.stdin)
      reader.stdin.close()
      print(reader.pid, flush=True)
      status = recorder.wait()
      print(reader.stdout.read().strip(), flush=True)
      sys.exit(status)
      """
    let bytes = 1 << 20
    let holder = try ChildProcess(
      [
        "/usr/bin/python3", "-c", script, builtProgram("recorder"), "record", "--no-cursor", "--keep", "match=never",
        "--", "/usr/bin/python3", "-c", "print('x' * \(bytes - 1))",
      ], environment: rig.environment)
    try waitUntil("the reader") { holder.outputSoFar.hasSuffix("\n") }
    let reader = try #require(Int32(holder.outputSoFar.dropLast()))
    defer { kill(reader, SIGCONT) }
    func command() throws -> (status: RecorderStatus, stage: RecorderStatus.Stage)? {
      guard let line = try rig.run(["status", "--json"]).lines.first else { return nil }
      let status = try JSONDecoder().decode(RecorderStatus.self, from: Data(line.utf8))
      return status.stages.first { $0.name == "command" }.map { (status, $0) }
    }
    var isNamed = false
    try waitUntil("the command's output to be named") {
      guard let (status, stage) = try command() else { return false }
      // It is named as soon as it has hung for a second and a half, and never without.
      #expect((stage.state == .stalled) == (stage.age > 1_500_000_000))
      #expect(status.state == .recording)
      isNamed = stage.state == .stalled
      return isNamed
    }
    kill(reader, SIGCONT)
    let result = try holder.wait()
    try client.process.stop()
    #expect(result.ending == .exit(0))
    #expect(result.lines.last == "\(bytes)")
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
