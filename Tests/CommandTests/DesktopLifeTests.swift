import Glibc
import SessionModel
import TestSupport
import Testing

/// One recording through all that happens to a window and to a screen: one file, the right content in each part, and
/// every change an event.
@Suite(.serialized) struct DesktopLifeTests {
  /// A colour of its own for each step, none of them near black.
  private static func color(_ step: Int) -> UInt32 { UInt32(0x40_4040 + step * 0x03_0507) }

  /// Cases X10 and X27: a window is moved, covered, resized 50 times, minimised, restored, closed and started again.
  @Test(arguments: [false, true]) func aWindowsLife(isDesktop: Bool) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "800x600"))
    let display = try #require(rig.display)
    let manager = isDesktop ? try WindowManager(on: display) : nil
    let compositor = isDesktop ? try Compositor(on: display) : nil
    let canvas = PixelSize(width: 200, height: 150)
    func start() throws -> PatternClient {
      try PatternClient(on: display, ["color", "--geometry", "200x150+100+100", "--class", "Life", "--title", "Life"])
    }
    var client = try start()
    let watch = try WatchedRecording(rig, ["window:class=life", "--on-close", "wait", "--fps", "60"])
    var steps: [(color: UInt32, size: PixelSize)] = []
    func show(_ size: PixelSize) throws {
      steps.append((Self.color(steps.count), size))
      try watch.show(Self.color(steps.count - 1), in: client)
    }
    try show(canvas)
    try client.tell("move 350 250")
    try show(canvas)
    try client.tell("move -60 -40")
    try show(canvas)
    let cover = try PatternClient(on: display, ["color", "--color", "FFFFFF", "--geometry", "800x600"])
    try show(canvas)
    try cover.tell("quit")
    try show(canvas)
    // None is larger than the picture: what is scaled down is not exact.
    let sizes = (0..<50).map { PixelSize(width: 60 + $0 * 37 % 141, height: 50 + $0 * 53 % 101) }
    for size in sizes {
      try client.tell("resize \(size.width) \(size.height)")
      try watch.event("the size \(size)") { $0.window == nil && $0.kind == .geometry && $0.to?.size == size }
      try show(size)
    }
    let last = try #require(sizes.last)
    if isDesktop {
      try run(["xdotool", "windowminimize", "\(client.window)"], environment: display.environment)
    } else {
      try client.tell("unmap")
    }
    try watch.event("the hiding") { $0.kind == .source && $0.text?.contains("hidden") == true }
    if isDesktop {
      try run(["xdotool", "windowactivate", "\(client.window)"], environment: display.environment)
    } else {
      try client.tell("map")
    }
    try watch.event("its return") { $0.kind == .source && $0.text?.contains("there again") == true }
    try show(last)
    let first = client.window
    try client.tell("quit")
    try watch.event("the closing") { $0.kind == .warning && $0.text?.contains("closed") == true }
    client = try start()
    let second = client.window
    try watch.event("the next window") { $0.kind == .source && $0.window?.id == second }
    try show(canvas)
    let result = try watch.stop()
    #expect(result.ending == .exit(0), "\(result.errorText)")

    let manifest = try rig.manifest(watch.recording.id)
    #expect(manifest.segments.count == 1 && manifest.source.window?.id == first)
    #expect(manifest.tracks.first?.size == canvas)
    let events = try rig.events(watch.recording.id)
    let changes = events.filter { $0.kind == .geometry && $0.window == nil }
    #expect(changes.map(\.to?.size) == sizes + [canvas])
    #expect(changes.map(\.from?.size) == [canvas] + sizes)
    // Nothing is missing but what is stated.
    #expect(events.compactMap(\.gap).map(\.reason) == ["the window is hidden", "the window was closed"])
    let pictures = try MediaFile.pictures(watch.media, PixelRect(canvas))
    for (step, (color, size)) in steps.enumerated() {
      let isRight = ExpectedPicture.isShown(color, size, in: pictures, canvas)
      #expect(isRight, "step \(step), \(size)")
    }
    withExtendedLifetime((manager, compositor)) {}
  }

  /// Case X01: the screen takes another size three times at 60 frames a second.
  @Test(arguments: VirtualDisplay.Kind.allCases) func theScreenTakesItsModes(kind: VirtualDisplay.Kind) throws {
    let largest = PixelSize(width: 2560, height: 1440)
    let rig = try RecorderRig(display: VirtualDisplay(kind, size: "\(largest)"))
    let display = try #require(rig.display)
    let canvas = PixelSize(width: 1920, height: 1080)
    try display.resize(to: canvas)
    let client = try PatternClient(on: display, ["color", "--geometry", "\(largest)"])
    let watch = try WatchedRecording(rig, ["--fps", "60"])
    let sizes = [canvas, PixelSize(width: 1024, height: 768), largest, canvas]
    try watch.show(Self.color(0), in: client)
    for (step, size) in sizes.enumerated().dropFirst() {
      try display.resize(to: size)
      try watch.event("the size \(size)") { $0.window == nil && $0.kind == .geometry && $0.to?.size == size }
      try watch.show(Self.color(step), in: client)
    }
    #expect(try watch.stop().ending == .exit(0))
    #expect(try rig.manifest(watch.recording.id).segments.count == 1)
    let changes = try rig.events(watch.recording.id).filter { $0.kind == .geometry && $0.window == nil }
    #expect(changes.map(\.to?.size) == sizes.dropFirst().map { $0 })
    // A row and a column through the middle, which cross every edge: whole pictures are large.
    let (row, column) = (PixelSize(width: canvas.width, height: 1), PixelSize(width: 1, height: canvas.height))
    let rows = try MediaFile.pictures(watch.media, PixelRect(row).offset(x: 0, y: canvas.height / 2))
    let columns = try MediaFile.pictures(watch.media, PixelRect(column).offset(x: canvas.width / 2, y: 0))
    for (step, size) in sizes.enumerated() {
      let (color, fitted) = (Self.color(step), size.fitted(into: canvas))
      // Of a size that is scaled down the ends of the lines are scaled, too.
      let isScaled = fitted != size
      let across = PixelSize(width: isScaled ? size.width : fitted.width, height: 1)
      let down = PixelSize(width: 1, height: isScaled ? size.height : fitted.height)
      let isRight = (
        across: ExpectedPicture.isShown(color, across, in: rows, row),
        down: ExpectedPicture.isShown(color, down, in: columns, column)
      )
      #expect(isRight.across && isRight.down, "step \(step)")
    }
  }

  /// The focus goes from window to window in one recording.
  @Test func theFocusIsFollowed() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let manager = try WindowManager(on: display)
    let canvas = PixelSize(width: 320, height: 240)
    let sizes = [PixelSize(width: 120, height: 80), PixelSize(width: 151, height: 93)]
    let clients = try sizes.enumerated().map { index, size in
      try PatternClient(
        on: display, ["color", "--geometry", "\(size)+\(20 + index * 60)+\(30 + index * 40)", "--title", "W\(index)"])
    }
    let secret = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--geometry", "90x60+180+150", "--title", "Geheim"])
    func activate(_ window: UInt32) throws {
      try run(["xdotool", "windowactivate", "\(window)"], environment: display.environment)
    }
    try activate(clients[0].window)
    let watch = try WatchedRecording(rig, ["follow:focus", "--exclude", "title~=Geheim"])
    try watch.show(Self.color(0), in: clients[0])
    for step in 1..<6 {
      try activate(clients[step % 2].window)
      let window = clients[step % 2].window
      try watch.event("window \(step)") { [rig, watch] event in
        guard event.kind == .source, event.window?.id == window else { return false }
        return (try? rig.events(watch.recording.id).last { $0.kind == .source && $0.window != nil }) == event
      }
      try watch.show(Self.color(step), in: clients[step % 2])
    }
    try activate(secret.window)
    try watch.event("no window") { $0.kind == .source && $0.text?.contains("No window is active") == true }
    try secret.tell("color FF00FF")
    #expect(try watch.stop().ending == .exit(0))
    let manifest = try rig.manifest(watch.recording.id)
    #expect(manifest.source.specification.text == "follow:focus" && manifest.tracks.first?.size == canvas)
    let pictures = try MediaFile.pictures(watch.media, PixelRect(canvas))
    for step in 0..<6 {
      let isRight = ExpectedPicture.isShown(Self.color(step), sizes[step % 2], in: pictures, canvas)
      #expect(isRight, "step \(step)")
    }
    let leaks = pictures.contains { picture in
      stride(from: 0, to: picture.count, by: 4).contains {
        picture[$0] == 0xFF && picture[$0 + 1] == 0 && picture[$0 + 2] == 0xFF
      }
    }
    #expect(!leaks)
    let gap = try #require(try rig.events(watch.recording.id).compactMap(\.gap).last)
    #expect(gap.reason == "no window is active")
    #expect(try run(["grep", "-rlai", "geheim", rig.archive]).text == "")
    withExtendedLifetime(manager) {}
  }
}
