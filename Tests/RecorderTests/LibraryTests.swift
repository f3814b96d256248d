import Archive
import Control
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Recorder

/// The library as an embedding program uses it.
@Suite(.serialized) struct LibraryTests {
  @Test func oneCallStartsAndStopsAndWhatIsSoAlreadyChangesNothing() async throws {
    let rig = try LibraryRig()
    #expect(rig.recorder.state == CaptureState(.idle))
    #expect(try await rig.recorder.setScreenShare(enabled: false) == nil)
    let first = try #require(try await rig.recorder.setScreenShare(enabled: true))
    #expect(first.end == nil)
    // Its first frame is on disk.
    #expect(try rig.reader(first).manifest().state == .recording)
    let again = try await rig.recorder.setScreenShare(enabled: true, options: ScreenShareCaptureOptions(fps: 7))
    #expect(again == first)
    #expect(rig.recorder.status.state.session == first)
    let ended = try #require(try await rig.recorder.setScreenShare(enabled: false))
    #expect(ended.id == first.id && ended.folder == first.folder)
    #expect(ended.end?.reason == "stopped" && ended.end?.error == nil)
    #expect(try await rig.recorder.setScreenShare(enabled: false) == nil)
    #expect(try rig.sessions() == [first.id])
    let manifest = try rig.reader(first).manifest()
    #expect(manifest.state == .finished)
    #expect(ended.end?.duration == .nanoseconds(manifest.duration.nanoseconds))
    #expect(manifest.options.video.framesPerSecond == 30)
    let states = await rig.close()
    #expect(states.map(\.phase) == [.idle, .recording, .stopping, .finished])
    #expect(states.map { $0.session?.id } == [nil, first.id, first.id, first.id])
    #expect(states.last?.session == ended)
    // Closed, it takes nothing more and says so.
    let error = await #expect(throws: CaptureError.self) { try await rig.recorder.setScreenShare(enabled: true) }
    #expect(error?.code == .busy)
    for await state in rig.recorder.states { #expect(state.phase == .finished) }
  }

  /// A duration that is over before the caller has heard of the beginning.
  @Test func aDurationThatIsOverAtOnceEndsTheRecording() async throws {
    let rig = try LibraryRig { $0.limits.duration = .milliseconds(1) }
    for round in 1...5 {
      _ = try await rig.recorder.setScreenShare(enabled: true)
      try waitUntil("the end") { rig.recorder.state.phase == .finished }
      #expect(try rig.sessions().count == round)
    }
    _ = await rig.close()
  }

  @Test func optionsOfACallAreForItsRecordingAlone() async throws {
    let rig = try LibraryRig(ScreenShareCaptureOptions(dimensions: .h180_169, fps: 12, showCursor: true))
    var own = ScreenShareCaptureOptions(dimensions: .h180_43, fps: 7, showCursor: false)
    own.source = .display(rig.display.name)
    var manifests: [Manifest] = []
    for options in [own, nil] {
      let session = try await rig.recorder.setScreenShare(enabled: true, options: options)
      try await rig.recorder.setScreenShare(enabled: false)
      manifests.append(try rig.reader(session).manifest())
    }
    #expect(manifests.map(\.options.video.framesPerSecond) == [7, 12])
    #expect(manifests.map(\.options.video.showsCursor) == [false, true])
    #expect(manifests.map { $0.options.video.size?.description } == ["240x180", "320x180"])
    #expect(manifests.allSatisfy { $0.options.audio == AudioOptions() })
    _ = await rig.close()
  }

  /// Case A07, of an embedding program.
  @Test func aMissingMicrophoneIsRecordedFromItsAppearanceOn() async throws {
    let device = try ClockedDevice()
    try device.begin(.vanish)
    let rig = try LibraryRig(microphone: MicrophoneCaptureOptions(device: "alsa:\(device.pcm)")) { options in
      (options.startsWithMicrophone, options.recording.audio.codec) = (true, .pcm)
    }
    let session = try await rig.recorder.setScreenShare(enabled: true)
    let silent = try await rig.waitForState { $0.phase == .degraded }
    #expect(silent.message?.hasPrefix("There is no sound device alsa:clocked:") == true, "\(silent)")
    device.end(.vanish)
    _ = try await rig.waitForState { $0.phase == .recording }
    try waitUntil("sound") { try device.heard().first != nil }
    try await rig.recorder.setScreenShare(enabled: false)
    let reader = try rig.reader(session)
    let epoch = Double(try reader.manifest().clock.monotonic) / 1e9
    let gap = try #require(try reader.events().compactMap(\.gap).first { $0.track == "microphone" })
    let heard = try #require(try device.heard().first).start - epoch
    #expect(gap.start == .zero && abs(gap.end.seconds - heard) < 0.02, "\(gap), heard from \(heard) on")
    #expect(
      try reader.events().contains { $0.kind == .device && $0.text == "The microphone is there: \(device.pcm)." })
    _ = await rig.close()
  }

  @Test func whatIsListedCanBeRecorded() async throws {
    let rig = try LibraryRig(size: "640x480")
    let client = try PatternClient(
      on: rig.display, ["bars", "--geometry", "200x100+20+30", "--title", "A listed window"])
    let found = try await CaptureSources.find(on: rig.display.name)
    #expect(found.dimensions == Dimensions(width: 640, height: 480))
    #expect(found.monitors.map(\.dimensions) == [found.dimensions])
    let window = try #require(found.windows.first)
    #expect(window.id == client.window && window.title == "A listed window" && window.isVisible)
    let sources = [
      found.mainDisplay, found.monitors[0].source, window.source, .window(titled: "listed", on: rig.display.name),
    ]
    var manifests: [Manifest] = []
    for source in sources {
      let options = ScreenShareCaptureOptions(source: source)
      let session = try await rig.recorder.setScreenShare(enabled: true, options: options)
      try await rig.recorder.setScreenShare(enabled: false)
      manifests.append(try rig.reader(session).manifest())
    }
    #expect(manifests.map { $0.source.window?.id } == [nil, nil, client.window, client.window])
    let whole = PixelSize(width: 640, height: 480)
    #expect(manifests.map(\.source.rect.size) == [whole, whole, window.size, window.size])
    _ = await rig.close()
  }

  @Test func aDisplayThatHangsIsNotWaitedForByACancelledTask() async throws {
    let display = try VirtualDisplay(size: "320x240")
    display.server.signal(SIGSTOP)
    defer { display.server.signal(SIGCONT) }
    let look = Task { try await CaptureSources.find(on: display.name) }
    look.cancel()
    let result = await look.result
    let error = #expect(throws: CaptureError.self) { try result.get() }
    #expect(error?.code == .cancelled)
  }

  @Test func whatCannotBeginIsSaidAndWishedNoLonger() async throws {
    let rig = try LibraryRig()
    let options = ScreenShareCaptureOptions(source: .display(":no"))
    let error = await #expect(throws: CaptureError.self) {
      try await rig.recorder.setScreenShare(enabled: true, options: options)
    }
    #expect(error?.code == .unavailable && error?.message.contains(":no") == true)
    #expect(rig.recorder.state == CaptureState(.failed, message: error?.message))
    #expect(try await rig.recorder.setScreenShare(enabled: false) == nil)
    let wrong = await #expect(throws: CaptureError.self) {
      try await rig.recorder.setScreenShare(enabled: true, options: ScreenShareCaptureOptions(fps: 0))
    }
    #expect(wrong?.code == .usage)
    #expect(try rig.sessions().isEmpty)
    let none = await #expect(throws: CaptureError.self) { try await rig.recorder.setMicrophone(enabled: true) }
    #expect(none?.code == .usage)
    // The next one begins all the same.
    #expect(try await rig.recorder.setScreenShare(enabled: true) != nil)
    let states = await rig.close()
    #expect(states.map(\.phase) == [.idle, .failed, .failed, .recording, .stopping, .finished])
  }

  @Test func limitsEndARecordingAndALostDisplayDoes() async throws {
    let rig = try LibraryRig { $0.limits.duration = .milliseconds(300) }
    let session = try #require(try await rig.recorder.setScreenShare(enabled: true))
    let ended = try await rig.waitForState { !$0.isCapturing }
    #expect(ended.session?.id == session.id && ended.session?.end?.reason == "duration")
    #expect(ended.session?.end?.duration == .milliseconds(300))
    _ = await rig.close()

    let other = try LibraryRig()
    let first = try await other.recorder.setScreenShare(enabled: true)
    other.display.server.signal(SIGKILL)
    let lost = try await other.waitForState { !$0.isCapturing }
    #expect(lost.phase == .failed && lost.session?.id == first?.id)
    #expect(lost.session?.end?.error?.code == .sourceLost)
    #expect(try other.sessions().count == 1)
    _ = await other.close()
  }

  @Test func aRecordingIsPausedMarkedAndSplit() async throws {
    let rig = try LibraryRig()
    await #expect(throws: CaptureError.self) { try await rig.recorder.pause() }
    let session = try await rig.recorder.setScreenShare(enabled: true)
    let paused = try await rig.recorder.pause()
    #expect(rig.recorder.state.phase == .paused)
    #expect(try await rig.recorder.pause() == paused)
    let resumed = try await rig.recorder.resume()
    let marked = try await rig.recorder.mark("here")
    let split = try await rig.recorder.split()
    try await rig.recorder.setScreenShare(enabled: false)
    #expect(paused < resumed && resumed <= marked && marked <= split)
    let manifest = try rig.reader(session).manifest()
    #expect(manifest.segments.map { Duration.nanoseconds($0.start.nanoseconds) } == [.zero, split])
    let states = await rig.close()
    #expect(states.map(\.phase) == [.idle, .recording, .paused, .recording, .stopping, .finished])
  }

  @Test func presetsAndDefaultsAreThoseOfTheCommandLine() {
    for (name, size) in PixelSize.presets where name.contains("_") {
      #expect(Dimensions.presets[name]?.pixelSize == size, "\(name)")
    }
    #expect(Dimensions.presets.count == PixelSize.presets.count { $0.name.contains("_") })
    let share = ScreenShareCaptureOptions(dimensions: .h1080_169, fps: 15, showCursor: true, appAudio: false)
    var options = RecordingOptions()
    #expect(options.screenShare == ScreenShareCaptureOptions())
    options.screenShare = share
    #expect(options.screenShare == share)
    #expect(options.video.size == PixelSize(width: 1920, height: 1080))
    // A device that was chosen stays chosen while sound is wished.
    options.audio.application = .application(name: "player")
    options.screenShare.appAudio = true
    #expect(options.audio.application == .application(name: "player"))
    options.screenShare.appAudio = false
    #expect(options.audio.application == nil)
  }
}

extension CaptureSources.Window {
  /// What the pattern's window is asked for.
  fileprivate var size: PixelSize { PixelSize(width: 200, height: 100) }
}
