import Capture
import SessionModel
import TestSupport
import Testing

/// Every visual's pixels become the same colours, or are refused by name.
@Suite struct PixelLayoutTests {
  /// One row of the table: how pixels lie, and how far a channel may be off (half a step of five bits is 4).
  struct Case: Sendable, CustomTestStringConvertible {
    var depth: Int
    var bits: Int
    var masks: [UInt32]
    var isLittleEndian = true
    var tolerance = 0
    var testDescription: String {
      "depth \(depth), \(bits) bits, \(masks.map { String($0, radix: 16) }), \(isLittleEndian ? "little" : "big")"
    }
    var description: PixelLayout.Description {
      PixelLayout.Description(
        id: 0x21, depth: depth, bitsPerPixel: bits, rowPadding: 32, isLittleEndian: isLittleEndian, isIndexed: false,
        masks: masks)
    }
  }

  static let eight: [UInt32] = [0xFF0000, 0xFF00, 0xFF]
  static let ten: [UInt32] = [0x3FF0_0000, 0xF_FC00, 0x3FF]
  static let packed565: [UInt32] = [0xF800, 0x7E0, 0x1F]
  static let packed555: [UInt32] = [0x7C00, 0x3E0, 0x1F]
  static let cases: [Case] = [
    (24, 32, eight, 0), (32, 32, eight, 0), (24, 24, eight, 0), (30, 32, ten, 1),
    (16, 16, packed565, 8), (15, 16, packed555, 8),
  ].flatMap { depth, bits, masks, tolerance in
    [true, false].flatMap { isLittleEndian in
      [masks, masks.reversed()].map {
        Case(depth: depth, bits: bits, masks: $0, isLittleEndian: isLittleEndian, tolerance: tolerance)
      }
    }
  }

  static let colors: [UInt32] = [0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF, 0x000000, 0x123456, 0xC08020]

  /// `colors` as a server of that kind writes them: a row padded to 32 bits.
  private func row(_ one: Case) -> [UInt8] {
    var bytes: [UInt8] = []
    for color in Self.colors {
      var value: UInt32 = 0
      for (channel, mask) in zip([color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF], one.masks) {
        value |= ((channel * 0x101) >> UInt32(16 - mask.nonzeroBitCount)) << UInt32(mask.trailingZeroBitCount)
      }
      let pixel = (0..<one.bits / 8).map { UInt8(truncatingIfNeeded: value >> UInt32($0 * 8)) }
      bytes += one.isLittleEndian ? pixel : pixel.reversed()
    }
    return bytes + [UInt8](repeating: 0xAA, count: (4 - bytes.count % 4) % 4)
  }

  private func unpacked(_ layout: PixelLayout, _ row: [UInt8], palette: [UInt32] = [0]) -> [UInt32] {
    // Two rows: the padding between them must not shift the second.
    var pixels = row + row
    var words = [UInt32](repeating: 0xDEAD_BEEF, count: Self.colors.count * 2)
    pixels.withUnsafeMutableBytes { pixels in
      words.withUnsafeMutableBytes { words in
        if let from = pixels.baseAddress, let to = words.baseAddress {
          layout.unpack(
            from, size: PixelSize(width: Self.colors.count, height: 2), to: to, targetStride: Self.colors.count * 4,
            palette: palette)
        }
      }
    }
    return words.map { $0 & 0xFF_FFFF }
  }

  /// Case X18.
  @Test(arguments: cases) func coloursAreRight(one: Case) throws {
    let layout = try PixelLayout(one.description)
    let row = row(one)
    #expect(layout.bytesPerRow(Self.colors.count) == row.count)
    let found = unpacked(layout, row)
    for (found, wanted) in zip(found, Self.colors + Self.colors) {
      for shift in [0, 8, 16] as [UInt32] {
        let difference = Int(found >> shift & 0xFF) - Int(wanted >> shift & 0xFF)
        #expect(abs(difference) <= one.tolerance, "\(String(found, radix: 16)) for \(String(wanted, radix: 16))")
      }
    }
  }

  @Test func aPaletteNamesColours() throws {
    let layout = try PixelLayout(
      .init(
        id: 0x20, depth: 8, bitsPerPixel: 8, rowPadding: 32, isLittleEndian: true, isIndexed: true, masks: [0, 0, 0]))
    #expect(layout.isIndexed && !layout.isDirect)
    var palette = [UInt32](repeating: 0, count: 256)
    for (index, color) in Self.colors.enumerated() { palette[index * 30] = color }
    let row = (0..<UInt8(Self.colors.count)).map { $0 * 30 } + [0xAA]
    #expect(unpacked(layout, row, palette: palette) == Self.colors + Self.colors)
  }

  @Test func onlyWhatNeedsNoConversionIsDirect() throws {
    #expect(try PixelLayout(Self.cases[0].description).isDirect)
    #expect(try Self.cases.filter { try PixelLayout($0.description).isDirect }.count == 2)
  }

  /// Case X15.
  @Test(arguments: [
    Case(depth: 1, bits: 1, masks: [0, 0, 0]), Case(depth: 12, bits: 16, masks: [0xF00, 0xF0, 0xF]),
    Case(depth: 24, bits: 32, masks: [0xFF00, 0xFF_0000, 0xFF]), Case(depth: 16, bits: 32, masks: packed565),
    Case(depth: 24, bits: 0, masks: eight), Case(depth: 48, bits: 64, masks: eight),
  ])
  func whatIsNotKnownIsRefusedByName(one: Case) {
    let error = #expect(throws: RecorderError.self) { try PixelLayout(one.description) }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("visual 0x21 (depth \(one.depth), \(one.bits) bits a pixel") == true)
  }

  /// Cases X16 and X20: a real server of each depth, with each extension and without, shows the bars in their colours at their time.
  @Test(arguments: [8, 15, 16, 24, 30], [nil, "MIT-SHM", "DAMAGE", "Composite", "XFIXES", "RANDR"])
  func barsOfEveryDepth(depth: Int, missing: String?) throws {
    let arguments = missing.map { ["-extension", $0] } ?? []
    let display = try VirtualDisplay(size: "323x201", depth: depth, arguments: arguments)
    let client = try PatternClient(on: display, ["bars", "--geometry", "320x200+1+1"])
    var grabber = try Grabber(.display, on: display)
    let picture = try grabber.next("the bars") { _ in true }
    for (index, wanted) in PatternLayout.bars.enumerated() {
      let bar = picture.colors(in: PixelRect(x: 1 + index * 40, y: 1, width: 40, height: 200))
      #expect(bar == [wanted], "\(bar.map { String($0, radix: 16) })")
    }
    #expect(picture.colors(in: PixelRect(x: 321, y: 0, width: 2, height: 201)) == [0])
    let drawn = try client.tell("rect C08020 33x9+100+50")
    let rect = PixelRect(x: 101, y: 51, width: 33, height: 9)
    let change = try grabber.next("the change") { $0[101, 51] != picture[101, 51] }
    let colors = change.colors(in: rect)
    #expect(colors.count == 1)
    let tolerance = depth == 24 || depth == 8 ? 0 : depth == 30 ? 1 : 8
    for (found, wanted) in zip(colors, [0xC08020] as [UInt32]) {
      for shift in [0, 8, 16] as [UInt32] {
        #expect(abs(Int(found >> shift & 0xFF) - Int(wanted >> shift & 0xFF)) <= tolerance)
      }
    }
    // Its time is not before it was drawn, nor after what was drawn next.
    #expect(try drawn < change.time && change.time < client.tell("rect 000000 1x1+0+0"))
    // What is around it is as it was.
    var expected = picture
    for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { expected.pixels[y * 323 + x] = change[x, y] } }
    #expect(change.pixels == expected.pixels)
  }
}
