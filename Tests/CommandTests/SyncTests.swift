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

  /// The times, in ms of the file, at which the picture turns white.
  private func flashes(_ file: String) throws -> [Double] {
    let isWhite = try MediaFile.pictures(file, PixelRect(x: 100, y: 100, width: 1, height: 1)).map { $0[0] > 128 }
    let times = try MediaFile.times(file)
    return isWhite.indices.filter { $0 > 0 && isWhite[$0] && !isWhite[$0 - 1] }.map { Double(times[$0]) }
  }

  /// By how many ms a beep that belongs at `time` (seconds of the file) comes late; nil when there is none.
  private func lateness(_ sound: [Float], at time: Double) -> Double? {
    let first = Int((time - 0.25) * 48_000)
    guard first >= 0, first + 24_000 <= sound.count else { return nil }
    return onset(in: Array(sound[first..<first + 24_000]), above: 0.2).map { (Double($0) / 48_000 - 0.25) * 1000 }
  }

  @Test func flashAndBeepAreInStepWhateverCameBefore() throws {
    let device = try ClockedDevice()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: device.environment)
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let recording = try StartedRecording(
      rig, ["--no-cursor", "--audio-codec", "pcm", "--microphone=alsa:\(device.pcm)"])
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    /// Flashes some times and waits for a beep.
    func measure() throws -> (flashes: [Double], beep: Double) {
      let beep = ((monotonicSeconds() + 0.4) / 2).rounded(.up) * 2
      var flashes: [Double] = []
      for _ in 0..<4 {
        usleep(250_000)
        flashes.append(Double(try client.tell("flash")) / 1e9 - epoch)
      }
      try waitUntil("the beep") { monotonicSeconds() > beep + 0.3 }
      return (flashes, beep - epoch)
    }
    var phases = [try measure()]
    for _ in 0..<20 {
      try recording.tell(["pause"])
      try recording.tell(["resume"])
    }
    phases.append(try measure())
    // The device stalls, and is opened anew; then it is away, as one that is switched.
    for fault in [ClockedDevice.Fault.stall, .vanish] {
      let count = try device.heard().count
      try device.begin(fault)
      usleep(1_000_000)
      device.end(fault)
      try waitUntil("sound again") { try device.heard().count > count && device.heard().last?.end == nil }
      phases.append(try measure())
    }
    try recording.stop()
    let shown = try flashes(rig.media(recording.id))
    let sound = try MediaFile.sound(rig.media(recording.id))
    for (index, phase) in phases.enumerated() {
      let picture = phase.flashes.compactMap { flash in
        shown.map { $0 - flash * 1000 }.first { $0 > -100 && $0 < 200 }
      }
      // A machine that is put aside shows a flash late, and never early: the best of them tells.
      let best = try #require(picture.min(), "phase \(index)")
      #expect(picture.allSatisfy { $0 > -10 }, "phase \(index): \(picture)")
      let beep = try #require(lateness(sound, at: phase.beep), "phase \(index)")
      #expect(abs(beep) <= 20 && abs(best - beep) <= 20, "phase \(index): flash \(picture), beep \(beep)")
    }
  }

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
    while monotonicSeconds() < epoch + Double(Self.seconds) {
      usleep(1_000_000)
      flashed.append(Double(try client.tell("flash")) / 1e9)
    }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    for track in 1...2 {
      let sound = try MediaFile.sound(rig.media(recording.id), track: track)
      let beeps = (1...Self.seconds).map { (epoch / 2).rounded(.down) * 2 + Double($0 * 2) - epoch }
      let late = beeps.compactMap { lateness(sound, at: $0) }
      #expect(late.count >= Self.seconds / 2 - 1)
      #expect(late.allSatisfy { abs($0) < 5 }, "track \(track): \(late)")
      if Self.seconds >= 60 {
        print("track \(track): \(late.count) beeps, \(late.min() ?? 0) to \(late.max() ?? 0) ms late")
      }
    }
    guard let peer else { return }
    let file = try peer.stop()
    let (shown, sound) = try (flashes(file), MediaFile.sound(file))
    let picture = zip(shown, flashed.suffix(shown.count)).map { $0 - $1 * 1000 }.sorted()
    // Its file's time 0 is known from its picture alone.
    let start = -picture[picture.count / 2] / 1000
    let beeps = (0...Self.seconds / 2 + 2).map { (start / 2).rounded(.up) * 2 + Double($0 * 2) - start }
    let late = beeps.compactMap { lateness(sound, at: $0) }
    print("ffmpeg: \(late.count) beeps, \(late.min() ?? 0) to \(late.max() ?? 0) ms late by its picture")
  }

  /// ffmpeg's x11grab with an ALSA device of its own, beside the recording.
  private struct Peer {
    private let file: String
    private let process: ChildProcess
    private let device: ClockedDevice

    init(_ rig: RecorderRig) throws {
      device = try ClockedDevice(partsPerMillion: 200)
      file = rig.folder.file("peer.mkv")
      process = try ChildProcess(
        [
          "ffmpeg", "-nostdin", "-v", "error", "-f", "x11grab", "-framerate", "30", "-video_size", "320x240", "-i",
          try #require(rig.display).name, "-f", "alsa", "-i", device.pcm, "-preset", "ultrafast", "-c:a", "flac", file,
        ], environment: rig.environment)
    }

    /// Ends it.
    /// - Returns: its file.
    func stop() throws -> String {
      process.signal(SIGINT)
      _ = try process.wait()
      return file
    }
  }
}
