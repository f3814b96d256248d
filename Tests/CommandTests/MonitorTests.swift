import SessionModel
import TestSupport
import Testing

/// Cases X13 and X25: two monitors in each layout, recorded at once: each shows what is on it, a region shows its part of both, and one that
/// is unplugged changes nothing for the other.
@Suite(.serialized) struct MonitorTests {
  /// Where two monitors are. Sides are odd, and so are those of the screen.
  struct Layout: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let primary: PixelRect
    let other: PixelRect

    /// Both of them.
    var screen: PixelRect { primary.union(other) }
  }

  static let layouts = [
    Layout(
      testDescription: "left of the primary", primary: PixelRect(x: 161, y: 0, width: 200, height: 151),
      other: PixelRect(x: 0, y: 30, width: 161, height: 121)),
    Layout(
      testDescription: "right of the primary", primary: PixelRect(x: 0, y: 0, width: 201, height: 151),
      other: PixelRect(x: 201, y: 10, width: 160, height: 121)),
    Layout(
      testDescription: "above the primary", primary: PixelRect(x: 0, y: 121, width: 201, height: 150),
      other: PixelRect(x: 20, y: 0, width: 161, height: 121)),
    Layout(
      testDescription: "below the primary", primary: PixelRect(x: 0, y: 0, width: 201, height: 151),
      other: PixelRect(x: 11, y: 151, width: 160, height: 120)),
  ]

  private func set(_ name: String, _ rect: PixelRect, on display: VirtualDisplay) throws {
    let geometry = "\(rect.width)/60x\(rect.height)/40+\(rect.x)+\(rect.y)"
    let result = try run(["xrandr", "--setmonitor", name, geometry, "none"], environment: display.environment)
    guard result.status == 0 else { throw TestFailure("xrandr: \(result.errorText)") }
  }

  private func client(_ rect: PixelRect, _ color: UInt32, on display: VirtualDisplay) throws -> PatternClient {
    try PatternClient(
      on: display,
      ["color", "--color", String(color, radix: 16), "--geometry", "\(rect.size)+\(rect.x)+\(rect.y)"])
  }

  /// The colour of a picture's pixel `index`.
  private static func color(_ picture: [UInt8], _ index: Int) -> UInt32 {
    let channels = picture[index * 4..<index * 4 + 3].map { UInt32($0) }
    return channels[2] << 16 | channels[1] << 8 | channels[0]
  }

  /// The colour at a place of each picture, repetitions left out.
  private func colors(_ watch: WatchedRecording, at x: Int, _ y: Int) throws -> [UInt32] {
    var colors: [UInt32] = []
    for pixel in try MediaFile.pictures(watch.media, PixelRect(x: x, y: y, width: 1, height: 1)) {
      let color = Self.color(pixel, 0)
      if colors.last != color { colors.append(color) }
    }
    return colors
  }

  @Test(arguments: layouts) func eachIsRecordedAtItsPlace(layout: Layout) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "\(layout.screen.size)"))
    let display = try #require(rig.display)
    // The asterisk makes it the primary one.
    try set("*HOME", layout.primary, on: display)
    try set("SIDE", layout.other, on: display)
    let home = try client(layout.primary, 0x203040, on: display)
    let side = try client(layout.other, 0x605040, on: display)
    // The last pixel of each, so that a picture that is cut or moved by one is another.
    try home.tell("rect FF0000 1x1+\(layout.primary.width - 1)+\(layout.primary.height - 1)")
    try side.tell("rect 00FF00 1x1+\(layout.other.width - 1)+\(layout.other.height - 1)")
    // What both monitors have of it: around the middle of the edge that they share.
    let isBeside = layout.primary.y < layout.other.maxY && layout.other.y < layout.primary.maxY
    let region =
      isBeside
      ? PixelRect(x: max(layout.primary.x, layout.other.x) - 31, y: 60, width: 61, height: 41)
      : PixelRect(x: 60, y: max(layout.primary.y, layout.other.y) - 21, width: 61, height: 41)
    let watches = try ["monitor:HOME", "monitor:SIDE", "region:\(region)", "display"].map { source in
      try WatchedRecording(rig, [source])
    }
    let drawn = try side.tell("rect 00FF00 1x1+\(layout.other.width - 1)+\(layout.other.height - 1)")
    for watch in [watches[1], watches[3]] { try watch.wait("a frame", at: drawn) }
    // Unplugged while it and its neighbour are recorded.
    try run(["xrandr", "--delmonitor", "SIDE"], environment: display.environment)
    let loss = try watches[1].event("the loss") {
      $0.kind == .warning && $0.text?.contains("monitor is not there") == true
    }
    try watches[0].show(0x708090, in: home)
    try side.tell("color A0B0C0")
    try set("SIDE", layout.other, on: display)
    try watches[1].event("its return") { $0.kind == .source && $0.text?.contains("there again") == true }
    try watches[1].show(0xD0E0F0, in: side)
    for watch in watches { #expect(try watch.stop().ending == .exit(0)) }

    let sizes = try watches.map { try #require(try rig.manifest($0.recording.id).tracks.first?.size) }
    #expect(sizes == [layout.primary.size, layout.other.size, region.size, layout.screen.size])
    #expect(try colors(watches[0], at: 0, 0) == [0x203040, 0x708090])
    #expect(try colors(watches[0], at: layout.primary.width - 1, layout.primary.height - 1).first == 0xFF0000)
    #expect(try colors(watches[1], at: 0, 0) == [0x605040, 0xA0B0C0, 0xD0E0F0])
    #expect(try colors(watches[1], at: layout.other.width - 1, layout.other.height - 1).first == 0x00FF00)
    let first = try #require(try MediaFile.pictures(watches[2].media, PixelRect(region.size)).first)
    let expected = (0..<region.size.area).map { index -> UInt32 in
      let x = region.x + index % region.width
      let pixel = PixelRect(x: x, y: region.y + index / region.width, width: 1, height: 1)
      return layout.other.contains(pixel) ? 0x605040 : layout.primary.contains(pixel) ? 0x203040 : 0
    }
    let found = (0..<region.size.area).map { Self.color(first, $0) }
    #expect(found == expected)
    let gaps = try watches.map { try rig.events($0.recording.id).compactMap(\.gap) }
    #expect(gaps.map(\.count) == [0, 1, 0, 0])
    #expect(gaps[1].first?.reason == "the monitor is not there" && gaps[1].first?.start == loss.time)
    // While it was away its last picture stood.
    let span = (gaps[1].first.map { $0.start.nanoseconds + 1_000_000..<$0.end.nanoseconds - 1_000_000 })
    #expect(try MediaFile.times(watches[1].media).allSatisfy { span?.contains(Int64($0) * 1_000_000) == false })
    for watch in [watches[0], watches[2], watches[3]] {
      #expect(!(try rig.events(watch.recording.id).contains { $0.kind == .warning }))
    }
  }
}
