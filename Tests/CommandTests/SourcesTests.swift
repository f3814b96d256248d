import FoundationEssentials
import SessionModel
import TestSupport
import Testing

/// `recorder sources`: what there is, in the words that `record` takes.
@Suite struct SourcesTests {
  private struct Found: Decodable {
    struct Monitor: Decodable, Equatable {
      var name: String
      var rect: PixelRect
      var isPrimary: Bool
    }
    struct Window: Decodable {
      var window: WindowInfo
      var command: String?
      var isVisible: Bool
      var isActive: Bool
    }
    struct Device: Decodable {
      var specification: String
      var isMonitor: Bool
    }
    struct Player: Decodable {
      var name: String
      var pid: Int?
      var isPaused: Bool
    }
    var display: String
    var screen: PixelSize
    var monitors: [Monitor]
    var windows: [Window]
    var soundDevices: [Device]
    var players: [Player]
  }

  private func sources(_ rig: RecorderRig, environment: [String: String?] = [:]) throws -> Found {
    let result = try rig.run(["sources", "--json"], environment: environment)
    #expect(result.status == 0, "\(result.errorText)")
    let line = result.text.split(separator: "\n").joined(separator: " ")
    #expect(try JSONSchema.problems("sources", [line]) == [""])
    return try JSONDecoder().decode(Found.self, from: Data(result.output))
  }

  /// Case X07: nobody says which windows there are.
  @Test func monitorsAndWindowsWithoutWindowManager() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    for monitor in [["LEFT", "320/80x480/120+0+0"], ["*RIGHT", "319/80x480/120+321+0"]] {
      try run(["xrandr", "--setmonitor"] + monitor + ["none"], environment: display.environment)
    }
    let below = try PatternClient(on: display, ["color", "--title", "Below", "--geometry", "100x80+10+20"])
    let above = try PatternClient(
      on: display, ["color", "--title", "Ab\u{1b}ove", "--class", "Oben", "--geometry", "50x60+30+40"])
    let silent = ["PULSE_SERVER": "unix:/nonexistent"]
    let found = try sources(rig, environment: silent)
    #expect(found.display == display.name)
    #expect(found.screen == PixelSize(width: 640, height: 480))
    #expect(
      found.monitors.filter { $0.name != "screen" }.sorted { $0.name < $1.name } == [
        .init(name: "LEFT", rect: PixelRect(x: 0, y: 0, width: 320, height: 480), isPrimary: false),
        .init(name: "RIGHT", rect: PixelRect(x: 321, y: 0, width: 319, height: 480), isPrimary: true),
      ])
    #expect(found.windows.map(\.window.title) == ["Ab\u{1b}ove", "Below"])
    #expect(found.windows.map(\.window.id) == [above.window, below.window])
    #expect(found.windows.map(\.window.className) == ["Oben", "test-pattern"])
    #expect(found.windows.map(\.window.pid) == [Int(above.process.pid), Int(below.process.pid)])
    #expect(found.windows.map(\.command) == ["test-pattern", "test-pattern"])
    #expect(found.windows[0].window.rect == PixelRect(x: 30, y: 40, width: 50, height: 60))
    #expect(found.windows.map(\.isActive) == [true, false])
    #expect(found.windows.map(\.isVisible) == [true, true])
    #expect(found.players.isEmpty)

    let text = try rig.run(["sources"], environment: silent)
    #expect(text.status == 0)
    #expect(text.lines.contains { $0.hasPrefix("monitor:RIGHT") && $0.hasSuffix("monitor, primary") })
    // What a terminal would obey is shown instead.
    #expect(!text.text.contains("\u{1b}"))
    #expect(text.lines.contains { $0.hasPrefix("window:0x\(String(above.window, radix: 16)) ") })
  }

  /// What is printed can be pasted into a shell.
  @Test func aNameThatAShellWouldTakeApartIsQuoted() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let name = "the 'left' $one"
    try run(
      ["xrandr", "--setmonitor", name, "320/80x480/120+0+0", "none"],
      environment: try #require(rig.display).environment)
    let line = try #require(rig.run(["sources"]).lines.first { $0.contains("320x480") })
    let end = try #require(line.firstRange(of: "  320x480")).lowerBound
    #expect(try TestSupport.run(["sh", "-c", "printf %s " + line[..<end]]).text == "monitor:" + name)
  }

  @Test func hiddenWindowsOfAManagerAreListedAsHidden() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    let manager = try WindowManager(on: display)
    let client = try PatternClient(on: display, ["color", "--title", "Small", "--geometry", "100x80"])
    try run(["xdotool", "windowminimize", "--sync", "\(client.window)"], environment: display.environment)
    let found = try sources(rig)
    #expect(found.windows.map(\.window.title) == ["Small"])
    #expect(found.windows.map(\.isVisible) == [false])
    withExtendedLifetime(manager) {}
  }

  @Test func soundDevicesAndPlayers() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let player = try server.play([Float](repeating: 0.1, count: 48_000 * 2 * 20))
    try waitUntil("the player") {
      try !run(["pactl", "list", "short", "sink-inputs"], environment: server.environment).lines.isEmpty
    }
    let found = try sources(rig, environment: server.environment)
    let pulse = found.soundDevices.filter { $0.specification.hasPrefix("pulse:") }
    #expect(pulse.contains { $0.specification == "pulse:microphone" && !$0.isMonitor })
    #expect(pulse.contains { $0.specification == "pulse:desktop.monitor" && $0.isMonitor })
    #expect(found.players.contains { $0.pid == Int(player.pid) && !$0.isPaused })
    try player.stop()
  }

  @Test func noDisplayIsNamed() throws {
    let result = try RecorderRig().run(["sources"])
    #expect(result.status == 69)
    #expect(result.errorText.contains("DISPLAY is not set"))
  }

  /// Windows are recorded by every way of naming them; more than one match is said.
  @Test func selectorsFindTheTopmost() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display)
    let clients = try ["Invoice 17", "Invoice 18", "Letter"].map { title in
      try PatternClient(on: display, ["color", "--title", title, "--geometry", "64x48"])
    }
    func recorded(_ source: String) throws -> (window: UInt32?, errors: String) {
      let result = try rig.run(["record", source, "--duration", "100ms"])
      #expect(result.status == 0, "\(result.errorText)")
      let id = try #require(SessionID(result.text.split(separator: "\n").first ?? ""))
      return (try rig.manifest(id).source.window?.id, result.errorText)
    }
    let several = try recorded("window:title~=^Invoice [0-9]+$")
    #expect(several.window == clients[1].window)
    #expect(
      several.errors.contains("2 windows match window:title~=^Invoice [0-9]+$; the topmost is recorded, \"Invoice 18\"")
    )
    let one = try recorded("window:title~=17")
    #expect(one.window == clients[0].window)
    #expect(!one.errors.contains("match"))
    #expect(try recorded("window:pid=\(clients[2].process.pid)").window == clients[2].window)
    #expect(try recorded("window:command=TEST-pattern").window == clients[2].window)
    #expect(try rig.run(["record", "window:pid=1"]).status == 69)
    let wrong = try rig.run(["record", "window:title~=("])
    #expect(wrong.status == 64)
    #expect(wrong.errorText.contains("\"(\" is not a regular expression."))
  }
}
