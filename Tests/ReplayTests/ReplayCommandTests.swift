import Glibc
import Replay
import SessionModel
import TestSupport
import Testing

@Suite("recorder replay")
struct ReplayCommandTests {
  private static func colour(_ index: Int) -> UInt32 { 0x010203 * UInt32(index + 1) }

  @Test("shows the picture at --at at once, each pixel, scaled with bars when the window is another shape")
  func picture() throws {
    let size = PixelSize(width: 65, height: 49)
    let session = try RecordedSession(Shot.series(12), length: 4000) {
      $0.size = size
      $0.title = "Ein \u{1B}Titel"
    }
    let rig = try ReplayRig(session, ["--at", "0.75", "--paused"])
    #expect(try rig.title == "Ein \\u{1b}Titel – 2026-11-30 03:15:33 – 0:00.750 / 0:04.000 – paused")
    try rig.waitForPixel(0, 0, Self.colour(7))
    let grab = try ScreenGrab(display: rig.display.name)
    let pixels = (0..<size.height).flatMap { y in (0..<size.width).map { x in grab[x, y] } }
    #expect(pixels == RecordedSession.pixels(Self.colour(7), size))
    let window = try run(["xdotool", "search", "--class", "recorder"], environment: rig.display.environment).lines[0]
    // 195x98 holds 130x98 of it: 65:49 twice, with 32 columns of black on the left. libyuv's enlarging rounds down.
    let enlarged = Self.colour(7) - 0x010101
    try run(["xdotool", "windowsize", window, "195", "98"], environment: rig.display.environment)
    try rig.waitForPixel(32, 0, enlarged)
    let wide = try ScreenGrab(display: rig.display.name)
    #expect((0..<195).map { wide[$0, 50] } == (0..<195).map { (32..<162).contains($0) ? enlarged : 0 })
    try rig.press("f")
    // The screen's 640x480 holds 637x480 of it, 1 column from the left.
    try rig.waitForPixel(600, 400, enlarged)
    let full = try ScreenGrab(display: rig.display.name)
    #expect((full[0, 240], full[1, 240], full[637, 240], full[638, 240]) == (0, enlarged, enlarged, 0))
    #expect(try rig.quit().status == 0)
  }

  @Test("shows files of other sizes in the window that there is, and frame writes each in its own size")
  func sizes() throws {
    let (first, second) = (PixelSize(width: 64, height: 48), PixelSize(width: 16, height: 48))
    let session = try RecordedSession(
      RecordedSession.Recipe(
        files: [Shot.series(2), Shot.series(2, from: 1000)], starts: [0, 1000], sizes: [nil, second], length: 2000))
    let rig = try ReplayRig(session, ["--at", "0.05", "--paused"])
    func row() throws -> [UInt32] {
      let grab = try ScreenGrab(display: rig.display.name)
      return (0..<first.width).map { grab[$0, 10] }
    }
    try rig.waitForPixel(5, 5, Self.colour(0))
    try rig.press("period")
    try rig.waitForPixel(5, 5, Self.colour(1))
    try rig.press("period")
    try rig.waitForPixel(30, 5, Self.colour(0))
    // A quarter as wide, it is in the middle, and nothing of the one before is beside it.
    #expect(try row() == (0..<64).map { (24..<40).contains($0) ? Self.colour(0) : 0 })
    try rig.press("comma")
    try rig.waitForPixel(5, 5, Self.colour(1))
    #expect(try row() == [UInt32](repeating: Self.colour(1), count: 64))
    #expect(try rig.quit().status == 0)
    var finder = try FrameFinder(session.timeline())
    for (time, size, index) in [(50, first, 0), (999, first, 1), (1000, second, 0), (1999, second, 1)] {
      let picture = try finder.picture(at: .milliseconds(Int64(time)))
      #expect(picture.size == size && picture.colours == RecordedSession.pixels(Self.colour(index), size))
    }
  }

  @Test("steps, seeks, changes speed and mutes by keys")
  func keys() throws {
    let session = try RecordedSession(Shot.series(200), length: 130_000)
    let rig = try ReplayRig(session, ["--paused", "--at", "1.25"])
    let steps: [(keys: [String], place: String, picture: Int)] = [
      (["period"], "0:01.300", 13), (["period", "period"], "0:01.500", 15), (["comma"], "0:01.400", 14),
      (["comma"], "0:01.300", 13), (["Right"], "0:06.300", 63), (["Right", "Right"], "0:16.300", 163),
      (["Left"], "0:11.300", 113), (["Up"], "1:11.300", 199), (["Up"], "2:10.000", 199), (["period"], "2:10.000", 199),
      (["comma"], "0:19.800", 198), (["Down"], "0:00.000", 0), (["comma"], "0:00.000", 0), (["Left"], "0:00.000", 0),
    ]
    for step in steps {
      for key in step.keys { try rig.press(key) }
      try rig.waitForTitle(" – \(step.place) / 2:10.000 – paused")
      try rig.waitForPixel(3, 3, Self.colour(step.picture))
    }
    try rig.press("bracketright")
    try rig.waitForTitle("paused – 2.0x")
    try rig.press("bracketright", "bracketright")
    try rig.waitForTitle("paused – 4.0x")
    for _ in 0..<6 { try rig.press("bracketleft") }
    try rig.waitForTitle("paused – 0.25x")
    try rig.press("m")
    try rig.waitForTitle("paused – 0.25x – muted")
    try rig.press("m", "9", "0", "bracketright", "bracketright")
    try rig.waitForTitle("2:10.000 – paused")
    try rig.press("Escape")
    #expect(try rig.process.wait().status == 0)
  }

  @Test("plays to the end and stays there; space begins again")
  func playing() throws {
    let session = try RecordedSession(Shot.series(12, every: 50), length: 1200)
    let rig = try ReplayRig(session, ["--speed", "4"])
    try rig.waitForTitle("0:01.200 / 0:01.200 – paused – 4.0x")
    try rig.waitForPixel(3, 3, Self.colour(11))
    // Slow enough that the title of the beginning is seen.
    for _ in 0..<4 { try rig.press("bracketleft") }
    try rig.press("space")
    try rig.waitForTitle("0:00 / 0:01.200 – 0.25x")
    try rig.waitForTitle("0:01.200 / 0:01.200 – paused – 0.25x")
    #expect(try rig.quit().status == 0)
  }

  @Test("without a sound device plays by the clock and says so once")
  func noSound() throws {
    let session = try RecordedSession(Shot.series(12, every: 50), length: 1000) { $0.tone = 0 }
    let rig = try ReplayRig(session, [])
    try rig.waitForTitle("0:01.000 / 0:01.000 – paused")
    let result = try rig.quit()
    #expect(result.status == 0)
    #expect(result.errorText.split(separator: "\n").count == 1)
    #expect(result.errorText.hasPrefix("recorder: There is no sound output."))
  }

  @Test("ends properly at a signal", arguments: [SIGINT, SIGTERM, SIGHUP])
  func signals(_ number: Int32) throws {
    let session = try RecordedSession(Shot.series(2), length: 90_000)
    let rig = try ReplayRig(session, [])
    rig.process.signal(number)
    #expect(try rig.process.wait().ending == .exit(0))
  }

  @Test("without a display, or when it goes away, says so with 69")
  func displays() throws {
    let session = try RecordedSession(Shot.series(2), length: 90_000)
    let none = try run(
      [builtProgram("recorder"), "replay", "last"], environment: ReplayRig.environment(session))
    #expect(none.status == 69)
    #expect(none.errorText.hasPrefix("recorder: There is no display: DISPLAY is not set."))
    let wrong = try run(
      [builtProgram("recorder"), "replay", "last"], environment: ReplayRig.environment(session, ["DISPLAY": ":64999"]))
    #expect(wrong.status == 69)
    let rig = try ReplayRig(session, ["--paused"])
    try rig.display.server.stop()
    let result = try rig.process.wait()
    #expect(result.status == 69)
    #expect(result.errorText == "recorder: The display was closed. Start its X server again.\n")
  }

  @Test("refuses what cannot be played in a sentence")
  func usage() throws {
    let session = try RecordedSession(Shot.series(2), length: 500)
    let cases: [(arguments: [String], status: Int32)] = [
      (["last", "--speed", "5"], 64), (["last", "--speed", "nan"], 64), (["last", "--volume", "1.1"], 64),
      (["last", "--at", "0.6"], 64), (["last~1"], 66), (["2025"], 66),
    ]
    for (arguments, status) in cases {
      let result = try run(
        [builtProgram("recorder"), "replay"] + arguments, environment: ReplayRig.environment(session))
      #expect(result.status == status, "\(arguments)")
      #expect(result.errorText.hasPrefix("recorder: ") && result.errorText.split(separator: "\n").count == 1)
      #expect(result.output.isEmpty)
    }
  }
}
