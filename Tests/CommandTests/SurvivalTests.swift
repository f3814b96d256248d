import Glibc
import SessionModel
import TestSupport
import Testing

/// Recordings that go on through what a real desktop does to them, and say so.
@Suite(.serialized) struct SurvivalTests {
  private static let exact = ["--lossless", "--no-cursor"]

  /// Waits until the recording has an event that `condition` holds for.
  private func event(
    _ what: String, _ rig: RecorderRig, _ recording: RecorderRig.Recording, where condition: (Event) -> Bool
  ) throws -> Event {
    var found: Event?
    try waitUntil(what, seconds: 30) {
      guard recording.process.isRunning else { throw TestFailure("record ended: \(recording.process.errorsSoFar)") }
      found = try rig.events(recording.id).first(where: condition)
      return found != nil
    }
    return try #require(found)
  }

  /// Waits until the file has a frame from after now.
  private func settle(_ rig: RecorderRig, _ recording: RecorderRig.Recording) throws {
    let epoch = try rig.manifest(recording.id).clock.monotonic
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let time = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - epoch
    _ = try event("a sign of life", rig, recording) { $0.kind == .alive && $0.time.nanoseconds > time + 100_000_000 }
  }

  private func stop(_ recording: RecorderRig.Recording) throws -> ChildProcess.Result {
    recording.process.signal(SIGINT)
    return try recording.process.wait()
  }

  /// Which of the distinct pixels at `places` the pictures show, in order, repetitions left out.
  private func states(_ file: String, _ size: PixelSize, _ places: [(x: Int, y: Int)]) throws -> [[UInt32]] {
    var states: [[UInt32]] = []
    for picture in try MediaFile.pictures(file, PixelRect(size)) {
      let state = places.map { place in
        let at = (place.y * size.width + place.x) * 4
        return UInt32(picture[at + 2]) << 16 | UInt32(picture[at + 1]) << 8 | UInt32(picture[at])
      }
      if states.last != state { states.append(state) }
    }
    return states
  }

  @Test func theRootTakesOtherSizes() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "102030", "--geometry", "640x480"])
    let recording = try rig.record(Self.exact + ["--fps", "60"])
    let sizes = [PixelSize(width: 321, height: 241), PixelSize(width: 640, height: 480)]
    for (index, size) in sizes.enumerated() {
      try settle(rig, recording)
      try display.resize(to: size)
      _ = try event("the change", rig, recording) { $0.kind == .geometry && $0.to?.size == size }
      try client.tell("color \(index == 0 ? "405060" : "708090")")
    }
    try settle(rig, recording)
    #expect(try stop(recording).ending == .exit(0))
    let manifest = try rig.manifest(recording.id)
    #expect(manifest.tracks.first?.size == PixelSize(width: 640, height: 480))
    #expect(manifest.segments.count == 1)
    // 321x241 in the middle of 640x480, on even pixels: 158,118. Just inside and just outside its corners.
    let places = [(158, 118), (157, 118), (478, 358), (479, 359), (0, 0)]
    let seen = try states(rig.media(recording.id), PixelSize(width: 640, height: 480), places)
    let small: [UInt32] = [0x405060, 0, 0x405060, 0, 0]
    #expect(seen.first == [UInt32](repeating: 0x102030, count: 5))
    #expect(seen.contains(small))
    #expect(seen.last == [UInt32](repeating: 0x708090, count: 5))
    // Nothing is ever stretched or torn: each state is one of these, in a colour before or after it was changed.
    let letterboxed = seen.filter { $0[1] == 0 }
    #expect(letterboxed.allSatisfy { $0[0] == $0[2] && $0[3] == 0 && $0[4] == 0 })
    let events = try rig.events(recording.id).filter { $0.kind == .geometry && $0.window == nil }
    #expect(events.map(\.from?.size) == [PixelSize(width: 640, height: 480), sizes[0]])
    #expect(events.map(\.to?.size) == sizes)
  }

  @Test(arguments: [true, false]) func aWindowIsFittedOrCropped(fits: Bool) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["bars", "--geometry", "160x80+10+10", "--title", "Bars"])
    let recording = try rig.record(
      ["window:title=bars", "--on-resize", fits ? "fit" : "crop"] + Self.exact)
    try settle(rig, recording)
    try client.tell("resize 320 160")
    if fits { _ = try event("the change", rig, recording) { $0.to?.size == PixelSize(width: 320, height: 160) } }
    try settle(rig, recording)
    #expect(try stop(recording).ending == .exit(0))
    let size = PixelSize(width: 160, height: 80)
    #expect(try rig.manifest(recording.id).tracks.first?.size == size)
    // The middle of each bar: all eight are there when the window is fitted, the first four when it is cropped.
    let places = (0..<8).map { (x: $0 * 20 + 10, y: 40) }
    let seen = try states(rig.media(recording.id), size, places)
    let bars = PatternLayout.bars
    #expect(seen.first == bars)
    #expect(seen.last == (fits ? bars : (0..<8).map { bars[$0 / 2] }))
  }

  @Test func aWindowThatIsClosedIsFollowedByTheNext() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    let first = try PatternClient(
      on: display, ["color", "--color", "C02030", "--geometry", "100x80", "--class", "App"])
    let recording = try rig.record(["window:class=app", "--on-close", "wait"] + Self.exact)
    try settle(rig, recording)
    try first.tell("quit")
    _ = try event("the closing", rig, recording) { $0.kind == .warning }
    try settle(rig, recording)
    let next = try PatternClient(
      on: display, ["color", "--color", "30C020", "--geometry", "50x80+200+100", "--class", "App"])
    let found = try event("the next window", rig, recording) { $0.kind == .source && $0.window != nil }
    try settle(rig, recording)
    let result = try stop(recording)
    #expect(result.ending == .exit(0))
    #expect(result.errorText.contains("The recorded window was closed; one that matches is waited for."))
    #expect(found.window?.id == next.window)
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(gaps.count == 1)
    #expect(gaps.first?.track == "video" && gaps.first?.reason == "the window was closed")
    #expect(gaps.first.map { $0.end - $0.start > 0 } == true)
    let size = PixelSize(width: 100, height: 80)
    // The next one is half as wide: it stands in the middle, from 24 (an even pixel) to 74.
    let seen = try states(rig.media(recording.id), size, [(0, 0), (24, 40), (73, 40), (74, 40)])
    #expect(seen.first == [0xC02030, 0xC02030, 0xC02030, 0xC02030])
    #expect(seen.last == [0, 0x30C020, 0x30C020, 0])
  }

  @Test func aWindowIsWaitedFor() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let process = try ChildProcess(
      [builtProgram("recorder"), "record", "window:title=late", "--wait", "--duration", "200ms"] + Self.exact,
      environment: rig.environment)
    try waitUntil("the waiting") { process.errorsSoFar.contains("Waiting for window:title=late.") }
    #expect(process.outputSoFar == "")
    let client = try PatternClient(
      on: display, ["color", "--color", "C02030", "--geometry", "64x48", "--title", "Late"])
    let result = try process.wait()
    #expect(result.ending == .exit(0))
    let id = try #require(SessionID(result.text.split(separator: "\n").first ?? ""))
    #expect(try rig.manifest(id).source.window?.id == client.window)
  }

  @Test func givingUpTheWaitLeavesNothing() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let process = try ChildProcess(
      [builtProgram("recorder"), "record", "window:title=never", "--wait"], environment: rig.environment)
    try waitUntil("the waiting") { process.errorsSoFar.contains("Waiting for") }
    process.signal(SIGINT)
    #expect(try process.wait().ending == .signal(SIGINT))
    #expect(access(rig.archive + "/sessions", F_OK) != 0)
  }

  @Test func aHiddenWindowIsAGap() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "C02030", "--geometry", "64x48", "--title", "W"])
    let recording = try rig.record(["window:title=W"] + Self.exact)
    try settle(rig, recording)
    try client.tell("unmap")
    _ = try event("the hiding", rig, recording) { $0.kind == .source }
    try client.tell("map")
    _ = try event("the gap", rig, recording) { $0.kind == .gap }
    try client.tell("unmap")
    _ = try event("the second hiding", rig, recording) { event in
      event.kind == .source && event.text?.contains("hidden") == true
        && (try? rig.events(recording.id).count { $0.kind == .source }) == 3
    }
    #expect(try stop(recording).ending == .exit(0))
    // The last gap ends with the recording.
    let gaps = try rig.events(recording.id).compactMap(\.gap)
    #expect(gaps.map(\.reason) == ["the window is hidden", "the window is hidden"])
    #expect(gaps.last?.end == (try rig.manifest(recording.id).end?.time))
    #expect(try states(rig.media(recording.id), PixelSize(width: 64, height: 48), [(5, 5)]) == [[0xC02030]])
  }

  @Test func aStoppedServerIsAGapAndTheRecordingGoesOn() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "C02030"])
    let recording = try rig.record(Self.exact)
    try settle(rig, recording)
    let epoch = try rig.manifest(recording.id).clock.monotonic
    func now() -> Int64 { Int64(monotonicSeconds() * 1e9) - epoch }
    let stopped = now()
    display.server.signal(SIGSTOP)
    let warning = try event("that it stands", rig, recording) { $0.kind == .warning }
    let continued = now()
    display.server.signal(SIGCONT)
    let event = try event("the gap", rig, recording) { $0.kind == .gap }
    let drawn = try client.tell("color 30C020") - epoch
    try settle(rig, recording)
    #expect(try stop(recording).ending == .exit(0))
    let gap = try #require(event.gap)
    #expect(gap.track == "video" && gap.reason == "grab stalled")
    // It begins with the last sign of life from before, which is half a second old, or a little more on a busy machine.
    #expect(gap.start.nanoseconds >= stopped - 2_500_000_000 && gap.start < warning.time)
    #expect(gap.end.nanoseconds >= continued)
    // What was drawn afterwards has its own time.
    #expect(try MediaFile.times(rig.media(recording.id)).contains { Int64($0) * 1_000_000 >= drawn - 1_000_000 })
    let seen = try states(rig.media(recording.id), PixelSize(width: 320, height: 240), [(5, 5)])
    #expect(seen == [[0xC02030], [0x30C020]])
  }

  @Test func aRecordingOfAStoppedServerIsEnded() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "C02030"])
    let recording = try rig.record(Self.exact)
    try settle(rig, recording)
    display.server.signal(SIGSTOP)
    _ = try event("that it stands", rig, recording) { $0.kind == .warning }
    let result = try stop(recording)
    display.server.signal(SIGCONT)
    #expect(result.ending == .exit(0))
    #expect(try rig.manifest(recording.id).state == .finished)
    let gap = try #require(try rig.events(recording.id).compactMap(\.gap).first)
    #expect(gap.reason == "grab stalled")
    #expect(try states(rig.media(recording.id), PixelSize(width: 320, height: 240), [(5, 5)]) == [[0xC02030]])
    withExtendedLifetime(client) {}
  }

  @Test func excludedWindowsAreNowhereInTheArchive() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let ground = try PatternClient(on: display, ["color", "--color", "102030"])
    let secret = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--title", "Geheimnis 17", "--geometry", "90x70", "--unmapped"])
    let recording = try rig.record(Self.exact + ["--exclude", "title~=Geheimnis", "--exclude", "class=vault"])
    for round in 0..<40 {
      for command in [
        "map", "move \(round * 37 % 300) \(round * 53 % 200)", "title Geheimnis \(round)", "focus", "unmap",
      ] {
        try secret.tell(command)
        try ground.tell("rect 40\(round + 10)60 20x20+\(round * 7)+\(round * 5)")
      }
    }
    try settle(rig, recording)
    #expect(try stop(recording).ending == .exit(0))
    let pictures = try MediaFile.pictures(rig.media(recording.id), PixelRect(x: 0, y: 0, width: 320, height: 240))
    #expect(pictures.count > 10)
    for (index, picture) in pictures.enumerated() {
      let leaked = stride(from: 0, to: picture.count, by: 4).contains { at in
        picture[at] == 0xFF && picture[at + 1] == 0 && picture[at + 2] == 0xFF
      }
      #expect(!leaked, "frame \(index)")
    }
    // Something was blanked at some time.
    #expect(
      pictures.contains { picture in
        stride(from: 0, to: picture.count, by: 4).contains {
          picture[$0] == 0 && picture[$0 + 1] == 0 && picture[$0 + 2] == 0
        }
      })
    let found = try run(["grep", "-rlai", "geheimnis", rig.archive])
    #expect(found.text == "")
    let kept = try rig.manifest(recording.id).options.exclusions
    #expect(kept == [.titlePattern("…"), .className("vault")])
  }

  @Test func anExcludedWindowIsNotRecorded() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(
      on: try #require(rig.display), ["color", "--title", "Geheimnis", "--geometry", "60x60"])
    let result = try rig.run(["record", "window:\(client.window)", "--exclude", "title~=Geh"])
    #expect(result.status == 64)
    #expect(try rig.run(["record", "--exclude", "pid=1"]).status == 64)
  }
}
