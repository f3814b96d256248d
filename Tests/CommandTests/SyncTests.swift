import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Flash and beep: the device beeps at each even second of `CLOCK_MONOTONIC` whatever the machine does, and test-pattern
/// says when it flashed, so that each is held against its own truth.
@Suite(.serialized) struct SyncTests {
  /// How long the drift is followed: ten minutes under `make torture`.
  private static let seconds = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_SYNC"] ?? "") ?? 7

  /// Seconds that the waking up of all threads of a recording adds up to in that time where nobody else wants the
  /// processors, and more.
  private static let idleWait = 2.0

  /// The times, in ms of the file, at which the picture turns white.
  private func flashes(_ file: String) throws -> [Double] {
    let isWhite = try MediaFile.pictures(file, PixelRect(x: 100, y: 100, width: 1, height: 1)).map { $0[0] > 128 }
    let times = try MediaFile.times(file)
    return isWhite.indices.filter { $0 > 0 && isWhite[$0] && !isWhite[$0 - 1] }.map { Double(times[$0]) }
  }

  /// By how many ms a beep that belongs at `time` (seconds of the file) comes late; nil when there is none.
  /// - Parameter seconds: how far from there it is looked for.
  private func lateness(_ sound: [Float], at time: Double, within seconds: Double = 0.25) -> Double? {
    let (first, count) = (Int((time - seconds) * 48_000), Int(seconds * 96_000))
    guard first >= 0, first + count <= sound.count else { return nil }
    return onset(in: Array(sound[first..<first + count]), above: 0.2).map { (Double($0) / 48_000 - seconds) * 1000 }
  }

  /// Prints by how much the beeps of a file come after its own flashes, and how that changes until its end.
  /// - Parameters:
  ///   - flashed: when it was told to flash, and `beep` when one beep came, in seconds of `CLOCK_MONOTONIC`.
  private func compare(_ name: String, _ file: String, track: Int, _ flashed: [Double], beep: Double) throws {
    let (shown, sound) = try (flashes(file), MediaFile.sound(file, track: track))
    // The file's time 0 is known from its picture alone. Its last flash is the last that was told.
    let starts = zip(shown.reversed(), flashed.reversed()).map { $1 - $0 / 1000 }.sorted()
    let start = try #require(starts.isEmpty ? nil : starts[starts.count / 2])
    let places = stride(from: beep - start, to: Double(sound.count) / 48_000, by: 2)
    // The device beeps every two seconds: what is further off than half of that would be another one's.
    let late = places.compactMap { lateness(sound, at: $0, within: 0.9) }
    let quarter = max(1, late.count / 4)
    let (first, last) = (late.prefix(quarter).sorted(), late.suffix(quarter).sorted())
    let offset = try #require(first.isEmpty ? nil : first[first.count / 2], "\(name): no beeps")
    let drift = last[last.count / 2] - offset
    func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    print("\(name): \(late.count) beeps, \(tenths(offset)) ms after the picture, \(tenths(drift)) ms more at the end")
  }

  /// What was done at one time: when the screen was told to flash, when the device beeped and when the tone was heard that
  /// the desktop played, in seconds of the session.
  private struct Phase {
    let name: String
    let flashes: [Double]
    let beep: Double
    let tone: Double
  }

  @Test func flashAndBeepAreInStepWhateverCameBefore() throws {
    let (device, server) = try (ClockedDevice(), SoundServer())
    let reader = try server.addOutput("other")
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "320x240"),
      environment: device.environment.merging(server.environment) { device, _ in device })
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    var player = try TimedPlayer(server)
    let recording = try StartedRecording(
      rig, ["--no-cursor", "--audio-codec", "pcm", "--app-audio", "--microphone=alsa:\(device.pcm)"])
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    let busy = ProcessorWait(of: [recording.pid])
    var control = try rig.connect()
    func measure(_ name: String) throws -> Phase {
      let beep = ((monotonicSeconds() + 0.4) / 2).rounded(.up) * 2
      let tone = player.play(1000, seconds: 0.1, at: Int64((beep + 0.3) * 1e9))
      var flashes: [Double] = []
      for _ in 0..<4 {
        flashes.append(Double(try client.tell("flash")) / 1e9 - epoch)
        // A flash is white for 200 ms: this is the frame that is black again. The next is no sooner than a frame is due.
        let black = Timestamp(nanoseconds: Int64(((flashes.last ?? 0) + 0.2) * 1e9))
        try control.wait(forFrameAt: black)
        try control.wait(until: black + 80_000_000)
      }
      let heard = Double(try player.heard(tone)) / 1e9 - epoch
      // What a server still has of it is given.
      try control.wait(until: Timestamp(nanoseconds: Int64((heard + 0.7) * 1e9)))
      return Phase(name: name, flashes: flashes, beep: beep - epoch, tone: heard)
    }
    var phases = [try measure("at the start")]
    for _ in 0..<20 {
      let pause = try control.tell(.pause)
      try control.wait(until: pause + 10_000_000)
      try control.wait(forFrameAt: try control.tell(.resume))
    }
    phases.append(try measure("after 20 pauses"))
    for fault in [ClockedDevice.Fault.stall, .vanish] {
      let count = try device.heard().count
      try device.begin(fault)
      try control.wait(until: Timestamp(nanoseconds: Int64((monotonicSeconds() - epoch + 1) * 1e9)))
      device.end(fault)
      try waitUntil("sound again") { try device.heard().count > count && device.heard().last?.end == nil }
      phases.append(try measure("after a second of \(fault)"))
    }
    func switches() throws -> Int {
      try rig.events(recording.id).count { $0.text?.hasSuffix("as was chosen.") == true }
    }
    try server.control("set-default-sink", "other")
    try waitUntil("the switch") { try switches() == 1 }
    // Played before, the server would have moved it to the new output.
    player = try TimedPlayer(server, sink: "other")
    phases.append(try measure("after the server's switch"))
    let isBusy = busy.seconds > Self.idleWait
    try recording.stop()
    withExtendedLifetime(reader) {}
    let gaps = try rig.events(recording.id).compactMap(\.gap)

    let file = rig.media(recording.id)
    let shown = try flashes(file)
    let sounds = try (application: MediaFile.sound(file, track: 1), microphone: MediaFile.sound(file, track: 2))
    for phase in phases {
      let picture = phase.flashes.compactMap { flash in
        shown.map { $0 - flash * 1000 }.first { $0 > -100 && $0 < 200 }
      }
      // A machine that is put aside shows a flash late, and never early: the best of them tells.
      let best = try #require(picture.min(), "\(phase)")
      #expect(picture.allSatisfy { $0 > -10 }, "\(phase): \(picture)")
      for (track, sound, time) in [
        ("microphone", sounds.microphone, phase.beep), ("application", sounds.application, phase.tone),
      ] {
        guard let late = lateness(sound, at: time) else {
          // A machine that left the recorder no turn for half a second has it say so.
          let isTold = gaps.contains {
            $0.track == track && $0.start.seconds < time + 0.1 && time - 0.1 < $0.end.seconds
          }
          if !isTold || !isBusy { Issue.record("\(phase): no \(track); \(gaps); \(try rig.keep(recording.id))") }
          continue
        }
        #expect(
          abs(late) <= 20 && abs(best - late) <= 20, "\(phase): flashes \(picture), \(track) \(late) ms late")
      }
    }
  }

  /// Case A01.
  @Test func devicesThatDriftApartStayInStep() throws {
    let (fast, slow) = try (ClockedDevice(partsPerMillion: 200), ClockedDevice(partsPerMillion: -200))
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: fast.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let peer = Self.seconds < 60 ? nil : try Peer(rig)
    let recording = try rig.record([
      "--no-cursor", "--audio-codec", "flac", "--app-audio=alsa:\(fast.pcm)", "--microphone=alsa:\(slow.pcm)",
    ])
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    var flashed: [Double] = []
    for second in 1...Self.seconds {
      try waitUntil("the next second") { monotonicSeconds() >= epoch + Double(second) }
      flashed.append(Double(try client.tell("flash")) / 1e9)
    }
    // The last flash is in every file.
    if peer != nil { try waitUntil("its frame") { monotonicSeconds() >= (flashed.last ?? 0) + 0.5 } }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    #expect(try rig.manifest(recording.id).segments.count == 1)
    for (track, device) in [(1, fast), (2, slow)] {
      let sound = try MediaFile.sound(rig.media(recording.id), track: track)
      let end = min(epoch + Double(sound.count) / 48_000, try device.heard().last?.end ?? 0)
      // What a device was asked for too late, on a busy machine, it has not given.
      let heard = try device.heard().map { (start: $0.start, end: min(end, $0.end ?? end)) }
      let beeps = stride(from: (epoch / 2).rounded(.up) * 2, to: end, by: 2).filter { time in
        time - epoch > 0.3 && heard.contains { $0.start < time - 0.3 && time + 0.3 < $0.end }
      }
      let late = beeps.map { (time: $0 - epoch, late: lateness(sound, at: $0 - epoch)) }
      let missing = late.filter { $0.late == nil }.map(\.time)
      // After a hole a device's place is told by one look at its clock, which a busy machine may spoil.
      let wrong = late.filter { beep in
        let isSettled = !heard.dropFirst().contains { (0..<5).contains(beep.time + epoch - $0.start) }
        return beep.late.map { abs($0) >= (isSettled ? 5 : 20) } ?? false
      }
      #expect(missing.isEmpty && wrong.isEmpty, "track \(track): missing \(missing), wrong \(wrong), given \(heard)")
      #expect(beeps.count >= Self.seconds / 2 - 1 - heard.count, "track \(track): \(heard)")
      if !missing.isEmpty || !wrong.isEmpty { print("kept: \(try rig.keep(recording.id))") }
      if Self.seconds >= 60 {
        let found = late.compactMap(\.late)
        print("track \(track): \(found.count) beeps, \(found.min() ?? 0) to \(found.max() ?? 0) ms late")
      }
    }
    guard let peer else { return }
    // One for both, so that both are held against the same truth.
    let beep = ((flashed.first ?? 0) / 2).rounded(.up) * 2 + 2
    try compare("recorder", rig.media(recording.id), track: 1, flashed, beep: beep)
    try compare("ffmpeg", peer.stop(), track: 0, flashed, beep: beep)
  }

  /// ffmpeg's x11grab with an ALSA device of its own, beside the recording. It opens one after the other and has each begin at
  /// 0: its sound is early by what lies between, which on a busy machine is more than half a second.
  private struct Peer {
    private let file: String
    private let process: ChildProcess
    private let device: ClockedDevice

    init(_ rig: RecorderRig) throws {
      device = try ClockedDevice(partsPerMillion: 200)
      file = rig.folder.file("peer.mkv")
      let display = try #require(rig.display).name
      // The device delivers floats alone, which ffmpeg takes when it is told so before the device.
      let words =
        "ffmpeg -nostdin -v error -f x11grab -framerate 30 -video_size 320x240 -i \(display) -thread_queue_size 1024 -f alsa -c:a pcm_f32le -i \(device.pcm) -preset ultrafast -c:a flac \(file)"
      process = try ChildProcess(words.split(separator: " ").map(String.init), environment: rig.environment)
    }

    /// Ends it.
    /// - Returns: its file.
    func stop() throws -> String {
      process.signal(SIGINT)
      let result = try process.wait()
      guard access(file, F_OK) == 0 else { throw TestFailure("ffmpeg: \(result.errorText)") }
      return file
    }
  }
}
