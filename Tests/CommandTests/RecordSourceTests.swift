import Glibc
import SessionModel
import TestSupport
import Testing

/// Each source shows what was asked for, and nothing else. No window manager runs: windows are found without one.
@Suite(.serialized) struct RecordSourceTests {
  private static let red: [UInt8] = [0x30, 0x20, 0xC0]
  private static let green: [UInt8] = [0x30, 0xC0, 0x20]

  /// A display with a red window on the left and a green one on the right of a black root.
  private func rig() throws -> (rig: RecorderRig, red: PatternClient, green: PatternClient) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    let red = try PatternClient(
      on: display,
      ["color", "--color", "c02030", "--geometry", "200x100+20+30", "--title", "Red room", "--class", "Rot"])
    let green = try PatternClient(
      on: display,
      ["color", "--color", "20c030", "--geometry", "101x77+400+200", "--title", "Green room", "--class", "Gruen"])
    return (rig, red, green)
  }

  /// Records `arguments` for a moment without loss.
  /// - Returns: the picture's true size and the colours of its last frame.
  private func colours(_ rig: RecorderRig, _ arguments: [String]) throws -> (size: String, colours: Set<[UInt8]>) {
    let id = try rig.record(seconds: 0.3, arguments + ["--lossless", "--no-cursor"])
    let size = try #require(try rig.manifest(id).tracks.first?.size)
    let pixels = try #require(try MediaFile.pictures(rig.media(id), PixelRect(size)).last)
    return (size.description, Set(stride(from: 0, to: pixels.count, by: 4).map { Array(pixels[$0..<$0 + 3]) }))
  }

  @Test func windowsByIDTitleAndClass() throws {
    let (rig, red, green) = try rig()
    #expect(try colours(rig, ["window:0x\(String(red.window, radix: 16))"]) == ("200x100", [Self.red]))
    #expect(try colours(rig, ["window:\(green.window)"]) == ("101x77", [Self.green]))
    #expect(try colours(rig, ["window:title=green ROOM"]) == ("101x77", [Self.green]))
    #expect(try colours(rig, ["window:class=rot"]) == ("200x100", [Self.red]))
  }

  @Test func theActiveWindow() throws {
    let (rig, red, green) = try rig()
    try green.tell("focus")
    #expect(try colours(rig, ["window:active"]) == ("101x77", [Self.green]))
    try red.tell("focus")
    #expect(try colours(rig, ["window:active"]) == ("200x100", [Self.red]))
  }

  @Test func aRegionPartlyOffTheScreenIsBlackThere() throws {
    let (rig, red, _) = try rig()
    #expect(try colours(rig, ["region:50x50+30+40"]) == ("50x50", [Self.red]))
    try red.tell("move 600 430")
    #expect(try colours(rig, ["region:80x90+610+440"]) == ("80x90", [Self.red, [0, 0, 0]]))
  }

  @Test func aMonitorByItsName() throws {
    let (rig, red, green) = try rig()
    let display = try #require(rig.display)
    try run(["xrandr", "--setmonitor", "RIGHT", "101/30x77/20+400+200", "none"], environment: display.environment)
    let monitor = try colours(rig, ["monitor:RIGHT"])
    #expect(monitor.size == "101x77")
    #expect(monitor.colours == [Self.green])
    let refused = try rig.run(["record", "monitor:LEFT"])
    #expect(refused.ending == .exit(69))
    #expect(refused.errorText.contains("RIGHT"))
    for client in [red, green] { try client.process.stop() }
  }

  /// Case X04.
  @Test func aWindowThatIsNotShownYetIsBlackUntilItIs() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(
      on: try #require(rig.display), ["color", "--color", "c02030", "--geometry", "64x64+10+10", "--unmapped"])
    let recording = try rig.record(
      ["window:0x\(String(client.window, radix: 16))", "--lossless", "--no-cursor"])
    let shown = try client.tell("map")
    try waitUntil("an alive event after the window is shown") {
      let epoch = try rig.manifest(recording.id).clock.monotonic
      return try rig.events(recording.id).contains { $0.kind == .alive && epoch + $0.time.nanoseconds > shown }
    }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().ending == .exit(0))
    let pictures = try MediaFile.pictures(rig.media(recording.id), PixelRect(x: 32, y: 32, width: 1, height: 1))
    #expect(pictures.first.map { Array($0[..<3]) } == [0, 0, 0])
    #expect(pictures.last.map { Array($0[..<3]) } == Self.red)
  }

  @Test func aWindowsDecorationsAreItsManagersFrame() throws {
    let (rig, red, _) = try rig()
    let display = try #require(rig.display)
    let manager = try ChildProcess(["openbox"], environment: display.environment)
    let id = "0x\(String(red.window, radix: 16))"
    try waitUntil("a frame around the window") {
      try run(["xprop", "-id", id, "_NET_FRAME_EXTENTS"], environment: display.environment).text.contains("=")
    }
    let inside = try colours(rig, ["window:\(id)"])
    #expect(inside == ("200x100", [Self.red]))
    let outside = try colours(rig, ["window:\(id)", "--decorations"])
    let size = try #require(PixelSize(outside.size))
    #expect(size.width >= 200 && size.height > 100)
    #expect(outside.colours.count > 1)
    try manager.stop()
  }

  @Test func thePointerIsDrawnUnlessItIsNotWanted() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "c02030"])
    try run(["xdotool", "mousemove", "100", "100"], environment: display.environment)
    try run(["xsetroot", "-cursor_name", "crosshair"], environment: display.environment)
    #expect(try colours(rig, []).colours == [Self.red])
    let id = try rig.record(seconds: 0.3, ["--lossless"])
    let around = try MediaFile.pictures(rig.media(id), PixelRect(x: 80, y: 80, width: 40, height: 40))[0]
    let drawn = stride(from: 0, to: around.count, by: 4).filter { Array(around[$0..<$0 + 3]) != Self.red }
    #expect(drawn.count > 10)
    let all = try MediaFile.pictures(rig.media(id), PixelRect(x: 0, y: 0, width: 320, height: 240))[0]
    let everywhere = stride(from: 0, to: all.count, by: 4).filter { Array(all[$0..<$0 + 3]) != Self.red }
    #expect(everywhere.count == drawn.count)
    try client.process.stop()
  }
}
