import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Case X27, `--on-resize segment`: a size that stays begins a file whose picture has it, and everything that reads sessions reads
/// them.
@Suite(.serialized) struct ResizedFilesTests {
  private static let sizes = [
    PixelSize(width: 200, height: 150), PixelSize(width: 161, height: 93), PixelSize(width: 320, height: 240),
    PixelSize(width: 120, height: 80),
  ]
  private static func color(_ step: Int) -> UInt32 { UInt32(0x40_4040 + step * 0x20_1008) }

  private func client(_ rig: RecorderRig) throws -> PatternClient {
    try PatternClient(
      on: try #require(rig.display), ["color", "--geometry", "\(Self.sizes[0])+20+10", "--class", "Life"])
  }

  /// The session's files, one after the other.
  private func files(_ rig: RecorderRig, _ manifest: Manifest) -> [String] {
    manifest.segments.map { "\(rig.session(manifest.id))/\($0.file)" }
  }

  /// Whether a file has `size` and pictures that are `color` to their edges. Its last ones may show the size that comes next
  /// fitted into its own.
  private func expect(_ file: String, shows color: UInt32, _ size: PixelSize) throws {
    let entries = try MediaFile.entries(file)
    let padded = size.paddedToEven
    #expect(entries["width"] == "\(padded.width)" && entries["height"] == "\(padded.height)")
    let isShown = ExpectedPicture.isShown(color, size, in: try MediaFile.pictures(file, PixelRect(size)), size)
    #expect(isShown, "\(file)")
  }

  @Test func aSizeThatStaysBeginsAFile() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try client(rig)
    let watch = try WatchedRecording(rig, ["window:class=life", "--on-resize", "segment", "--fps", "60"])
    func tell(_ words: [String]) throws { #expect(try rig.run(words).ending == .exit(0)) }
    try watch.show(Self.color(0), in: client)
    for step in 1..<4 {
      // The last one while nothing is recorded.
      if step == 3 { try tell(["pause"]) }
      try client.tell("resize \(Self.sizes[step].width) \(Self.sizes[step].height)")
      if step == 3 { try tell(["resume"]) }
      try watch.event("file \(step + 1)") { $0.kind == .split && $0.text == "\(step + 1)" }
      try watch.show(Self.color(step), in: client)
    }
    // A file that a person asks for has the size that the one before has.
    try tell(["split"])
    try watch.show(Self.color(4), in: client)
    #expect(try watch.stop().ending == .exit(0))

    let manifest = try rig.manifest(watch.recording.id)
    let sizes = Self.sizes + [Self.sizes[3]]
    #expect(manifest.tracks.map(\.size) == [sizes[0]])
    #expect(manifest.segments.map(\.size) == [nil] + sizes.dropFirst().map { $0 })
    #expect(zip(manifest.segments, manifest.segments.dropFirst()).allSatisfy { $0.end == $1.start })
    #expect(manifest.segments.last?.end == manifest.duration)
    for (step, file) in files(rig, manifest).enumerated() {
      try expect(file, shows: Self.color(step), sizes[step])
      // Each begins at once and lasts until the next: the container counts milliseconds.
      let (times, segment) = (try MediaFile.times(file), manifest.segments[step])
      #expect(step == 0 || times.first == 0)
      guard step < 3 else { continue }
      let length = try Int((#require(segment.end) - segment.start + 500_000) / 1_000_000)
      #expect(try abs(#require(times.last) - length) <= 2, "\(file)")
    }
    let changes = try rig.events(watch.recording.id).filter { $0.kind == .geometry && $0.window == nil }
    #expect(changes.map(\.from?.size) == Self.sizes.dropLast())
    #expect(changes.map(\.to?.size) == Array(Self.sizes.dropFirst()))
    let verified = try rig.run(["verify", "last", "--deep"])
    #expect(verified.ending == .exit(0), "\(verified.text)\(verified.errorText)")
    let json = String(decoding: try readFile("\(rig.session(manifest.id))/manifest.json"), as: UTF8.self)
    #expect(try JSONSchema.problems("manifest", [json.replacing("\n", with: " ")]) == [""])
  }

  /// Each window that keeps the focus has a file in its own size, whether it came while all was paused or not; what is to be
  /// scaled up is not once the file is its own.
  @Test func eachWindowThatIsFollowedHasItsFile() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let clients = try [0, 1].map { index in
      try PatternClient(
        on: try #require(rig.display), ["color", "--geometry", "\(Self.sizes[index])+\(20 + 250 * index)+10"])
    }
    try clients[0].tell("focus")
    let watch = try WatchedRecording(rig, ["follow:focus", "--on-resize", "segment", "--upscale", "--fps", "60"])
    try watch.show(Self.color(0), in: clients[0])
    for step in 1..<4 {
      if step == 2 { #expect(try rig.run(["pause"]).ending == .exit(0)) }
      try clients[step % 2].tell("focus")
      if step == 2 { #expect(try rig.run(["resume"]).ending == .exit(0)) }
      try watch.event("file \(step + 1)") { $0.kind == .split && $0.text == "\(step + 1)" }
      try watch.show(Self.color(step), in: clients[step % 2])
    }
    #expect(try watch.stop().ending == .exit(0))
    let manifest = try rig.manifest(watch.recording.id)
    #expect(manifest.tracks.map(\.size) == [Self.sizes[0]] && manifest.source.window?.id == clients[0].window)
    // What the track says is not said again.
    #expect(manifest.segments.map(\.size) == [nil, Self.sizes[1], nil, Self.sizes[1]])
    for (step, file) in files(rig, manifest).enumerated() {
      try expect(file, shows: Self.color(step), Self.sizes[step % 2])
    }
  }

  /// The window that comes after one that was closed has a file in its size; until then the last picture stands.
  @Test func theNextWindowHasItsFile() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try client(rig)
    let watch = try WatchedRecording(rig, ["window:class=life", "--on-close", "wait", "--on-resize", "segment"])
    try watch.show(Self.color(0), in: client)
    try client.tell("quit")
    try watch.event("the closing") { $0.kind == .warning && $0.text?.contains("closed") == true }
    let next = try PatternClient(
      on: try #require(rig.display), ["color", "--geometry", "\(Self.sizes[1])+90+40", "--class", "Life"])
    try watch.event("the second file") { $0.kind == .split }
    try watch.show(Self.color(1), in: next)
    #expect(try watch.stop().ending == .exit(0))
    let manifest = try rig.manifest(watch.recording.id)
    #expect(manifest.segments.map(\.size) == [nil, Self.sizes[1]])
    for (step, file) in files(rig, manifest).enumerated() {
      try expect(file, shows: Self.color(step), Self.sizes[step])
    }
    let gaps = try rig.events(watch.recording.id).compactMap(\.gap)
    #expect(gaps.map(\.reason) == ["the window was closed"])
    #expect(try #require(gaps.first).end < manifest.segments[1].start)
  }

  @Test func aKilledRecordingKeepsItsSizes() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try client(rig)
    let watch = try WatchedRecording(rig, ["window:class=life", "--on-resize", "segment"])
    try watch.show(Self.color(0), in: client)
    try client.tell("resize \(Self.sizes[1].width) \(Self.sizes[1].height)")
    let split = try watch.event("the second file") { $0.kind == .split }
    try watch.show(Self.color(1), in: client)
    try watch.event("two signs of life") { $0.kind == .alive && $0.time > split.time + 2_000_000_000 }
    watch.recording.process.signal(SIGKILL)
    _ = try watch.recording.process.wait()
    #expect(try rig.run(["recover"]).ending == .exit(0))
    let manifest = try rig.manifest(watch.recording.id)
    #expect(manifest.state == .interrupted && manifest.segments.map(\.size) == [nil, Self.sizes[1]])
    for (step, file) in files(rig, manifest).enumerated() {
      try expect(file, shows: Self.color(step), Self.sizes[step])
    }
    let png = rig.folder.file("frame.png")
    #expect(try rig.run(["frame", "last", "--at", "\(manifest.duration)", "-o", png]).ending == .exit(0))
    #expect(try MediaFile.entries(png)["width"] == "161" && MediaFile.entries(png)["height"] == "93")
  }

  /// A size that the encoder refuses is said, and the recording goes on in the one before.
  @Test func aSizeThatTheEncoderRefusesCostsNothing() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(
      on: try #require(rig.display), ["color", "--color", "808080", "--geometry", "176x144", "--class", "Life"])
    // H.263 has five sizes.
    let recording = try rig.record(["window:class=life", "--on-resize", "segment", "--no-cursor", "--codec", "h263"])
    try client.tell("resize 200 150")
    try waitUntil("the refusal") {
      try rig.events(recording.id).contains {
        $0.kind == .warning && $0.text?.contains("The picture keeps its size") == true
      }
    }
    try client.tell("resize 352 288")
    try waitUntil("a size that it takes") { try rig.manifest(recording.id).segments.count == 2 }
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    #expect(result.ending == .exit(0))
    #expect(result.errorText.split(separator: "\n").count { $0.contains("keeps its size") } == 1, "\(result.errorText)")
    #expect(try rig.manifest(recording.id).segments.map(\.size) == [nil, PixelSize(width: 352, height: 288)])
  }

  /// What is held has the sizes that it had: saved and published across a change, and after it.
  @Test(arguments: [false, true]) func whatIsHeldKeepsItsSizes(followsFocus: Bool) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try client(rig)
    let next =
      followsFocus
      ? try PatternClient(on: try #require(rig.display), ["color", "--geometry", "\(Self.sizes[1])+300+200"]) : client
    try client.tell("focus")
    try client.tell("color \(String(Self.color(0), radix: 16))")
    let capture = try HeldCapture(
      rig, span: "60s",
      [followsFocus ? "follow:focus" : "window:class=life", "--on-resize", "segment", "--lossless", "--no-cursor"])
    // A keyframe before the change: the stretch begins in the first size.
    try capture.waitUntilHeld(seconds: 1)
    try next.tell(followsFocus ? "focus" : "resize \(Self.sizes[1].width) \(Self.sizes[1].height)")
    try next.tell("color \(String(Self.color(1), radix: 16))")
    /// What has two files reaches over the change.
    var all = try capture.keep("save")
    try waitUntil("the change") {
      if try rig.manifest(all).segments.count == 2 { return true }
      all = try capture.keep("save")
      return false
    }
    let manifest = try rig.manifest(all)
    #expect(manifest.tracks.map(\.size) == [Self.sizes[0]] && manifest.segments.map(\.size) == [nil, Self.sizes[1]])
    #expect(manifest.segments[0].end == manifest.segments[1].start && manifest.segments[1].end == manifest.duration)
    for (step, file) in files(rig, manifest).enumerated() {
      try expect(file, shows: Self.color(step), Self.sizes[step])
    }
    let verified = try rig.run(["verify", all.description, "--deep"])
    #expect(verified.ending == .exit(0), "\(verified.text)\(verified.errorText)")
    // A keyframe of after the change is where the last moment begins.
    let last = try rig.manifest(try capture.keep("save", ["--last", "1ms"]))
    #expect(last.tracks.map(\.size) == [Self.sizes[1]] && last.segments.map(\.size) == [nil])
    #expect(last.source.window?.id == next.window && last.source.rect.size == Self.sizes[1])
    try expect(rig.media(last.id), shows: Self.color(1), Self.sizes[1])
    // Published with all that is held, it goes on in the second file.
    let published = try capture.keep("publish", ["--last", "60s"])
    try capture.tell(["stop"])
    try waitUntil("its end") { !capture.isRunning }
    let whole = try rig.manifest(published)
    #expect(whole.state == .finished && whole.segments.map(\.size) == [nil, Self.sizes[1]])
    for (step, file) in files(rig, whole).enumerated() { try expect(file, shows: Self.color(step), Self.sizes[step]) }
  }
}
