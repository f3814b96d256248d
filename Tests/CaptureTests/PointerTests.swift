import Capture
import SessionModel
import TestSupport
import Testing

@Suite struct PointerTests {
  /// A cursor of 8x8 pixels whose hot spot is (3, 5): its left half is its foreground, its last row is transparent.
  private func setCursor(on display: VirtualDisplay) throws {
    let folder = try TemporaryFolder()
    func bitmap(_ rows: [UInt8]) -> String {
      "#define c_width 8\n#define c_height 8\n#define c_x_hot 3\n#define c_y_hot 5\nstatic char c_bits[] = {\n"
        + rows.map { "0x" + String($0, radix: 16) }.joined(separator: ",") + "};\n"
    }
    try writeFile(folder.file("cursor"), bitmap([UInt8](repeating: 0x0F, count: 8)).utf8)
    try writeFile(folder.file("mask"), bitmap([UInt8](repeating: 0xFF, count: 7) + [0]).utf8)
    let result = try run([
      "xsetroot", "-display", display.name, "-fg", "#FF0000", "-bg", "#0000FF", "-cursor", folder.file("cursor"),
      folder.file("mask"),
    ])
    guard result.status == 0 else { throw TestFailure(result.errorText) }
  }

  private func move(to x: Int, _ y: Int, on display: VirtualDisplay) throws {
    try run(["xdotool", "mousemove", "\(x)", "\(y)"], environment: display.environment)
  }

  /// Case X21.
  @Test(arguments: [([], false), (["-extension", "DAMAGE"], false), ([], true)])
  func shapeHotSpotAndPlaceAreExact(arguments: [String], isWithoutInput: Bool) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: arguments)
    let proxy = isWithoutInput ? try DisplayProxy(to: display, [.without("XInputExtension")]) : nil
    let client = try PatternClient(on: display, ["color", "--color", "00FF00"])
    try setCursor(on: display)
    try move(to: 100, 50, on: display)
    var grabber = try Grabber(.display, on: display, through: proxy?.name, cursor: true)
    let rect = PixelRect(x: 97, y: 45, width: 8, height: 8)
    let picture = try grabber.next("the pointer") { $0.pointer?.rect == rect }
    let pointer = try #require(picture.pointer)
    let row = [UInt32](repeating: 0xFFFF_0000, count: 4) + [UInt32](repeating: 0xFF00_00FF, count: 4)
    #expect(pointer.image == Array([[UInt32]](repeating: row, count: 7).joined()) + [UInt32](repeating: 0, count: 8))
    // The pixels are clean below it.
    #expect(Set(picture.pixels) == [0x00FF00])

    // It hangs over an edge, and is cut by nobody but the one who draws it.
    try move(to: 0, 0, on: display)
    let corner = try grabber.next("the corner") { $0.pointer?.rect.x == -3 }
    #expect(corner.pointer?.rect == PixelRect(x: -3, y: -5, width: 8, height: 8))
    #expect(corner.rects == [])

    // A move by a device is an event.
    try run(["xdotool", "mousemove_relative", "11", "13"], environment: display.environment)
    let moved = try grabber.next("the move") { $0.pointer?.rect.x == 8 }
    #expect(moved.pointer?.rect.y == 8)
    withExtendedLifetime((client, proxy)) {}
  }

  /// Where the server does not tell the pointer's shape a plain arrow stands in, its tip on the place.
  @Test func anArrowStandsInForAShapeThatIsNotTold() throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["-extension", "XFIXES"])
    // Held: an Xvfb (21.1) without XFIXES aborts when a client goes.
    let holder = try PatternClient(on: display, ["color", "--color", "00FF00"])
    let mover = try ChildProcess(["xdotool", "-"], environment: display.environment)
    mover.write("mousemove 100 50\n")
    var grabber = try Grabber(.display, on: display, cursor: true)
    let picture = try grabber.next("the pointer") { $0.pointer?.rect.x == 100 }
    let pointer = try #require(picture.pointer)
    #expect(pointer.rect == PixelRect(x: 100, y: 50, width: 12, height: 16))
    #expect(pointer.image[0] == 0xFF00_0000)
    #expect(pointer.image[12 * 5 + 2] == 0xFFFF_FFFF)
    #expect(pointer.image[11] == 0)
    #expect(Set(pointer.image) == [0, 0xFF00_0000, 0xFFFF_FFFF])
    withExtendedLifetime(holder) {}
  }

  /// Case X23: two outputs side by side: the pointer is where it is on the second, and on the first alone when it is there.
  @Test func pointerIsAtItsPlaceOnASecondOutput() throws {
    let display = try VirtualDisplay(size: "640x200")
    try setCursor(on: display)
    for monitor in [["LEFT", "321/80x200/50+0+0"], ["RIGHT", "319/80x150/50+321+50"]] {
      try run(["xrandr", "--setmonitor"] + monitor + ["none"], environment: display.environment)
    }
    try move(to: 400, 100, on: display)
    var right = try Grabber(.monitor(name: "RIGHT"), on: display, cursor: true)
    var left = try Grabber(.monitor(name: "LEFT"), on: display, cursor: true)
    #expect(try #require(try left.next()).pointer == nil)
    let there = try right.next("the pointer") { $0.pointer != nil }
    #expect(there.pointer?.rect == PixelRect(x: 400 - 321 - 3, y: 100 - 50 - 5, width: 8, height: 8))
    try move(to: 20, 30, on: display)
    _ = try right.next("no pointer") { $0.pointer == nil }
    #expect(try left.next("the pointer") { $0.pointer != nil }.pointer?.rect.x == 17)
  }

  @Test func pointerThatStandsStillMakesNoFrame() throws {
    let display = try VirtualDisplay(size: "320x200")
    try setCursor(on: display)
    var grabber = try Grabber(.display, on: display, cursor: true)
    _ = try grabber.next()
    try move(to: 10, 10, on: display)
    _ = try grabber.next("the move") { $0.pointer?.rect.x == 7 }
    #expect(try grabber.wakes(within: 0.6) == 0)
  }

  @Test func newShapeIsShown() throws {
    let display = try VirtualDisplay(size: "320x200")
    try run(["xsetroot", "-display", display.name, "-cursor_name", "left_ptr"])
    try move(to: 100, 50, on: display)
    var grabber = try Grabber(.display, on: display, cursor: true)
    let first = try grabber.next("the first shape") { $0.pointer != nil }
    try setCursor(on: display)
    // The server refuses the cursor of a client that is gone until another one has its number: xsetroot's is the next.
    let client = try PatternClient(on: display, ["color", "--unmapped"])
    let second = try grabber.next("the second shape") { $0.pointer?.image != first.pointer?.image }
    #expect(second.pointer?.rect == PixelRect(x: 97, y: 45, width: 8, height: 8))
    withExtendedLifetime(client) {}
  }

  @Test func pointerIsLeftOutWhenTold() throws {
    let display = try VirtualDisplay(size: "320x200")
    try setCursor(on: display)
    try move(to: 100, 50, on: display)
    var grabber = try Grabber(.display, on: display, cursor: false)
    #expect(try #require(try grabber.next()).pointer == nil)
    try move(to: 120, 50, on: display)
    #expect(try grabber.wakes(within: 0.5) == 0)
  }

  @Test func pointerIsReportedOverTheRegionAlone() throws {
    let display = try VirtualDisplay(size: "320x200")
    try setCursor(on: display)
    try move(to: 10, 10, on: display)
    var grabber = try Grabber(.region(PixelRect(x: 100, y: 50, width: 60, height: 40)), on: display, cursor: true)
    #expect(try #require(try grabber.next()).pointer == nil)
    try move(to: 110, 60, on: display)
    let inside = try grabber.next("the pointer") { $0.pointer != nil }
    #expect(inside.pointer?.rect == PixelRect(x: 7, y: 5, width: 8, height: 8))
    // Its hot spot has left, two of its columns have not.
    try move(to: 97, 60, on: display)
    let edge = try grabber.next("the edge") { $0.pointer?.rect.x == -6 }
    #expect(edge.pointer?.rect == PixelRect(x: -6, y: 5, width: 8, height: 8))
    try move(to: 90, 60, on: display)
    _ = try grabber.next("no pointer") { $0.pointer == nil }
  }

  @Test func pointerOverAWindowAboveIsNotReported() throws {
    let display = try VirtualDisplay(size: "320x200")
    try setCursor(on: display)
    let recorded = try PatternClient(on: display, ["color", "--geometry", "100x100+50+50", "--title", "Recorded"])
    let above = try PatternClient(on: display, ["color", "--geometry", "100x100+100+50"])
    try move(to: 60, 60, on: display)
    var grabber = try Grabber(.window(.id(recorded.window)), on: display, cursor: true)
    let first = try grabber.next("the pointer") { $0.pointer != nil }
    #expect(first.pointer?.rect == PixelRect(x: 7, y: 5, width: 8, height: 8))
    try move(to: 120, 60, on: display)
    _ = try grabber.next("no pointer over the other window") { $0.pointer == nil }
    try above.tell("move 200 100")
    let again = try grabber.next("the pointer again") { $0.pointer != nil }
    #expect(again.pointer?.rect == PixelRect(x: 67, y: 5, width: 8, height: 8))
  }
}
