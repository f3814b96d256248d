import Presentation
import SessionModel
import TestSupport
import Testing
import Threading

@Suite("A window that shows pictures")
struct PresentationWindowTests {
  private static let minute: Int64 = 60_000_000_000

  /// Fills the window with a gradient that names each pixel: red is x, green is y, blue is `blue`.
  private static func paint(_ surface: PresentationSurface, blue: UInt8) {
    for y in 0..<surface.size.height {
      for x in 0..<surface.size.width {
        let value = UInt32(x & 0xFF) << 16 | UInt32(y & 0xFF) << 8 | UInt32(blue)
        surface.pixels.storeBytes(of: value, toByteOffset: y * surface.bytesPerRow + x * 4, as: UInt32.self)
      }
    }
  }

  private static func show(in window: inout PresentationWindow, blue: UInt8) throws {
    let surface = try window.surface()
    paint(surface, blue: blue)
    window.show(surface)
  }

  /// The window's next event, which must come.
  private static func next(_ window: inout PresentationWindow) throws -> WindowEvent? {
    let deadline = MonotonicClock.now() + minute
    while MonotonicClock.now() < deadline {
      if let event = try window.nextEvent() { return event }
      try window.wait(until: deadline, wake: WakeSignal())
    }
    return nil
  }

  private static func startManager(_ display: VirtualDisplay, ready: String) throws -> ChildProcess {
    // Openbox runs the command once it manages windows; one mapped while it starts is left out.
    let manager = try ChildProcess(
      ["openbox", "--sm-disable", "--startup", "touch \(ready)"], environment: display.environment)
    try waitUntil("the window manager") { (try? readFile(ready)) != nil }
    return manager
  }

  @Test("Every pixel arrives, with shared memory and without", arguments: [[], ["-extension", "MIT-SHM"]])
  func pixels(_ arguments: [String]) throws {
    // 1201 pixels across and 701 down, 3.3 MB: more than one request of a server without large requests holds.
    let display = try VirtualDisplay(size: "1201x701", arguments: arguments)
    var window = try PresentationWindow(
      display: display.name, size: PixelSize(width: 1201, height: 701), title: "pixels")
    for blue in [UInt8(7), 200] {
      try Self.show(in: &window, blue: blue)
      // A second picture waits until the server has read the first.
      try Self.show(in: &window, blue: blue)
      // The grab is another client's: what this one sent first is done first, once its events are read.
      try waitUntil("the picture") {
        _ = try window.nextEvent()
        let grab = try ScreenGrab(display: display.name)
        return grab[0, 0] == UInt32(blue)
          && grab[1200, 700] == UInt32(1200 & 0xFF) << 16 | (700 & 0xFF) << 8 | UInt32(blue)
      }
      let grab = try ScreenGrab(display: display.name, window: window.id)
      #expect(grab.size == PixelSize(width: 1201, height: 701))
      #expect(grab[300, 77] == UInt32(300 & 0xFF) << 16 | 77 << 8 | UInt32(blue))
    }
  }

  @Test("Keys become what they ask for; those with Control do nothing")
  func keys() throws {
    let display = try VirtualDisplay()
    var window = try PresentationWindow(display: display.name, size: PixelSize(width: 64, height: 48), title: "keys")
    try waitUntil("the focus") {
      _ = try window.nextEvent()
      return try run(["xdotool", "getwindowfocus"], environment: display.environment).lines == ["\(window.id)"]
    }
    let keys: [(String, PresentationKey)] = [
      ("space", .pause), ("p", .pause), ("Left", .back), ("Right", .forward), ("Down", .farBack), ("Up", .farForward),
      ("comma", .stepBack), ("period", .stepForward), ("bracketleft", .slower), ("bracketright", .faster),
      ("m", .mute), ("9", .quieter), ("0", .louder), ("t", .track), ("f", .fullScreen), ("q", .quit), ("Escape", .quit),
    ]
    for (name, key) in keys {
      try run(["xdotool", "key", "ctrl+\(name)", "key", "x", "key", name], environment: display.environment)
      #expect(try Self.next(&window) == .key(key), "\(name)")
    }
    #expect(Set(keys.map(\.1)) == Set(PresentationKey.allCases))
  }

  @Test("A resized window says so and takes a picture of the new size; full screen goes there and back")
  func resizing() throws {
    let display = try VirtualDisplay(size: "320x240")
    var window = try PresentationWindow(display: display.name, size: PixelSize(width: 64, height: 48), title: "size")
    try Self.show(in: &window, blue: 1)
    try run(["xdotool", "windowsize", "\(window.id)", "100", "90"], environment: display.environment)
    #expect(try Self.next(&window) == .resized)
    #expect(window.size == PixelSize(width: 100, height: 90))
    try Self.show(in: &window, blue: 2)
    window.toggleFullScreen()
    #expect(try Self.next(&window) == .resized)
    #expect(window.size == PixelSize(width: 320, height: 240))
    try Self.show(in: &window, blue: 3)
    try waitUntil("the picture") { try ScreenGrab(display: display.name)[255, 239] == 0xFFEF03 }
    window.toggleFullScreen()
    #expect(try Self.next(&window) == .resized)
    #expect(window.size == PixelSize(width: 100, height: 90))
  }

  @Test("Under a window manager: the screen is filled, and closing asks the player")
  func managed() throws {
    let display = try VirtualDisplay(size: "320x240")
    let folder = try TemporaryFolder()
    let manager = try Self.startManager(display, ready: folder.file("ready"))
    var window = try PresentationWindow(display: display.name, size: PixelSize(width: 64, height: 48), title: "managed")
    try waitUntil("the window to be managed") {
      _ = try window.nextEvent()
      return try run(["xprop", "-id", "\(window.id)", "WM_STATE"], environment: display.environment).text
        .contains("Normal")
    }
    window.toggleFullScreen()
    #expect(try Self.next(&window) == .resized)
    #expect(window.size == PixelSize(width: 320, height: 240))
    window.toggleFullScreen()
    #expect(try Self.next(&window) == .resized)
    #expect(window.size == PixelSize(width: 64, height: 48))
    // What a window manager's close button sends.
    try run(["xdotool", "windowfocus", "--sync", "\(window.id)", "key", "alt+F4"], environment: display.environment)
    #expect(try Self.next(&window) == .closed)
    try manager.stop()
  }

  @Test("It fills the screen from the start when asked", arguments: [false, true])
  func fullScreen(_ isManaged: Bool) throws {
    let display = try VirtualDisplay(size: "320x240")
    let folder = try TemporaryFolder()
    let manager = isManaged ? try Self.startManager(display, ready: folder.file("ready")) : nil
    var window = try PresentationWindow(
      display: display.name, size: PixelSize(width: 64, height: 48), title: "full", fullScreen: true)
    #expect(try Self.next(&window) == .resized)
    #expect(window.size == PixelSize(width: 320, height: 240))
    try manager?.stop()
  }

  @Test("The title arrives as it is, control characters shown")
  func title() throws {
    let display = try VirtualDisplay()
    var window = try PresentationWindow(display: display.name, size: PixelSize(width: 64, height: 48), title: "first")
    window.setTitle("Ünïcode 😀 \u{1B}[31m\nline")
    _ = try window.nextEvent()
    try waitUntil("the title") {
      let name = try run(["xdotool", "getwindowname", "\(window.id)"], environment: display.environment)
      return name.text == "Ünïcode 😀 \\u{1b}[31m line\n"
    }
  }

  @Test("No display, a wrong one and one that goes away are told in a sentence")
  func displays() throws {
    let size = PixelSize(width: 10, height: 10)
    for name in [":64999", "nonsense", "host.invalid:0"] {
      do throws(RecorderError) {
        _ = try PresentationWindow(display: name, size: size, title: "")
        Issue.record("\(name) opened")
      } catch {
        #expect(error.code == .unavailable)
        #expect(error.message == "The display \"\(name)\" cannot be opened.")
      }
    }
    let shallow = try VirtualDisplay(depth: 16)
    #expect(throws: RecorderError.self) {
      _ = try PresentationWindow(display: shallow.name, size: size, title: "")
    }
    let display = try VirtualDisplay()
    var window = try PresentationWindow(display: display.name, size: size, title: "")
    try display.server.stop()
    do throws(RecorderError) {
      try window.wait(until: MonotonicClock.now() + Self.minute, wake: WakeSignal())
      while true {
        _ = try window.nextEvent()
      }
    } catch {
      #expect(error.code == .unavailable)
    }
  }
}
