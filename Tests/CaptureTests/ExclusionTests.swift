import Capture
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// Windows that a person excluded are in no frame, and nothing is told of them.
@Suite struct ExclusionTests {
  /// The colour that excluded windows are full of, and that nothing else has.
  private static let secret: UInt32 = 0xFF00FF

  @Test func rectanglesAreAddedAndTakenAway() {
    var set = RectSet()
    #expect(set.isEmpty)
    set.add(PixelRect(x: 0, y: 0, width: 10, height: 10))
    set.add(PixelRect(x: 5, y: 5, width: 10, height: 10))
    #expect(set.rects.reduce(0) { $0 + $1.area } == 175)
    #expect(set.contains(PixelRect(x: 3, y: 3, width: 7, height: 7)))
    #expect(!set.contains(PixelRect(x: 3, y: 3, width: 9, height: 9)))
    set.subtract(PixelRect(x: 2, y: 2, width: 3, height: 3))
    #expect(set.rects.reduce(0) { $0 + $1.area } == 166)
    #expect(!set.contains(PixelRect(x: 4, y: 4, width: 1, height: 1)))
    var other = set
    other.subtract(PixelRect(x: 0, y: 0, width: 1, height: 1))
    #expect(set.contains(other) && !other.contains(set))
    set.subtract(PixelRect(x: -5, y: -5, width: 100, height: 100))
    #expect(set.isEmpty)
  }

  private func grabber(
    _ source: SourceSpecification, on display: VirtualDisplay, _ exclusions: [WindowExclusion]
  ) throws -> Grabber {
    try Grabber(source, on: display) { $0.exclusions = exclusions }
  }

  @Test func aMatchingWindowIsBlackAndWhatIsAroundItIsNot() throws {
    let display = try VirtualDisplay(size: "320x200")
    let ground = try PatternClient(on: display, ["color", "--color", "102030"])
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--title", "Secret room", "--geometry", "100x80+50+40"])
    var grabber = try grabber(.display, on: display, [.titlePattern("^Secret"), .className("nothing")])
    let place = PixelRect(x: 50, y: 40, width: 100, height: 80)
    func only(_ place: PixelRect?) -> [UInt32] {
      (0..<320 * 200).map { index in
        let pixel = PixelRect(x: index % 320, y: index / 320, width: 1, height: 1)
        return place?.contains(pixel) == true ? 0 : 0x102030
      }
    }
    #expect(try grabber.next("the screen") { _ in true }.pixels == only(place))
    try client.tell("move 120 90")
    let moved = PixelRect(x: 120, y: 90, width: 100, height: 80)
    _ = try grabber.next("the move") { $0.pixels == only(moved) }
    try client.tell("title Open room")
    _ = try grabber.next("the title that does not match") { $0[130, 100] == Self.secret || $0.pixels == only(moved) }
    try client.tell("color 00FF00")
    _ = try grabber.next("what it shows then") { $0.colors(in: moved) == [0x00FF00] }
    try client.tell("title Secret again")
    _ = try grabber.next("the title that matches again") { $0.pixels == only(moved) }
    try client.tell("unmap")
    _ = try grabber.next("the ground alone") { $0.pixels == only(nil) }
    withExtendedLifetime(ground) {}
  }

  @Test func popUpsAndDialogsAreExcludedWithTheirWindow() throws {
    let display = try VirtualDisplay(size: "320x200")
    let ground = try PatternClient(on: display, ["color", "--color", "102030"])
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--class", "Vault", "--geometry", "60x60+10+10"])
    var grabber = try grabber(.display, on: display, [.className("vault")])
    _ = try grabber.next("the screen") { _ in true }
    let dialog = try PatternClient(
      on: display,
      [
        "color", "--color", "FF00FF", "--geometry", "50x50+200+100", "--transient-for",
        "0x\(String(client.window, radix: 16))",
      ])
    try ground.tell("rect 405060 5x5+0+0")
    let picture = try grabber.next("the change") { $0[0, 0] == 0x405060 }
    #expect(picture.colors(in: PixelRect(x: 200, y: 100, width: 50, height: 50)) == [0])
    #expect(!picture.pixels.contains(Self.secret))
    withExtendedLifetime(dialog) {}
  }

  /// Where nothing paints a place that was left, because the window below paints itself or the compositor is behind, the
  /// screen goes on to show what was there.
  @Test(arguments: [false, true]) func aPlaceThatWasLeftIsBlackUntilItIsDrawnOn(composited: Bool) throws {
    let display = try VirtualDisplay(size: "320x200")
    let compositor = composited ? try Compositor(on: display) : nil
    let ground = try PatternClient(
      on: display, ["color", "--color", "102030"] + (composited ? [] : ["--no-background"]))
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--title", "Secret", "--geometry", "90x70"])
    var grabber = try grabber(.display, on: display, [.titlePattern("Secret")])
    let place = PixelRect(x: 0, y: 0, width: 90, height: 70)
    func isLeft(_ picture: Picture) -> Bool {
      picture.colors(in: place) == [0] && picture.pixels.count { $0 == 0x102030 } == 320 * 200 - place.area
    }
    // Unexcluded, it is on the screen.
    var plain = try Grabber(.display, on: display)
    _ = try plain.next("the window on the screen") { $0.colors(in: place) == [Self.secret] }
    _ = try grabber.next("the window") { isLeft($0) }
    try compositor?.hold(true)
    try client.tell("unmap")
    for _ in 0..<5 {
      plain.source.invalidate()
      #expect(try plain.next("the screen") { _ in true }.colors(in: place) == [Self.secret])
      grabber.source.invalidate()
      let isBlack = isLeft(try grabber.next("the place") { _ in true })
      #expect(isBlack)
    }
    let released = MonotonicClock.now()
    try compositor?.hold(false)
    try ground.tell("color 405060")
    // What a compositor draws first may be what it had begun before: for a second nothing of it is shown there.
    var isEarly = false
    _ = try grabber.next("the ground") { picture in
      if composited, picture.time < released + 1_000_000_000, picture.colors(in: place) != [0] { isEarly = true }
      return Set(picture.pixels) == [0x405060]
    }
    #expect(!isEarly)
  }

  @Test func aDialogThatOutlivesItsWindowIsExcludedStill() throws {
    let display = try VirtualDisplay(size: "320x200")
    let log = Log()
    let source = try WindowEventSource(
      display: display.name, epoch: MonotonicClock.now(), exclusions: [.className("vault")], emit: { log.add($0) })
    let ground = try PatternClient(on: display, ["color", "--color", "102030"])
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--class", "Vault", "--geometry", "60x60+10+10"])
    let dialog = try PatternClient(
      on: display,
      [
        "color", "--color", "FF00FF", "--geometry", "50x50+200+100", "--title", "Dialog", "--transient-for",
        "0x\(String(client.window, radix: 16))",
      ])
    var grabber = try grabber(.display, on: display, [.className("vault")])
    func only(_ places: [PixelRect]) -> [UInt32] {
      (0..<320 * 200).map { index in
        let pixel = PixelRect(x: index % 320, y: index / 320, width: 1, height: 1)
        return places.contains { $0.contains(pixel) } ? 0 : 0x102030
      }
    }
    let places = [PixelRect(x: 10, y: 10, width: 60, height: 60), PixelRect(x: 200, y: 100, width: 50, height: 50)]
    _ = try grabber.next("both") { $0.pixels == only(places) }
    try client.tell("quit")
    _ = try grabber.next("the dialog") { $0.pixels == only([places[1]]) }
    try dialog.tell("title Dialog again")
    try dialog.tell("focus")
    for color in ["FF00FF", "FF00FF", "FF00FF"] {
      try dialog.tell("color \(color)")
      while let picture = try grabber.poll() {
        let isShown = picture.pixels.contains(Self.secret)
        #expect(!isShown)
      }
    }
    try ground.tell("title The ground")
    try ground.tell("focus")
    try waitUntil("the ground's title") { log.all.contains { $0.window?.title == "The ground" } }
    source.stop()
    #expect(!log.all.contains { $0.window?.title.contains("Dialog") == true })
  }

  /// What a window was that came and went between two looks cannot be known: its dialog may be one of those excluded.
  @Test func aDialogWhoseWindowWentUnseenIsExcluded() throws {
    let display = try VirtualDisplay(size: "320x200")
    let ground = try PatternClient(on: display, ["color", "--color", "102030", "--title", "The ground"])
    var grabber = try grabber(.display, on: display, [.className("vault")])
    _ = try grabber.next("the ground") { Set($0.pixels) == [0x102030] }
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--class", "Vault", "--geometry", "60x60+10+10"])
    let dialog = try PatternClient(
      on: display,
      [
        "color", "--color", "FF00FF", "--geometry", "50x50+200+100", "--title", "Dialog", "--transient-for",
        "0x\(String(client.window, radix: 16))",
      ])
    try client.tell("quit")
    let place = PixelRect(x: 200, y: 100, width: 50, height: 50)
    for _ in 0..<3 {
      try dialog.tell("color FF00FF")
      try ground.tell("color 102030")
      let colors = try grabber.next("the dialog's place") { _ in true }.colors(in: place)
      #expect(colors == [0])
    }
    let log = Log()
    let source = try WindowEventSource(
      display: display.name, epoch: MonotonicClock.now(), exclusions: [.className("vault")], emit: { log.add($0) })
    try waitUntil("the ground is told of") { log.all.contains { $0.window?.title == "The ground" } }
    try dialog.tell("title Dialog again")
    try dialog.tell("focus")
    try ground.tell("title Other ground")
    try ground.tell("focus")
    try waitUntil("the ground's other title") { log.all.contains { $0.window?.title == "Other ground" } }
    source.stop()
    #expect(!log.all.contains { $0.window?.title.contains("Dialog") == true })
  }

  /// A dialog that was shown stays so when the window it belongs to closes.
  @Test func aDialogThatOutlivesAnotherWindowIsShownStill() throws {
    let display = try VirtualDisplay(size: "320x200")
    let log = Log()
    let client = try PatternClient(on: display, ["color", "--title", "Owner", "--geometry", "60x60+10+10"])
    let dialog = try PatternClient(
      on: display,
      [
        "color", "--color", "00FF00", "--geometry", "50x50+200+100", "--title", "Dialog", "--transient-for",
        "0x\(String(client.window, radix: 16))",
      ])
    let source = try WindowEventSource(
      display: display.name, epoch: MonotonicClock.now(), exclusions: [.className("vault")], emit: { log.add($0) })
    var grabber = try grabber(.display, on: display, [.className("vault")])
    let place = PixelRect(x: 200, y: 100, width: 50, height: 50)
    _ = try grabber.next("the dialog") { $0.colors(in: place) == [0x00FF00] }
    try waitUntil("the dialog is told of") { log.all.contains { $0.window?.title == "Dialog" } }
    try client.tell("quit")
    try waitUntil("the owner is gone") { log.all.contains { $0.kind == .closed && $0.window?.title == "Owner" } }
    try dialog.tell("focus")
    try dialog.tell("title Dialog again")
    try waitUntil("its new title") { log.all.contains { $0.window?.title == "Dialog again" } }
    try dialog.tell("color 0000FF")
    _ = try grabber.next("what it shows then") { $0.colors(in: place) == [0x0000FF] }
    source.stop()
  }

  /// Openings, moves and closings at times that nothing aligns with the grabs, over a ground that changes all the time.
  @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
  func noFrameShowsWhatIsExcluded(managed: Bool, composited: Bool) throws {
    let display = try VirtualDisplay(size: "320x200")
    let manager = managed ? try WindowManager(on: display) : nil
    let compositor = composited ? try Compositor(on: display) : nil
    let ground = try PatternClient(on: display, ["counter", "--fps", "100", "--geometry", "360x240"])
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--title", "Secret", "--geometry", "90x70", "--unmapped"])
    var grabber = try grabber(.display, on: display, [.titlePattern("Secret")])
    do {
      let done = Done()
      let worker = try WorkerThread(name: "secret") {
        do {
          for round in 0... {
            if done.isOver { break }
            try client.tell("map")
            try client.tell("move \(round * 37 % 300 - 20) \(round * 53 % 190 - 20)")
            try client.tell("color FF00FF")
            try client.tell("unmap")
          }
        } catch {
          done.finish("\(error)")
        }
      }
      do {
        // Several of them come and go between two of these, however many events that is: they go on until all are seen.
        for frame in 0..<15 where !done.isOver {
          var next: Picture?
          while next == nil { next = try grabber.poll() }
          let leaked = next?.pixels.count { $0 == Self.secret }
          #expect(leaked == 0, "frame \(frame)")
        }
      } catch { done.finish("\(error)") }
      done.finish(nil)
      worker.join()
      #expect(done.failure == nil)
    }
    try ground.tell("quit")
    withExtendedLifetime((manager, compositor)) {}
  }

  /// Told by one thread, asked by another.
  private final class Done: Sendable {
    private let state = Mutex<(isOver: Bool, failure: String?)>((false, nil))
    func finish(_ failure: String?) { state.withLock { $0 = (true, $0.failure ?? failure) } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var failure: String? { state.withLock { $0.failure } }
  }

  @Test func nothingIsToldOfThem() throws {
    let display = try VirtualDisplay(size: "320x200")
    let log = Log()
    let source = try WindowEventSource(
      display: display.name, epoch: MonotonicClock.now(), exclusions: [.titlePattern("Secret")],
      emit: { log.add($0) })
    let open = try PatternClient(on: display, ["color", "--title", "Open", "--geometry", "50x50"])
    try waitUntil("the open one") { log.all.contains { $0.kind == .opened && $0.window?.title == "Open" } }
    let client = try PatternClient(on: display, ["color", "--title", "Secret 1", "--geometry", "60x60"])
    try client.tell("title Secret 2")
    try client.tell("focus")
    try client.tell("move 50 50")
    try open.tell("title Secret 3")
    try open.tell("title Open again")
    try client.tell("quit")
    try open.tell("focus")
    try waitUntil("the last title") { log.all.contains { $0.window?.title == "Open again" } }
    source.stop()
    #expect(!log.all.contains { $0.window?.title.contains("Secret") == true })
  }

  /// Events as they come.
  private final class Log: Sendable {
    private let list = Mutex<[Event]>([])
    func add(_ event: Event) { list.withLock { $0.append(event) } }
    var all: [Event] { list.withLock { $0 } }
  }

  @Test func withoutDamageItIsRefused() throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["-extension", "DAMAGE"])
    let error = #expect(throws: RecorderError.self) {
      _ = try grabber(.display, on: display, [.className("a")])
    }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("DAMAGE") == true)
  }
}
