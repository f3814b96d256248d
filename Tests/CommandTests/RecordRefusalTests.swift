import Glibc
import SessionModel
import TestSupport
import Testing

/// Bad input gets one sentence and a documented code, and leaves nothing in the archive.
@Suite struct RecordRefusalTests {
  private func expectRefused(
    _ arguments: [String], code: ExitCode, naming words: [String], environment: [String: String?] = [:]
  ) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let result = try rig.run(["record", "--duration", "1"] + arguments, environment: environment)
    #expect(result.ending == .exit(code.rawValue))
    #expect(result.text == "")
    // One line, whatever was in the input.
    #expect(result.errorText.split(separator: "\n").count == 1, "\(result.errorText)")
    for word in words { #expect(result.errorText.contains(word), "\(result.errorText)") }
    let sessions = try run(["find", rig.archive, "-name", "manifest.json"])
    #expect(sessions.text == "")
    #expect(try run(["find", rig.archive, "-path", "*/pending/*"]).text == "")
  }

  @Test(arguments: [
    (["nonsense"], ExitCode.usage, ["nonsense"]),
    (["monitor:NOPE"], .unavailable, ["NOPE", "screen"]),
    (["window:0x12345"], .unavailable, ["0x12345"]),
    (["window:title=no such window"], .unavailable, ["no such window"]),
    (["window:class=Nope"], .unavailable, ["Nope"]),
    (["region:0x0+0+0"], .usage, ["0x0"]),
    (["region:10x10+5000+5000"], .unavailable, ["outside"]),
    (["--size", "0x0"], .usage, ["0x0"]),
    (["--fps", "0"], .usage, ["0 frames", "240"]),
    (["--fps", "10000"], .usage, ["10000"]),
    (["--fps", "x"], .usage, ["x"]),
    (["--crf", "99"], .usage, ["99"]),
    (["--codec", "no-such-codec"], .unavailable, ["no-such-codec"]),
    (["--codec", "rawvideo"], .usage, ["matroska", "rawvideo"]),
    (["--preset", "warp"], .usage, ["warp"]),
    (["--pixel-format", "rgb565"], .usage, ["rgb565"]),
    (["--bogus"], .usage, ["--bogus"]),
    (["--app-audio=jack:1"], .usage, ["jack:1"]),
    (["--display", ":987"], .unavailable, [":987"]),
    (["\u{1B}]0;evil\u{07}"], .usage, ["\\u{1b}"]),
  ])
  func wrongOptions(arguments: [String], code: ExitCode, words: [String]) throws {
    try expectRefused(arguments, code: code, naming: words)
  }

  @Test func aMissingDisplayNamesDisplayAndAuthority() throws {
    try expectRefused([], code: .unavailable, naming: ["DISPLAY", "XAUTHORITY"], environment: ["DISPLAY": nil])
  }

  @Test func waylandIsNamedWithWhatWorks() throws {
    try expectRefused(
      [], code: .unavailable, naming: ["Wayland", "X11"],
      environment: ["DISPLAY": nil, "WAYLAND_DISPLAY": "wayland-0"])
  }

  @Test func theScreenOfXWaylandIsRefusedAndItsWindowsAreNot() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    // What XWayland calls its outputs.
    try run(
      ["xrandr", "--setmonitor", "XWAYLAND0", "320/100x240/80+0+0", "none"], environment: display.environment)
    for source in ["display", "monitor:XWAYLAND0", "region:10x10+0+0"] {
      let result = try rig.run(["record", source, "--duration", "1"])
      #expect(result.ending == .exit(69))
      #expect(result.errorText.contains("XWayland"))
      #expect(result.errorText.contains("X11 session"))
    }
    let client = try PatternClient(on: display, ["color"])
    let id = try rig.record(seconds: 0.2, ["window:0x\(String(client.window, radix: 16))"])
    #expect(try rig.manifest(id).source.window?.id == client.window)
  }

  @Test func anArchiveThatCannotBeMade() throws {
    try expectRefused(
      [], code: .cannotCreate, naming: ["/dev/null"], environment: ["RECORDER_ARCHIVE": "/dev/null/archive"])
  }

  @Test func noPlaceForTheArchive() throws {
    try expectRefused(
      [], code: .configuration, naming: ["RECORDER_ARCHIVE"],
      environment: ["RECORDER_ARCHIVE": nil, "HOME": nil, "XDG_DATA_HOME": nil])
  }

  @Test func anOddTitleIsKeptAsItIs() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let title = "it's \"quoted\"\nnew line 🙂 \u{1B}[31m" + String(repeating: "ä", count: 5_000)
    let id = try rig.record(seconds: 0.2, ["--title", title])
    #expect(try rig.manifest(id).options.title == title)
  }
}
