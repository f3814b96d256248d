import Capture
import SessionModel
import Synchronization
import TestSupport
import Testing

/// Sources that follow the focus, and windows with their menus and dialogs.
@Suite struct FollowTests {
  private typealias Changes = SourceGeometryTests.Changes

  private func grabber(
    on display: VirtualDisplay, _ changes: Changes, _ exclusions: [WindowExclusion] = []
  ) throws -> Grabber {
    try Grabber(.follow(.focus), on: display) { options in
      options.followsSize = true
      options.exclusions = exclusions
      options.report = { change, _ in changes.add(change) }
    }
  }

  private func client(
    on display: VirtualDisplay, _ color: String, _ geometry: String, title: String = "Window"
  ) throws -> PatternClient {
    try PatternClient(on: display, ["color", "--color", color, "--geometry", geometry, "--title", title])
  }

  @Test func theFocusIsFollowedWithoutWindowManager() throws {
    let display = try VirtualDisplay(size: "320x200")
    let changes = Changes()
    let red = try client(on: display, "FF0000", "100x80+10+10")
    let green = try client(on: display, "00FF00", "61x33+200+100")
    try red.tell("focus")
    let resolved = try SourceResolver(display: display.name).resolve(.follow(.focus))
    #expect(resolved.canvas == PixelSize(width: 320, height: 200))
    #expect(resolved.window == red.window)
    var grabber = try grabber(on: display, changes)
    let first = try grabber.next("the first window") { $0.size == PixelSize(width: 100, height: 80) }
    #expect(Set(first.pixels) == [0xFF0000])
    try green.tell("focus")
    let second = try grabber.next("the second window") { $0.size == PixelSize(width: 61, height: 33) }
    #expect(Set(second.pixels) == [0x00FF00])
    try green.tell("rect 0000FF 4x4+1+1")
    _ = try grabber.next("its change") { $0[1, 1] == 0x0000FF }
    // The other one is followed no more.
    try red.tell("color FFFFFF")
    #expect(try grabber.poll() == nil)
    try green.tell("quit")
    let again = try grabber.next("the window that is left") { $0.size.width == 100 }
    #expect(Set(again.pixels) == [0xFFFFFF])
    let replaced = changes.all.compactMap { change -> UInt32? in
      if case .replaced(let window) = change { window.id } else { nil }
    }
    #expect(replaced.last == red.window && replaced.contains(green.window))
    let places = [
      PixelRect(x: 10, y: 10, width: 100, height: 80), PixelRect(x: 200, y: 100, width: 61, height: 33),
    ]
    #expect(changes.all.contains(.geometry(from: places[0], to: places[1])))
  }

  @Test func theFocusIsFollowedUnderAWindowManager() throws {
    let display = try VirtualDisplay(size: "320x200")
    let manager = try WindowManager(on: display)
    let changes = Changes()
    let red = try client(on: display, "FF0000", "100x80+10+30")
    let green = try client(on: display, "00FF00", "61x33+200+100")
    var grabber = try grabber(on: display, changes)
    func activate(_ client: PatternClient) throws {
      try run(["xdotool", "windowactivate", "\(client.window)"], environment: display.environment)
    }
    for (client, color) in [(red, 0xFF0000), (green, 0x00FF00), (red, 0xFF0000)] as [(PatternClient, UInt32)] {
      try activate(client)
      _ = try grabber.next("the active window") { Set($0.pixels) == [color] }
    }
    // Minimised, the next one is active.
    try run(["xdotool", "windowminimize", "\(red.window)"], environment: display.environment)
    _ = try grabber.next("the next one") { Set($0.pixels) == [0x00FF00] }
    withExtendedLifetime(manager) {}
  }

  @Test func nothingIsShownOfAnExcludedWindowNorOfNone() throws {
    let display = try VirtualDisplay(size: "320x200")
    let changes = Changes()
    let secret = try client(on: display, "FF00FF", "100x80+10+10", title: "Secret")
    try secret.tell("focus")
    // The excluded one is active from the start.
    var grabber = try grabber(on: display, changes, [.titlePattern("Secret")])
    #expect(changes.all == [.absent(.unfocused)])
    let first = try grabber.next("a black picture") { _ in true }
    #expect(first.size == PixelSize(width: 320, height: 200) && Set(first.pixels) == [0])
    let open = try client(on: display, "00FF00", "60x40+200+100", title: "Open")
    try open.tell("focus")
    _ = try grabber.next("the open one") { Set($0.pixels) == [0x00FF00] }
    for _ in 0..<3 {
      try secret.tell("focus")
      try waitUntil("its absence") {
        if let picture = try grabber.poll(), picture.pixels.contains(0xFF00FF) { throw TestFailure("it leaked") }
        return changes.all.last == .absent(.unfocused)
      }
      try secret.tell("color FF00FF")
      try open.tell("focus")
      _ = try grabber.next("the open one again") { picture in
        if picture.pixels.contains(0xFF00FF) { return true }
        return Set(picture.pixels) == [0x00FF00]
      }
    }
    // One that is followed and takes a title that matches shows nothing from then on.
    try open.tell("title Secret 2")
    try open.tell("color FF00FF")
    try waitUntil("its absence") {
      if let picture = try grabber.poll(), picture.pixels.contains(0xFF00FF) { throw TestFailure("it leaked") }
      return changes.all.last == .absent(.unfocused)
    }
    #expect(
      !changes.all.contains { change in
        if case .replaced(let window) = change { window.title.contains("Secret") } else { false }
      })
  }

  // MARK: Popups

  private func popupGrabber(_ client: PatternClient, on display: VirtualDisplay) throws -> Grabber {
    try Grabber(.window(.id(client.window)), on: display) { options in
      options.followsSize = true
      options.popups = true
    }
  }

  /// A picture of 100x80 in `ground`, with `color` in `place`.
  private func picture(_ ground: UInt32, _ color: UInt32, _ place: PixelRect) -> [UInt32] {
    (0..<8000).map { index in
      place.contains(PixelRect(x: index % 100, y: index / 100, width: 1, height: 1)) ? color : ground
    }
  }

  @Test func menusAreWhereTheyAre() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try client(on: display, "00FF00", "100x80+50+40")
    let other = try PatternClient(
      on: display, ["color", "--color", "FFFFFF", "--geometry", "30x30+60+50", "--title", "Other"])
    var grabber = try popupGrabber(client, on: display)
    #expect(Set(try grabber.next("the window") { _ in true }.pixels) == [0x00FF00])
    try client.tell("popup FF0000 20x30+60+50")
    let place = PixelRect(x: 10, y: 10, width: 20, height: 30)
    _ = try grabber.next("the menu") { $0.pixels == picture(0x00FF00, 0xFF0000, place) }
    // What is drawn below it stays below it.
    try client.tell("rect 0000FF 15x15+0+0")
    let below = try grabber.next("the change") { $0[0, 0] == 0x0000FF }
    #expect(below[14, 9] == 0x0000FF && below[10, 10] == 0xFF0000 && below[14, 14] == 0xFF0000)
    try client.tell("color 00FF00")
    // Past the window's edge it is cut.
    try client.tell("popup FFFF00 40x30+130+100")
    _ = try grabber.next("the next menu") {
      $0.pixels == picture(0x00FF00, 0xFFFF00, PixelRect(x: 80, y: 60, width: 20, height: 20))
    }
    // The window moves below it.
    try client.tell("move 60 50")
    _ = try grabber.next("the move") {
      $0.pixels == picture(0x00FF00, 0xFFFF00, PixelRect(x: 70, y: 50, width: 30, height: 30))
    }
    try client.tell("popdown")
    _ = try grabber.next("the window alone") { Set($0.pixels) == [0x00FF00] }
    // An alpha of a half, premultiplied: red over green.
    try client.tell("popup 80800000 20x30+70+60")
    let blended = try grabber.next("the translucent menu") { $0[10, 10] != 0x00FF00 }
    let pixel = blended[10, 10]
    #expect(abs(Int(pixel >> 16) - 0x80) <= 1 && abs(Int(pixel >> 8 & 0xFF) - 0x7F) <= 1 && pixel & 0xFF == 0)
    #expect(blended.pixels == picture(0x00FF00, pixel, place))
    withExtendedLifetime(other) {}
  }

  @Test(arguments: [false, true]) func dialogsAreWhereTheyAre(managed: Bool) throws {
    let display = try VirtualDisplay(size: "320x200")
    let manager = managed ? try WindowManager(on: display) : nil
    let client = try client(on: display, "00FF00", "100x80+50+60")
    var grabber = try popupGrabber(client, on: display)
    #expect(Set(try grabber.next("the window") { _ in true }.pixels) == [0x00FF00])
    let dialog = try PatternClient(
      on: display,
      [
        "color", "--color", "FF0000", "--geometry", "40x20+80+90", "--transient-for",
        "0x\(String(client.window, radix: 16))",
      ])
    let shown = try grabber.next("the dialog") { $0.pixels.count { $0 == 0xFF0000 } == 800 }
    let corner = try #require(shown.pixels.firstIndex(of: 0xFF0000))
    if !managed { #expect(corner == 30 * 100 + 30) }
    try dialog.tell("rect FFFFFF 4x4+0+0")
    _ = try grabber.next("its change") { $0.pixels[corner] == 0xFFFFFF }
    // A dialog of the dialog.
    let inner = try PatternClient(
      on: display,
      [
        "color", "--color", "0000FF", "--geometry", "10x10+90+95", "--transient-for",
        "0x\(String(dialog.window, radix: 16))",
      ])
    _ = try grabber.next("the dialog's dialog") { $0.pixels.count { $0 == 0x0000FF } == 100 }
    try inner.tell("quit")
    try dialog.tell("quit")
    _ = try grabber.next("the window alone") { Set($0.pixels) == [0x00FF00] }
    withExtendedLifetime(manager) {}
  }

  /// A dialog for all of an application names the root, and the leader that the application's windows have in common.
  @Test func aDialogOfTheWholeApplicationIsShown() throws {
    let display = try VirtualDisplay(size: "320x200")
    let root = try #require(
      try run(["xwininfo", "-root"], environment: display.environment).text.split(separator: " ")
        .first { $0.hasPrefix("0x") })
    let leader = try PatternClient(on: display, ["color", "--unmapped", "--geometry", "1x1"])
    let leaders = ["--leader", "0x\(String(leader.window, radix: 16))"]
    let owner = try PatternClient(on: display, ["color", "--color", "00FF00", "--geometry", "100x80+50+40"] + leaders)
    var grabber = try popupGrabber(owner, on: display)
    #expect(Set(try grabber.next("the window") { _ in true }.pixels) == [0x00FF00])
    func dialog(_ color: String, _ more: [String]) throws -> PatternClient {
      try PatternClient(
        on: display, ["color", "--color", color, "--geometry", "40x20+60+50", "--transient-for", "\(root)"] + more)
    }
    // One of another application, in the same place, is not.
    let foreign = try dialog("0000FF", ["--leader", "0x\(String(owner.window, radix: 16))"])
    let own = try dialog("FF0000", leaders)
    _ = try grabber.next("the dialog") {
      $0.pixels == picture(0x00FF00, 0xFF0000, PixelRect(x: 10, y: 10, width: 40, height: 20))
    }
    try own.tell("quit")
    _ = try grabber.next("the window alone") { Set($0.pixels) == [0x00FF00] }
    withExtendedLifetime((leader, foreign)) {}
  }

  @Test func withoutDamageThereAreNoPopups() throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["-extension", "DAMAGE"])
    let client = try client(on: display, "00FF00", "100x80+50+40")
    let error = #expect(throws: RecorderError.self) { _ = try popupGrabber(client, on: display) }
    #expect(error?.code == .unavailable && error?.message.contains("--popups") == true)
  }

  @Test func aWindowWithoutPixelsIsRefused() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["color", "--input-only", "--geometry", "50x50"])
    let resolver = try SourceResolver(display: display.name)
    let error = #expect(throws: RecorderError.self) { try resolver.resolve(.window(.id(client.window))) }
    #expect(error?.code == .unavailable)
    #expect(error?.message == "The window 0x\(String(client.window, radix: 16)) takes input only and shows nothing.")
  }
}
