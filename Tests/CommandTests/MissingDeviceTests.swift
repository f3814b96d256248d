import Control
import Glibc
import SessionModel
import TestSupport
import Testing

/// Case A07: a device that is missing at the start is no reason not to record. The recording says so at once, is silent,
/// and has the device's sound in its place from the moment that it is there.
@Suite(.serialized) struct MissingDeviceTests {
  /// What is missing.
  enum Missing: CaseIterable, Sendable { case source, sourceOnPipeWire, application, pcm, server }

  /// A missing device: how it is asked for, and what is said of it.
  private struct Wanted {
    let options: [String]
    let input: ControlRequest.Input
    let sentence: String
  }

  private func wanted(_ missing: Missing, _ device: ClockedDevice) -> Wanted {
    switch missing {
    case .source, .sourceOnPipeWire:
      Wanted(
        options: ["--app-audio=pulse:stick.monitor", "--microphone=pulse:microphone"], input: .application,
        sentence:
          "There is no sound device pulse:stick.monitor; there are pulse:desktop.monitor, pulse:feed.monitor and "
          + "pulse:microphone. The application sound is silent until it is there.")
    case .application:
      Wanted(
        options: ["--app-audio=app:Player", "--microphone=pulse:microphone"], input: .application,
        sentence: "app:Player plays nothing yet. It is recorded as soon as it does.")
    case .pcm:
      Wanted(
        options: ["--app-audio", "--microphone=alsa:\(device.pcm)"], input: .microphone,
        sentence: "There is no sound device alsa:clocked:")
    case .server:
      Wanted(
        options: ["--app-audio=pulse:desktop.monitor", "--microphone=pulse:microphone"], input: .application,
        sentence: "No sound server answers (Connection refused). The application sound is silent until it is there.")
    }
  }

  /// By how many seconds the tone that belongs at `time` (seconds of the file) comes late; nil when there is none.
  private func lateness(_ sound: [Float], at time: Double) -> Double? {
    let first = max(0, Int((time - 0.25) * 48_000))
    let part = Array(sound[min(first, sound.count)..<min(sound.count, first + 24_000)])
    return onset(in: part, above: 0.1).map { Double($0) / 48_000 - 0.25 }
  }

  @Test(arguments: Missing.allCases) func itIsRecordedFromItsAppearanceOn(missing: Missing) throws {
    let (folder, device) = try (TemporaryFolder(), ClockedDevice())
    try device.begin(.vanish)
    let kind = missing == .sourceOnPipeWire ? SoundServer.Kind.pipeWire : .pulseAudio
    var server = try missing == .server ? nil : SoundServer(kind, folder: folder)
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "320x240"),
      environment: device.environment.merging(["PULSE_SERVER": SoundServer.address(kind, in: folder)]) { $1 })
    let wanted = wanted(missing, device)
    let recording = try rig.record(["--no-cursor", "--audio-codec", "pcm"] + wanted.options)
    let epoch = Double(try rig.manifest(recording.id).clock.monotonic) / 1e9
    var control = try rig.connect()
    func goOn(for seconds: Double) throws {
      try control.wait(until: Timestamp(nanoseconds: Int64((monotonicSeconds() - epoch + seconds) * 1e9)))
    }
    func told(_ kind: Event.Kind) throws -> [Event] { try rig.events(recording.id).filter { $0.kind == kind } }

    // At once, everywhere.
    try waitUntil("the word of it") { recording.process.errorsSoFar.contains(wanted.sentence) }
    let warning = try #require(try told(.warning).first { $0.text?.hasPrefix(wanted.sentence) == true })
    #expect(warning.time == .zero)
    let status = try #require(try control.ask(ControlRequest(.status)).status)
    let stage = try #require(status.stages.first { $0.name == wanted.input.rawValue })
    #expect(stage.state == (missing == .application ? .ok : .lost))
    #expect(status.state == (missing == .application ? .recording : .degraded))
    if missing != .application { #expect(status.message == warning.text) }

    try goOn(for: 0.7)
    let busy = ProcessorWait(of: [recording.process.pid])
    let before = try told(.device).count
    var reader: ChildProcess?
    switch missing {
    case .source, .sourceOnPipeWire: reader = try #require(server).addOutput("stick")
    case .application: break
    case .pcm: device.end(.vanish)
    case .server: server = try SoundServer(folder: folder)
    }
    let back = monotonicSeconds() - epoch
    let player =
      try missing == .pcm
      ? nil : TimedPlayer(#require(server), sink: [.source, .sourceOnPipeWire].contains(missing) ? "stick" : "desktop")
    try waitUntil("the word that it is there") { try told(.device).count > before }
    let bound = back + 0.2 + busy.seconds
    let time: Double
    if let player {
      let tone = player.play(1000, at: Int64((monotonicSeconds() + 0.7) * 1e9))
      time = Double(try player.heard(tone)) / 1e9 - epoch
    } else {
      time = ((monotonicSeconds() + 0.4) / 2).rounded(.up) * 2 - epoch
    }
    try control.wait(until: Timestamp(nanoseconds: Int64((time + 0.7) * 1e9)))
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    withExtendedLifetime((reader, server)) {}

    let file = rig.media(recording.id)
    let length = Int((try rig.manifest(recording.id).duration.seconds * 48_000).rounded())
    for track in 0..<3 { #expect(abs(try MediaFile.soundFrames(file, track: track) - length) <= 1) }
    let sound = try MediaFile.sound(file, track: wanted.input == .application ? 1 : 2)
    let late = try #require(lateness(sound, at: time))
    #expect(abs(late) < 0.02, "\(time)")
    let gaps = try rig.events(recording.id).compactMap(\.gap).filter { $0.track == wanted.input.rawValue }
    guard missing != .application else {
      // An application that plays nothing is no device that is missing.
      #expect(gaps.isEmpty && sound[..<Int((time - 0.02) * 48_000)].allSatisfy { $0 == 0 }, "\(gaps)")
      #expect(try told(.device).last?.text == "The application sound is recorded from app:Player.")
      return
    }
    let gap = try #require(gaps.first)
    #expect(gaps.count == 1 && gap.start == .zero && gap.reason == "the device was not there", "\(gaps)")
    #expect(gap.end.seconds <= bound, "\(gap): there at \(back), until \(bound)")
    #expect(sound[..<Int((gap.end.seconds - 0.002) * 48_000)].allSatisfy { $0 == 0 })
  }

  @Test func itIsHeldAndSavedFromItsAppearanceOn() throws {
    let device = try ClockedDevice()
    try device.begin(.vanish)
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: device.environment)
    let capture = try HeldCapture(
      rig, span: "30s", ["--no-cursor", "--audio-codec", "pcm", "--microphone=alsa:\(device.pcm)"])
    #expect(try capture.status().stages.first { $0.name == "microphone" }?.state == .lost)
    #expect(try capture.status().message?.hasPrefix("There is no sound device alsa:clocked:") == true)
    try capture.waitUntilHeld(seconds: 0.7)
    device.end(.vanish)
    try waitUntil("sound") { try capture.status().stages.first { $0.name == "microphone" }?.state == .ok }
    let beep = ((monotonicSeconds() + 0.4) / 2).rounded(.up) * 2
    try waitUntil("the beep") { monotonicSeconds() > beep + 0.6 }
    let id = try capture.keep("save")
    let epoch = Double(try rig.manifest(id).clock.monotonic) / 1e9
    let sound = try MediaFile.sound(rig.media(id))
    let late = try #require(lateness(sound, at: beep - epoch))
    #expect(abs(late) < 0.02)
    let gap = try #require(try rig.events(id).compactMap(\.gap).first)
    #expect(gap.start == .zero && gap.reason == "the device was not there")
    #expect(sound[..<Int((gap.end.seconds - 0.002) * 48_000)].allSatisfy { $0 == 0 })
  }

  @Test(arguments: ["--app-audio=app:Player", "--microphone=pulse:nonesuch", "--microphone=alsa:nonesuch"])
  func aStrictRecordingDoesNotBeginWithoutADevice(option: String) throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: server.environment)
    let result = try rig.run(["record", "--strict", option, "--duration", "0.3"])
    guard !option.contains("app:") else {
      // It may begin to play at any time.
      #expect(result.ending == .exit(0) && result.errorText.contains("app:Player plays nothing yet"))
      return
    }
    #expect(result.ending == .exit(ExitCode.unavailable.rawValue))
    let device = option.drop { $0 != "=" }.dropFirst()
    #expect(
      result.errorText.hasPrefix("recorder: There is no sound device \(device); there are "), "\(result.errorText)")
    #expect(result.errorText.split(separator: "\n").count == 1 && result.text == "", "\(result.errorText)")
    #expect(try run(["find", rig.archive, "-name", "manifest.json"]).text == "")
  }
}
