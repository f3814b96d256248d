import Glibc
import SessionModel
import TestSupport

/// `recorder replay` of a session, on a display of its own.
struct ReplayRig {
  /// The display; it holds nothing but the replay.
  let display: VirtualDisplay
  /// The replay.
  let process: ChildProcess
  private let session: RecordedSession

  /// What `recorder` finds in its environment. No sound server, and no ALSA device, unless `changes` name one.
  static func environment(
    _ session: RecordedSession, _ changes: [String: String?] = [:]
  ) -> [String: String?] {
    var values: [String: String?] = [
      "RECORDER_ARCHIVE": session.folder.path, "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
      "PULSE_SERVER": "unix:\(session.folder.path)/none", "ALSA_CONFIG_PATH": "/dev/null",
    ]
    values.merge(changes) { _, new in new }
    return values
  }

  /// Starts the replay with `arguments` and waits for its first picture.
  init(
    _ session: RecordedSession, _ arguments: [String], size: String = "640x480", environment: [String: String?] = [:]
  ) throws {
    self.session = session
    display = try VirtualDisplay(size: size)
    let display = display
    process = try ChildProcess(
      [builtProgram("recorder"), "replay", session.id.description] + arguments,
      environment: Self.environment(session, display.environment.merging(environment) { _, new in new }))
    let process = process
    try waitUntil("the replay's window") {
      guard process.isRunning else { throw TestFailure("replay ended: \(process.errorsSoFar)") }
      // The title has the session's place in it once the first picture is drawn.
      return try run(["xdotool", "search", "--class", "recorder", "getwindowname"], environment: display.environment)
        .text.contains(" / ")
    }
  }

  /// The window's title.
  var title: String {
    get throws {
      try run(["xdotool", "search", "--class", "recorder", "getwindowname"], environment: display.environment)
        .lines.first ?? ""
    }
  }

  /// Presses `keys`, as xdotool names them, one after the other.
  func press(_ keys: String...) throws {
    try run(["xdotool", "key"] + keys, environment: display.environment)
  }

  /// Waits until the title contains `text`.
  func waitForTitle(_ text: String) throws {
    var last = ""
    do {
      try waitUntil("a title with \(text)") {
        last = try title
        return last.contains(text)
      }
    } catch { throw TestFailure("\(error); it is \(last)") }
  }

  /// Waits until the pixel at `x`, `y` of the display is `colour`, 0xRRGGBB.
  func waitForPixel(_ x: Int, _ y: Int, _ colour: UInt32) throws {
    var last: UInt32 = 0
    do {
      try waitUntil("the colour \(String(colour, radix: 16))") {
        last = try ScreenGrab(display: display.name)[x, y]
        return last == colour
      }
    } catch { throw TestFailure("\(error); it is \(String(last, radix: 16))") }
  }

  /// Ends it with `q`.
  func quit() throws -> ChildProcess.Result {
    try press("q")
    return try process.wait()
  }
}
