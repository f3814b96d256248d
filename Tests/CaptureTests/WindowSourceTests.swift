import Capture
import SessionModel
import TestSupport
import Testing

@Suite struct WindowSourceTests {
  /// A red window of 100x80 pixels at 50,40 on a display of 320x200.
  private func redWindow(
    _ more: [String] = [], on display: VirtualDisplay, geometry: String = "100x80+50+40"
  ) throws -> PatternClient {
    try PatternClient(
      on: display,
      ["color", "--color", "FF0000", "--title", "Red", "--class", "Scarlet", "--geometry", geometry] + more)
  }

  /// Case X07.
  @Test(arguments: ["title=rEd", "class=scarlet", "active", "ID"])
  func windowIsFoundWithoutWindowManager(selector: String) throws {
    let display = try VirtualDisplay(size: "320x200")
    let other = try PatternClient(
      on: display, ["color", "--color", "0000FF", "--title", "Blue", "--geometry", "20x20"])
    let client = try redWindow(on: display)
    let text = selector == "ID" ? "0x\(String(client.window, radix: 16))" : selector
    let specification = try SourceSpecification(parsing: "window:\(text)")
    let resolved = try SourceResolver(display: display.name).resolve(specification)
    #expect(resolved.window == client.window)
    #expect(resolved.source.rect == PixelRect(x: 50, y: 40, width: 100, height: 80))
    #expect(resolved.source.specification == specification)
    #expect(resolved.source.window?.title == "Red")
    #expect(resolved.source.window?.className == "Scarlet")
    #expect(resolved.source.window?.pid == Int(client.process.pid))
    var grabber = try Grabber(specification, on: display)
    let picture = try grabber.next("the window") { _ in true }
    #expect(picture.size == PixelSize(width: 100, height: 80))
    #expect(Set(picture.pixels) == [0xFF0000])
    withExtendedLifetime(other) {}
  }

  @Test func focusedWindowIsTheActiveOne() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try redWindow(on: display)
    let above = try PatternClient(on: display, ["color", "--geometry", "20x20"])
    try client.tell("focus")
    #expect(try SourceResolver(display: display.name).resolve(.window(.active)).window == client.window)
    withExtendedLifetime(above) {}
  }

  @Test func coveredAndPartlyOffscreenWindowIsRecordedItself() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try redWindow(on: display)
    let cover = try PatternClient(on: display, ["color", "--color", "0000FF"])
    var grabber = try Grabber(.window(.id(client.window)), on: display)
    #expect(Set(try grabber.next("the window") { _ in true }.pixels) == [0xFF0000])
    try client.tell("rect 00FF00 10x10+5+6")
    let change = try grabber.next("the change") { !$0.rects.isEmpty }
    #expect(change.rects == [PixelRect(x: 5, y: 6, width: 10, height: 10)])
    #expect(change.colors(in: change.rects[0]) == [0x00FF00])
    #expect(change.pixels.count { $0 == 0xFF0000 } == 100 * 80 - 100)
    // What happens above is no change of the window.
    try cover.tell("color FFFFFF")
    #expect(try grabber.wakes(within: 0.3) == 0)
    try client.tell("move -60 -30")
    try client.tell("rect FFFFFF 4x4+0+0")
    let moved = try grabber.next("the change off screen") { $0[0, 0] == 0xFFFFFF }
    #expect(moved.colors(in: PixelRect(x: 0, y: 0, width: 4, height: 4)) == [0xFFFFFF])
    #expect(moved.colors(in: change.rects[0]) == [0x00FF00])
  }

  @Test func resizedWindowKeepsTheCanvas() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try redWindow(on: display)
    var grabber = try Grabber(.window(.id(client.window)), on: display)
    _ = try grabber.next()
    try client.tell("resize 60 90")
    let smaller = try grabber.next("the smaller window") { $0[99, 0] == 0 && $0[59, 79] == 0xFF0000 }
    #expect(smaller.size == PixelSize(width: 100, height: 80))
    #expect(smaller.rects == [PixelRect(x: 0, y: 0, width: 100, height: 80)])
    #expect(smaller.colors(in: PixelRect(x: 0, y: 0, width: 60, height: 80)) == [0xFF0000])
    #expect(smaller.colors(in: PixelRect(x: 60, y: 0, width: 40, height: 80)) == [0])
    try client.tell("resize 150 150")
    let larger = try grabber.next("the larger window") { $0[99, 79] == 0xFF0000 }
    #expect(Set(larger.pixels) == [0xFF0000])
    try client.tell("rect 00FF00 20x20+95+75")
    let change = try grabber.next("the change") { $0[99, 79] == 0x00FF00 }
    #expect(change.rects == [PixelRect(x: 95, y: 75, width: 5, height: 5)])
  }

  /// Case X04.
  @Test(arguments: [[], ["-extension", "Composite"]])
  func unmappedWindowIsBlackUntilItIsShown(arguments: [String]) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: arguments)
    let client = try redWindow(["--unmapped"], on: display)
    var grabber = try Grabber(.window(.title("red")), on: display)
    let black = try grabber.next("the black picture") { _ in true }
    #expect(black.size == PixelSize(width: 100, height: 80))
    #expect(Set(black.pixels) == [0])
    try client.tell("map")
    let shown = try grabber.next("the window") { $0[0, 0] == 0xFF0000 && $0[99, 79] == 0xFF0000 }
    #expect(Set(shown.pixels) == [0xFF0000])
    // Hidden, it keeps its last picture, and is there again at once.
    try client.tell("unmap")
    #expect(try grabber.next() == nil)
    try client.tell("color 00FF00")
    try client.tell("map")
    let again = try grabber.next("the window again") { $0[0, 0] == 0x00FF00 && $0[99, 79] == 0x00FF00 }
    #expect(Set(again.pixels) == [0x00FF00])
  }

  @Test func withoutCompositeItIsThePartOfTheScreen() throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["-extension", "Composite"])
    let client = try redWindow(on: display)
    var grabber = try Grabber(.window(.id(client.window)), on: display)
    #expect(Set(try grabber.next("the window") { _ in true }.pixels) == [0xFF0000])
    let cover = try PatternClient(on: display, ["color", "--color", "0000FF", "--geometry", "30x200+50+0"])
    let covered = try grabber.next("the cover") { $0[0, 0] == 0x0000FF }
    #expect(covered.colors(in: PixelRect(x: 30, y: 0, width: 70, height: 80)) == [0xFF0000])
    #expect(covered.colors(in: PixelRect(x: 0, y: 0, width: 30, height: 80)) == [0x0000FF])
    try client.tell("move 260 160")
    let moved = try grabber.next("the move") { $0[0, 0] == 0xFF0000 && $0[60, 0] == 0 }
    #expect(moved.colors(in: PixelRect(x: 0, y: 0, width: 60, height: 40)) == [0xFF0000])
    #expect(moved.pixels.count { $0 == 0xFF0000 } == 60 * 40)
    #expect(moved.pixels.count { $0 == 0 } == 100 * 80 - 60 * 40)
    withExtendedLifetime(cover) {}
  }

  @Test(arguments: [[], ["-extension", "Composite"]])
  func closedWindowIsClassified(arguments: [String]) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: arguments)
    let client = try redWindow(on: display)
    var grabber = try Grabber(.window(.id(client.window)), on: display)
    _ = try grabber.next()
    try client.tell("quit")
    let error = #expect(throws: RecorderError.self) {
      while true { _ = try grabber.next() }
    }
    #expect(error.flatMap { SourceLoss($0) } == .windowClosed)
  }

  /// Case X03.
  @Test func windowLargerThanTheRootIsRecordedWhole() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try redWindow(on: display, geometry: "500x400+0+0")
    var grabber = try Grabber(.window(.id(client.window)), on: display)
    #expect(Set(try grabber.next("the window") { _ in true }.pixels) == [0xFF0000])
    try client.tell("rect 00FF00 1x1+499+399")
    #expect(try grabber.next("the corner") { $0[499, 399] == 0x00FF00 }.rects.count == 1)
  }

  @Test func decorationsAreTheManagersFrame() throws {
    let display = try VirtualDisplay(size: "320x200")
    let manager = try WindowManager(on: display)
    let client = try redWindow(on: display)
    let resolver = try SourceResolver(display: display.name)
    let inner = try resolver.resolve(.window(.title("Red")))
    let outer = try resolver.resolve(.window(.title("Red")), decorations: true)
    #expect(inner.window == client.window)
    #expect(outer.window != client.window)
    #expect(inner.source.rect.size == PixelSize(width: 100, height: 80))
    #expect(outer.source.rect.contains(inner.source.rect))
    #expect(outer.source.rect.height > 80)
    #expect(outer.source.window?.id == client.window)
    var grabber = try Grabber(.window(.title("Red")), on: display, decorations: true)
    let (place, frame) = (inner.source.rect, outer.source.rect)
    let picture = try grabber.next("the frame") { $0.colors(in: place.offset(x: -frame.x, y: -frame.y)) == [0xFF0000] }
    #expect(picture.size == frame.size)
    // The title bar is no part of the client's red.
    #expect(picture.pixels.count { $0 != 0xFF0000 } >= frame.size.area - 8000)
    withExtendedLifetime(manager) {}
  }

  @Test func unknownWindowsAreRefusedWithWhatThereIs() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try redWindow(on: display)
    let resolver = try SourceResolver(display: display.name)
    for text in ["0x7fffffff", "title=nothing", "class=red"] {
      let error = #expect(throws: RecorderError.self) {
        try resolver.resolve(SourceSpecification(parsing: "window:\(text)"))
      }
      #expect(error?.code == .unavailable)
      #expect(error?.hint == "There is 0x\(String(client.window, radix: 16)) \"Red\" (Scarlet).")
    }
  }
}
