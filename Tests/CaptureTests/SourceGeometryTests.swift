import Capture
import SessionModel
import Synchronization
import TestSupport
import Testing

/// What happens to a source while it is recorded: what the picture shows, and what is told.
@Suite struct SourceGeometryTests {
  /// What a source told.
  final class Changes: Sendable {
    private let list = Mutex<[SourceChange]>([])
    var all: [SourceChange] { list.withLock { $0 } }
    func add(_ change: SourceChange) { list.withLock { $0.append(change) } }
  }

  private func grabber(
    _ specification: SourceSpecification, on display: VirtualDisplay, _ changes: Changes, waits: Bool = false
  ) throws -> Grabber {
    try Grabber(specification, on: display) { options in
      options.followsSize = true
      options.waitsWhenClosed = waits
      options.report = { change, _ in changes.add(change) }
    }
  }

  @Test(arguments: [[], ["-extension", "Composite"], ["-extension", "DAMAGE"], ["-extension", "MIT-SHM"]])
  func theFrameTakesTheWindowsSize(arguments: [String]) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: arguments)
    let client = try PatternClient(on: display, ["bars", "--geometry", "160x80+10+20"])
    let changes = Changes()
    var grabber = try grabber(.window(.id(client.window)), on: display, changes)
    _ = try grabber.next("the window") { _ in true }
    var last = PixelRect(x: 10, y: 20, width: 160, height: 80)
    for size in [
      PixelSize(width: 81, height: 143), PixelSize(width: 240, height: 9), PixelSize(width: 160, height: 80),
    ] {
      try client.tell("resize \(size.width) \(size.height)")
      let picture = try grabber.next("the new size") { picture in
        picture.size == size && picture[size.width - 1, 0] == 0 && picture[0, size.height - 1] == 0xFFFFFF
      }
      let bars = (0..<size.area).map { index in
        let x = index % size.width
        return PatternLayout.bars[(0..<8).last { size.width * $0 / 8 <= x } ?? 0]
      }
      #expect(picture.pixels == bars)
      let now = PixelRect(x: 10, y: 20, width: size.width, height: size.height)
      #expect(changes.all.last == .geometry(from: last, to: now))
      last = now
    }
    try client.tell("move 60 70")
    try client.tell("rect 123456 3x3+1+1")
    _ = try grabber.next("the change") { $0[1, 1] == 0x123456 }
    // A window that only moves is no change of what is recorded.
    #expect(changes.all.count == 3)
  }

  /// Case X01.
  @Test func theFrameTakesTheRootsSize() throws {
    let display = try VirtualDisplay(size: "640x480")
    let client = try PatternClient(on: display, ["color", "--color", "102030", "--geometry", "640x480"])
    let changes = Changes()
    var grabber = try grabber(.display, on: display, changes)
    _ = try grabber.next("the screen") { _ in true }
    try display.resize(to: PixelSize(width: 320, height: 240))
    let small = try grabber.next("the small screen") { $0.size == PixelSize(width: 320, height: 240) }
    #expect(small.colors(in: PixelRect(small.size)) == [0x102030])
    #expect(small.rects == [PixelRect(x: 0, y: 0, width: 320, height: 240)])
    try display.resize(to: PixelSize(width: 640, height: 480))
    try client.tell("color 405060")
    let large = try grabber.next("the large screen") { $0.size.width == 640 && $0[639, 479] == 0x405060 }
    #expect(Set(large.pixels) == [0x405060])
    let (big, little) = (PixelRect(x: 0, y: 0, width: 640, height: 480), PixelRect(x: 0, y: 0, width: 320, height: 240))
    #expect(changes.all == [.geometry(from: big, to: little), .geometry(from: little, to: big)])
  }

  @Test func aMonitorIsFollowedByItsName() throws {
    let display = try VirtualDisplay(size: "640x480")
    let left = try PatternClient(on: display, ["color", "--color", "200000", "--geometry", "320x480+0+0"])
    let right = try PatternClient(on: display, ["color", "--color", "002000", "--geometry", "320x480+320+0"])
    func set(_ name: String, _ geometry: String) throws {
      try run(["xrandr", "--setmonitor", name, geometry, "none"], environment: display.environment)
    }
    try set("LEFT", "320/80x480/120+0+0")
    try set("RIGHT", "319/80x480/120+321+0")
    let (changes, leftChanges) = (Changes(), Changes())
    var grabber = try grabber(.monitor(name: "RIGHT"), on: display, changes)
    var neighbour = try self.grabber(.monitor(name: "LEFT"), on: display, leftChanges)
    let first = try grabber.next("the monitor") { _ in true }
    #expect(first.size == PixelSize(width: 319, height: 480))
    #expect(Set(first.pixels) == [0x002000])
    #expect(Set(try neighbour.next("the neighbour") { _ in true }.pixels) == [0x200000])

    try run(["xrandr", "--delmonitor", "RIGHT"], environment: display.environment)
    try waitUntil("the loss of the monitor") {
      _ = try grabber.poll()
      return changes.all == [.absent(.unplugged)]
    }
    try right.tell("color 000020")
    #expect(try grabber.poll() == nil)
    // It comes back elsewhere and smaller.
    try set("RIGHT", "101/80x77/120+500+200")
    let moved = try grabber.next("the monitor again") { $0.size == PixelSize(width: 101, height: 77) }
    #expect(Set(moved.pixels) == [0x000020])
    #expect(
      changes.all == [
        .absent(.unplugged), .present,
        .geometry(
          from: PixelRect(x: 321, y: 0, width: 319, height: 480), to: PixelRect(x: 500, y: 200, width: 101, height: 77)),
      ])
    try left.tell("rect FFFFFF 5x5+0+0")
    #expect(try neighbour.next("the neighbour's change") { $0[4, 4] == 0xFFFFFF }.size.width == 320)
    #expect(leftChanges.all.isEmpty)
  }

  /// Case X10.
  @Test(arguments: [[], ["-extension", "Composite"], ["-extension", "DAMAGE"]])
  func theNextWindowIsRecordedWhenOneCloses(arguments: [String]) throws {
    let display = try VirtualDisplay(size: "320x200", arguments: arguments)
    let client = try PatternClient(
      on: display, ["color", "--color", "FF0000", "--title", "Room 1", "--geometry", "50x40"])
    let changes = Changes()
    var grabber = try grabber(.window(.titlePattern("^Room")), on: display, changes, waits: true)
    _ = try grabber.next("the window") { _ in true }
    try client.tell("quit")
    try waitUntil("the loss") {
      _ = try grabber.poll()
      return changes.all == [.absent(.closed)]
    }
    let wrong = try PatternClient(on: display, ["color", "--title", "A Room", "--geometry", "20x20"])
    let next = try PatternClient(
      on: display, ["color", "--color", "00FF00", "--title", "Later", "--geometry", "60x30+100+100"])
    #expect(try grabber.poll() == nil)
    try next.tell("title Room 2")
    let picture = try grabber.next("the next window") { $0.size == PixelSize(width: 60, height: 30) }
    #expect(Set(picture.pixels) == [0x00FF00])
    try next.tell("rect FFFFFF 4x4+10+10")
    #expect(
      try grabber.next("its change") { $0[10, 10] == 0xFFFFFF }.colors(in: PixelRect(x: 0, y: 0, width: 10, height: 10))
        == [0x00FF00])
    #expect(changes.all.count == 4)
    guard case .replaced(let window) = changes.all[2] else { throw TestFailure("\(changes.all)") }
    #expect(changes.all[1] == .present && window.id == next.window && window.title == "Room 2")
    withExtendedLifetime(wrong) {}
  }

  @Test func whatNothingCanFollowIsRefused() throws {
    let display = try VirtualDisplay(size: "320x200")
    let changes = Changes()
    let error = #expect(throws: RecorderError.self) {
      _ = try grabber(.display, on: display, changes, waits: true)
    }
    #expect(error?.code == .usage)
  }

  @Test func hiddenWindowsAreTold() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["color", "--color", "FF0000", "--geometry", "50x40"])
    let changes = Changes()
    var grabber = try grabber(.window(.id(client.window)), on: display, changes)
    _ = try grabber.next("the window") { _ in true }
    try client.tell("unmap")
    try waitUntil("its hiding") {
      _ = try grabber.poll()
      return changes.all == [.absent(.hidden)]
    }
    // Asked for a whole picture, it gives the last one, not a black one.
    grabber.source.invalidate()
    #expect(Set(try grabber.next("the last picture") { _ in true }.pixels) == [0xFF0000])
    try client.tell("map")
    _ = try grabber.next("the window again") { _ in true }
    #expect(changes.all == [.absent(.hidden), .present])
  }
}
