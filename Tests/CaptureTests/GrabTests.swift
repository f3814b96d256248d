import Capture
import Glibc
import SessionModel
import TestSupport
import Testing
import Threading

@Suite struct GrabTests {
  /// Servers that lack what the fast path needs must give the same pictures.
  static let servers: [[String]] = [
    [], ["-extension", "MIT-SHM"], ["-extension", "DAMAGE"], ["-extension", "XFIXES"],
    ["-extension", "MIT-SHM", "-extension", "DAMAGE"], ["-extension", "Composite"], ["-extension", "RANDR"],
  ]

  @Test(arguments: servers)
  func pixelsAreExact(arguments: [String]) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: arguments)
    let client = try PatternClient(on: display, ["bars"])
    var grabber = try Grabber(.display, on: display)
    #expect(grabber.source.usesSharedMemory == !arguments.contains("MIT-SHM"))
    #expect(grabber.source.usesDamage == !(arguments.contains("DAMAGE") || arguments.contains("XFIXES")))
    let first = try grabber.next("the first") { _ in true }
    #expect(first.rects == [PixelRect(x: 0, y: 0, width: 320, height: 200)])
    let bars: [UInt32] = (0..<320 * 200).map { (index: Int) in PatternLayout.bars[index % 320 / 40] }
    #expect(first.pixels == bars)

    // A narrow rectangle, full-width rows, and one at the far corner.
    var expected = first
    for rect in [
      PixelRect(x: 33, y: 21, width: 17, height: 9), PixelRect(x: 0, y: 60, width: 320, height: 5),
      PixelRect(x: 319, y: 199, width: 1, height: 1),
    ] {
      try client.tell("rect 123456 \(rect)")
      for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { expected.pixels[y * 320 + x] = 0x123456 } }
      let picture = try grabber.next("the change") { _ in true }
      #expect(picture.pixels == expected.pixels)
      let area = picture.rects.reduce(0) { $0 + $1.area }
      if grabber.source.usesDamage {
        #expect(picture.rects == [rect])
      } else {
        // Comparing finds whole rows.
        #expect(area == rect.height * 320)
      }
    }
  }

  @Test func severalRectanglesAreFetchedInOneFrame() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["color", "--color", "000000"])
    var grabber = try Grabber(.display, on: display)
    _ = try grabber.next()
    let rects = (0..<10).map { PixelRect(x: $0 * 30, y: $0 * 19, width: 7, height: 5) }
    for rect in rects { try client.tell("rect FF8000 \(rect)") }
    let picture = try grabber.next("ten rectangles") { _ in true }
    #expect(picture.rects == rects)
    for rect in rects { #expect(picture.colors(in: rect) == [0xFF8000]) }
    #expect(picture.pixels.count { $0 == 0xFF8000 } == 350)
  }

  @Test func idleScreenMakesNoFrame() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["bars"])
    var grabber = try Grabber(.display, on: display, cursor: true)
    _ = try grabber.next()
    #expect(try grabber.wakes(within: 0.6) == 0)
    let drawn = try client.tell("rect 00FF00 3x3+5+5")
    let picture = try grabber.next("the change") { !$0.rects.isEmpty }
    #expect(picture.time >= drawn)
    #expect(try grabber.wakes(within: 0.3) == 0)
  }

  @Test func wakeSignalEndsTheWait() throws {
    let display = try VirtualDisplay(size: "64x64")
    var grabber = try Grabber(.display, on: display)
    _ = try grabber.next()
    grabber.wake.notify()
    #expect(try grabber.source.wait(until: MonotonicClock.now() + 10_000_000_000) == .woken)
    #expect(try grabber.source.wait(until: MonotonicClock.now() + 1_000_000) == .timedOut)
  }

  @Test func changeThatIsNotGrabbedStaysPending() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["color", "--color", "000000"])
    var grabber = try Grabber(.display, on: display)
    _ = try grabber.next()
    try client.tell("rect FFFFFF 4x4+10+10")
    let far = MonotonicClock.now() + 10_000_000_000
    #expect(try grabber.source.wait(until: far) == .changed)
    try client.tell("rect FFFFFF 4x4+100+100")
    #expect(try grabber.source.wait(until: far) == .changed)
    let picture = try #require(try grabber.next())
    #expect(
      picture.rects == [PixelRect(x: 10, y: 10, width: 4, height: 4), PixelRect(x: 100, y: 100, width: 4, height: 4)])
  }

  @Test func everyDrawnCounterIsGrabbedOnce() throws {
    let display = try VirtualDisplay(size: "400x100")
    let client = try PatternClient(on: display, ["counter", "--fps", "0", "--geometry", "400x100+0+0"])
    var grabber = try Grabber(.display, on: display)
    for expected in 0..<20 {
      if expected > 0 { try client.tell("next") }
      let picture = try grabber.next("counter \(expected)") { _ in true }
      let counter = picture.pixels.withUnsafeBytes { bytes in
        bytes.baseAddress.flatMap { CounterPattern.counter(in: $0, bytesPerRow: 1600) }
      }
      #expect(counter == expected)
      #expect(picture[399, 99] == PatternLayout.background(expected))
    }
  }

  /// Case X06: a window that is uncovered is not always told to draw itself (Expose), as where a server keeps its pixels or a
  /// window manager only changes what is visible. What appears, and what was drawn meanwhile, is seen all the same.
  @Test(arguments: [true, false]) func refreshNeedsNoExpose(isWindow: Bool) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["+bs"])
    let client = try PatternClient(
      on: display, ["color", "--color", "FF0000", "--geometry", "100x80+50+40", "--backing-store", "--watch"])
    var grabber = try Grabber(isWindow ? .window(.id(client.window)) : .display, on: display)
    let place = PixelRect(x: isWindow ? 0 : 50, y: isWindow ? 0 : 40, width: 100, height: 80)
    _ = try grabber.next("the window") { $0.colors(in: place) == [0xFF0000] }
    let exposures = client.events.count { $0 == "expose" }
    let cover = try PatternClient(on: display, ["color", "--color", "0000FF"])
    if !isWindow { _ = try grabber.next("the cover") { Set($0.pixels) == [0x0000FF] } }
    try client.tell("rect 00FF00 10x10+5+6")
    try cover.tell("quit")
    let green = PixelRect(x: place.x + 5, y: place.y + 6, width: 10, height: 10)
    _ = try grabber.next("the window again") { picture in
      picture.colors(in: green) == [0x00FF00] && picture.pixels.count { $0 == 0xFF0000 } == 100 * 80 - 100
    }
    #expect(client.events.count { $0 == "expose" } == exposures)
  }

  @Test func serverDeathIsClassified() throws {
    let display = try VirtualDisplay(size: "64x64")
    var grabber = try Grabber(.display, on: display)
    _ = try grabber.next()
    display.server.signal(SIGKILL)
    let error = #expect(throws: RecorderError.self) { try grabber.next() }
    #expect(error.flatMap { SourceLoss($0) } == .displayLost)
    #expect(error?.code == .sourceLost)
  }

  /// Case S13.
  @Test func segmentIsPrivateAndGoesWithTheProcess() throws {
    let display = try VirtualDisplay(size: "333x77")
    let grabber = try Grabber(.display, on: display)
    // The picture and as much again.
    let size = "\(333 * 77 * 4 * 2)"
    // key shmid perms size cpid lpid nattch uid …
    let segments = String(decoding: try readFile("/proc/sysvipc/shm"), as: UTF8.self).split(separator: "\n")
      .map { $0.split(separator: " ") }.filter { $0[3] == size[...] && $0[4] == "\(getpid())" }
    let segment = try #require(segments.first)
    // 01000 is SHM_DEST: it goes with the last process that is attached.
    #expect(Int(segment[2], radix: 8) == 0o1600)
    #expect(segment[6] == "2")
    withExtendedLifetime(grabber.source.size) {}
  }

  @Test func partsOutsideTheRootAreBlack() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["color", "--color", "0000FF"])
    var grabber = try Grabber(.region(PixelRect(x: -20, y: 150, width: 400, height: 100)), on: display)
    let inside = PixelRect(x: 20, y: 0, width: 320, height: 50)
    func check(_ picture: Picture, _ color: UInt32) {
      #expect(picture.colors(in: inside) == [color])
      #expect(picture.pixels.count { $0 == color } == inside.area)
      #expect(picture.colors(in: PixelRect(x: 0, y: 50, width: 400, height: 50)) == [0])
    }
    check(try grabber.next("the first") { _ in true }, 0x0000FF)
    try client.tell("color 00FF00")
    let picture = try grabber.next("the change") { _ in true }
    check(picture, 0x00FF00)
    #expect(picture.rects == [inside])
  }
}
