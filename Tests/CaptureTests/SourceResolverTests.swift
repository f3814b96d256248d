import Capture
import SessionModel
import TestSupport
import Testing

@Suite struct SourceResolverTests {
  /// The error of opening the display that `environment` describes.
  private func refusal(_ environment: [String: String]) -> RecorderError? {
    #expect(throws: RecorderError.self) { try DisplayName(nil) { environment[$0] } }
  }

  @Test func missingDisplayNamesWhatToSet() {
    let none = refusal([:])
    #expect(none?.code == .unavailable)
    #expect(none?.description.contains("DISPLAY is not set") == true)
    #expect(none?.description.contains("XAUTHORITY") == true)
    let wayland = refusal(["WAYLAND_DISPLAY": "wayland-0"])
    #expect(wayland?.code == .unavailable)
    for word in ["Wayland", "wayland-0", "X11 session", "XWayland"] {
      #expect(wayland?.description.contains(word) == true)
    }
  }

  @Test func displayComesFromTheOptionThenTheEnvironment() throws {
    #expect(try DisplayName(":5") { ["DISPLAY": ":7"][$0] }.name == ":5")
    #expect(try DisplayName(nil) { ["DISPLAY": ":7", "WAYLAND_DISPLAY": "wayland-0"][$0] }.name == ":7")
    let error = try DisplayName(nil) { ["DISPLAY": ":7\u{1B}[2J", "XAUTHORITY": "/none"][$0] }.unreachable
    #expect(error.message.contains("\":7\\u{1b}[2J\" (from DISPLAY)"))
    #expect(error.message.contains("XAUTHORITY is \"/none\""))
  }

  @Test func unreachableDisplayIsNamed() {
    let error = #expect(throws: RecorderError.self) { _ = try SourceResolver(display: ":59999") }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("\":59999\"") == true)
  }

  @Test func wholeDisplayAndRegion() throws {
    let display = try VirtualDisplay(size: "321x199")
    let resolver = try SourceResolver(display: display.name)
    let whole = try resolver.resolve(.display)
    #expect(whole.source.rect == PixelRect(x: 0, y: 0, width: 321, height: 199))
    #expect(whole.window == nil)
    #expect(whole.display == display.name)
    let region = PixelRect(x: 300, y: 10, width: 100, height: 50)
    #expect(try resolver.resolve(.region(region)).source.rect == region)
    let error = #expect(throws: RecorderError.self) {
      try resolver.resolve(.region(PixelRect(x: 321, y: 0, width: 10, height: 10)))
    }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("321x199") == true)
  }

  @Test func monitorsAreFoundByName() throws {
    let display = try VirtualDisplay(size: "320x200")
    let client = try PatternClient(on: display, ["bars"])
    for (name, geometry) in [("left", "160/40x200/50+0+0"), ("right", "160/40x100/25+160+100")] {
      try run(["xrandr", "-display", display.name, "--setmonitor", name, geometry, "none"])
    }
    let resolver = try SourceResolver(display: display.name)
    let right = try resolver.resolve(.monitor(name: "right"))
    #expect(right.source.rect == PixelRect(x: 160, y: 100, width: 160, height: 100))
    let error = #expect(throws: RecorderError.self) { try resolver.resolve(.monitor(name: "middle")) }
    #expect(error?.code == .unavailable)
    #expect(error?.hint?.contains("left") == true && error?.hint?.contains("right") == true)
    var grabber = try Grabber(.monitor(name: "right"), on: display)
    let picture = try grabber.next("the monitor") { _ in true }
    let bars: [UInt32] = (0..<160).map { (x: Int) in PatternLayout.bars[4 + x / 40] }
    #expect(Array(picture.pixels[..<160]) == bars)
    withExtendedLifetime(client) {}
  }

  @Test func serverWithoutRandRNamesNoMonitors() throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["-extension", "RANDR"])
    let error = #expect(throws: RecorderError.self) {
      try SourceResolver(display: display.name).resolve(.monitor(name: "eDP-1"))
    }
    #expect(error?.hint == "The display names no monitors; record display.")
  }

  /// A server whose RandR is older than 1.5 knows outputs alone.
  @Test func outputsAreMonitorsBeforeRandR15() throws {
    let display = try VirtualDisplay(size: "320x200")
    try run(["xrandr", "-display", display.name, "--setmonitor", "left", "160/40x200/50+0+0", "none"])
    let client = try PatternClient(on: display, ["color", "--color", "FF00FF"])
    let proxy = try DisplayProxy(to: display, [.randr12])
    let error = #expect(throws: RecorderError.self) {
      try SourceResolver(display: proxy.name).resolve(.monitor(name: "left"))
    }
    #expect(error?.hint == "There is screen.")
    var grabber = try Grabber(.monitor(name: "screen"), on: display, through: proxy.name)
    let picture = try grabber.next("the output") { _ in true }
    #expect(picture.size == PixelSize(width: 320, height: 200) && Set(picture.pixels) == [0xFF00FF])
    withExtendedLifetime((client, proxy)) {}
  }

  @Test func displayThatShrinksIsBlackWhereItWas() throws {
    let display = try VirtualDisplay(size: "640x480")
    let client = try PatternClient(on: display, ["color", "--color", "FF00FF"])
    var grabber = try Grabber(.display, on: display)
    _ = try grabber.next()
    // 400x300, in no standard list, at any rate Xvfb takes.
    try run(
      [
        "xrandr", "-display", display.name, "--newmode", "small", "9", "400", "410", "450", "500", "300", "301", "304",
        "310",
      ])
    try run(["xrandr", "-display", display.name, "--addmode", "screen", "small"])
    try run(["xrandr", "-display", display.name, "--output", "screen", "--mode", "small"])
    let small = try grabber.next("the smaller screen") { $0[399, 299] == 0xFF00FF && $0[400, 0] == 0 }
    #expect(small.size == PixelSize(width: 640, height: 480))
    #expect(small.colors(in: PixelRect(x: 0, y: 0, width: 400, height: 300)) == [0xFF00FF])
    #expect(small.pixels.count { $0 == 0 } == 640 * 480 - 400 * 300)
    try client.tell("rect 00FF00 9x9+390+290")
    let change = try grabber.next("the change") { $0[398, 298] == 0x00FF00 }
    #expect(change.rects == [PixelRect(x: 390, y: 290, width: 9, height: 9)])
  }
}
