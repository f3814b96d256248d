import Media
import SessionModel
import TestSupport
import Testing

@Suite struct CanvasTests {
  private let size = PixelSize(width: 99, height: 71)

  /// The source's memory, and what changed in it.
  private struct DrawnSource {
    var screen: Screen
    var parts: [PixelRect] = []

    /// Has the memory hold `screen`, and `rect` (nil: all) count as changed.
    mutating func update(_ screen: Screen, rect: PixelRect? = nil) {
      self.screen = screen
      parts.append(rect ?? PixelRect(screen.size))
    }
  }

  /// Renders the canvas after each step, encodes and decodes: what a viewer sees.
  private func seen(
    _ source: PixelSize, picture: PixelSize? = nil, format: PixelFormat = .bgr0, enlarges: Bool = false,
    _ steps: [(inout DrawnSource) -> PointerOverlay?]
  ) throws -> [Screen] {
    var options = VideoOptions()
    options.lossless = format == .bgr0
    options.pixelFormat = format
    options.quantiser = 0
    let picture = picture ?? source
    let settings = VideoEncoderSettings(options, picture: picture)
    var encoder = try VideoEncoder(settings)
    var canvas = try FrameCanvas(source: source, settings: settings, picture: picture, enlarges: enlarges)
    let target = try encoder.makePicture()
    var decoder = try VideoDecoder(encoder.stream)
    var converter = try PictureConverter(crop: picture, output: picture)
    var screens: [Screen] = []
    var drawn = DrawnSource(screen: Screen(source) { _, _ in 0 })
    for (index, step) in steps.enumerated() {
      drawn.parts = []
      let pointer = step(&drawn)
      canvas.render(drawn.screen, parts: drawn.parts, pointer: pointer, into: target)
      var packets: [PacketFacts] = []
      try encoder.encode(target, at: Timestamp(nanoseconds: Int64(index) * 1_000_000_000), keyframe: false) { packet in
        packets.append(PacketFacts(packet))
        try? decoder.decode(packet) { decoded in
          var screen = Screen(picture) { _, _ in 0 }
          try? converter.convert(decoded, into: &screen)
          screens.append(screen)
        }
      }
      #expect(packets.count == 1)
    }
    #expect(screens.count == steps.count)
    return screens
  }

  @Test(arguments: [
    PixelRect(x: 10, y: 20, width: 30, height: 12), PixelRect(x: 0, y: 0, width: 2, height: 2),
    PixelRect(x: 90, y: 64, width: 40, height: 40), PixelRect(x: -8, y: -8, width: 16, height: 16),
    PixelRect(x: 200, y: 0, width: 9, height: 9), PixelRect(x: 98, y: 70, width: 1, height: 1),
  ])
  func anUpdateTouchesItsRectAlone(_ rect: PixelRect) throws {
    let (old, new) = (Screen.noise(size, seed: 1), Screen.noise(size, seed: 2))
    let screens = try seen(
      size,
      [
        { drawn in
          drawn.update(old)
          return nil
        },
        { drawn in
          drawn.update(new, rect: rect)
          return nil
        },
      ])
    // Even sides: the rect is not widened.
    let expected = Screen(size) { x, y in
      rect.contains(PixelRect(x: x, y: y, width: 1, height: 1)) ? new.pixel(x, y) : old.pixel(x, y)
    }
    #expect(screens[1].difference(from: expected) == 0)
  }

  @Test(arguments: [PixelFormat.yuv420p, .yuv444p])
  func manySmallUpdatesAreOneLargeOne(_ format: PixelFormat) throws {
    let screen = Screen.noise(size, seed: 5)
    let whole = try seen(
      size, format: format,
      [
        { drawn in
          drawn.update(screen)
          return nil
        }
      ])
    let parts = try seen(
      size, format: format,
      [
        { drawn in
          drawn.update(Screen(size) { _, _ in 0 })
          return nil
        },
        { drawn in
          for y in stride(from: -3, to: 71, by: 7) {
            for x in stride(from: -5, to: 99, by: 13) {
              drawn.update(screen, rect: PixelRect(x: x, y: y, width: 13, height: 7))
            }
          }
          return nil
        },
      ])
    #expect(parts[1].difference(from: whole[0]) == 0)
  }

  @Test func aLargerSourceIsScaledBetweenBlackBars() throws {
    // 200x100 into 100x100: 100x50 in the middle, on even rows.
    let source = Screen(PixelSize(width: 200, height: 100)) { x, _ in x < 100 ? 0xC02040 : 0x20C040 }
    let picture = PixelSize(width: 100, height: 100)
    let expected = Screen(picture) { x, y in (24..<74).contains(y) ? (x < 50 ? 0xC02040 : 0x20C040) : 0 }
    for (format, tolerance) in [(PixelFormat.bgr0, 0), (.yuv444p, 3)] {
      let screens = try seen(
        source.size, picture: picture, format: format,
        [
          { drawn in
            drawn.update(source)
            return nil
          }
        ])
      #expect(screens[0].difference(from: expected) <= tolerance)
    }
  }

  @Test func scalingTakesTheMeanOfAllPixels() throws {
    let board = Screen(PixelSize(width: 64, height: 64)) { x, y in (x + y) % 2 == 0 ? 0xFFFFFF : 0 }
    let picture = PixelSize(width: 32, height: 32)
    let screens = try seen(
      board.size, picture: picture,
      [
        { drawn in
          drawn.update(board)
          return nil
        }
      ])
    #expect(screens[0].difference(from: Screen(picture) { _, _ in 0x808080 }) <= 1)
  }

  /// libyuv cuts off what a mean has behind the point, and weighs the columns of BGRX by 127 of 128: a colour loses up to two
  /// levels of 255 where it is lossless, and else one level of luma and of chroma, which are up to three of a colour.
  @Test(arguments: [
    PixelSize(width: 96, height: 54), PixelSize(width: 64, height: 36), PixelSize(width: 48, height: 27),
    PixelSize(width: 128, height: 72), PixelSize(width: 151, height: 85), PixelSize(width: 80, height: 45),
  ])
  func whatIsScaledDownKeepsItsColours(picture: PixelSize) throws {
    let source = PixelSize(width: 192, height: 108)
    for (format, bound) in [(PixelFormat.bgr0, 2), (.yuv420p, 3), (.yuv444p, 3)] {
      for color in [0xFFFFFF, 0x808080, 0x0A0A0A, 0xC02040, 0x20C0F0, 0xFFFF00, 0x0000FF] as [UInt32] {
        func flat(_ size: PixelSize) throws -> Screen {
          let screens = try seen(
            size, picture: picture, format: format,
            [
              { drawn in
                drawn.update(Screen(size) { _, _ in color })
                return nil
              }
            ])
          return try #require(screens.first)
        }
        let (scaled, own) = (try flat(source), try flat(source.fitted(into: picture)))
        #expect(scaled.difference(from: own) <= bound, "\(format) \(String(color, radix: 16))")
      }
    }
  }

  @Test func aSmallerSourceIsCentredUnscaled() throws {
    let source = Screen.noise(PixelSize(width: 33, height: 21), seed: 9)
    let picture = PixelSize(width: 99, height: 71)
    let screens = try seen(
      source.size, picture: picture,
      [
        { drawn in
          drawn.update(source)
          return nil
        }
      ])
    let expected = Screen(picture) { _, _ in 0 }.with(source, x: 32, y: 24)
    #expect(screens[0].difference(from: expected) == 0)
  }

  @Test func aSmallerSourceIsScaledUpWhenThatIsAskedFor() throws {
    // 50x20 into 100x80: 100x40 in the middle; a larger one is scaled down as ever.
    let picture = PixelSize(width: 100, height: 80)
    for (source, content) in [
      (PixelSize(width: 50, height: 20), 20..<60), (PixelSize(width: 200, height: 80), 20..<60),
      (PixelSize(width: 50, height: 40), 0..<80),
    ] {
      let screen = Screen(source) { x, _ in x < source.width / 2 ? 0xC02040 : 0x20C040 }
      let screens = try seen(
        source, picture: picture, enlarges: true,
        [
          { drawn in
            drawn.update(screen)
            return nil
          }
        ])
      // Where the colours meet, they are mixed. libyuv's weights for BGRX make 127 of 128: two levels of 255 at most.
      let sides = Screen(picture) { x, y in
        (48..<52).contains(x) ? screens[0].pixel(x, y) : content.contains(y) ? (x < 50 ? 0xC02040 : 0x20C040) : 0
      }
      #expect(screens[0].difference(from: sides) <= 2, "\(source)")
    }
  }

  /// A pointer image: premultiplied ARGB of one alpha, its colour varying by place.
  private func pointerImage(_ width: Int, _ height: Int, alpha: UInt32) -> [UInt32] {
    (0..<width * height).map { index in
      let value = UInt32(index * 37 % 256) * alpha / 255
      return alpha << 24 | value << 16 | (alpha - value) << 8 | value / 2
    }
  }

  /// What premultiplied alpha means: the image plus what it lets through of the clean pixel. libyuv divides by 256, so
  /// it may be one off.
  private func blended(_ clean: Screen, _ image: [UInt32], width: Int, x: Int, y: Int) -> Screen {
    let place = PixelRect(x: x, y: y, width: width, height: image.count / width)
    return Screen(clean.size) { column, row in
      guard place.contains(PixelRect(x: column, y: row, width: 1, height: 1)) else { return clean.pixel(column, row) }
      let (over, below) = (image[(row - y) * width + column - x], clean.pixel(column, row))
      return [0, 8, 16].reduce(0 as UInt32) { sum, shift in
        let through = Double(below >> shift & 0xFF) * Double(255 - over >> 24) / 255
        return sum | UInt32(min(255, (Double(over >> shift & 0xFF) + through).rounded())) << shift
      }
    }
  }

  /// Case X22.
  @Test(arguments: [0, 128, 255] as [UInt32], [(10, 20), (11, 21), (-3, -2), (90, 65), (98, 70)])
  func thePointerIsBlendedWhereItIsAndLeavesNoTrace(_ alpha: UInt32, _ place: (x: Int, y: Int)) throws {
    let clean = Screen.noise(size, seed: 4)
    let image = pointerImage(13, 9, alpha: alpha)
    let screens = try image.withUnsafeBufferPointer { image in
      let start = try #require(image.baseAddress)
      let overlay = PointerOverlay(image: start, width: 13, height: 9, x: place.x, y: place.y)
      return try seen(
        size,
        [
          { drawn in
            drawn.update(clean)
            return overlay
          }, { _ in nil },
        ])
    }
    let expected = blended(clean, image, width: 13, x: place.x, y: place.y)
    #expect(screens[0].difference(from: expected) <= (alpha == 128 ? 1 : 0))
    #expect(screens[1].difference(from: clean) == 0)
    #expect(alpha == 0 || screens[0].difference(from: clean) > 0)
  }

  @Test(arguments: [PixelFormat.yuv420p, .bgr0])
  func thePointerIsScaledWithThePicture(_ format: PixelFormat) throws {
    let clean = Screen(PixelSize(width: 128, height: 96)) { _, _ in 0x404040 }
    let image = [UInt32](repeating: 0xFFFF_FFFF, count: 16 * 16)
    let screens = try image.withUnsafeBufferPointer { image in
      let start = try #require(image.baseAddress)
      let overlay = PointerOverlay(image: start, width: 16, height: 16, x: 32, y: 48)
      return try seen(
        clean.size, picture: PixelSize(width: 64, height: 48), format: format,
        [
          { drawn in
            drawn.update(clean)
            return overlay
          }, { _ in nil },
        ])
    }
    let inside = PixelRect(x: 16, y: 24, width: 8, height: 8)
    let expected = Screen(PixelSize(width: 64, height: 48)) { x, y in
      inside.contains(PixelRect(x: x, y: y, width: 1, height: 1)) ? 0xFFFFFF : 0x404040
    }
    #expect(screens[0].difference(from: expected) <= 3)
    #expect(screens[1].difference(from: Screen(expected.size) { _, _ in 0x404040 }) <= 3)
  }

  @Test func aPointerOfAnySizeIsTaken() throws {
    let clean = Screen.noise(PixelSize(width: 300, height: 200), seed: 8)
    let image = [UInt32](repeating: 0xFF12_3456, count: 256 * 256)
    let screens = try image.withUnsafeBufferPointer { image in
      let start = try #require(image.baseAddress)
      let overlay = PointerOverlay(image: start, width: 256, height: 256, x: 5, y: 3)
      return try seen(
        clean.size,
        [
          { drawn in
            drawn.update(clean)
            return overlay
          }
        ])
    }
    let expected = clean.with(Screen(PixelSize(width: 256, height: 197)) { _, _ in 0x123456 }, x: 5, y: 3)
    #expect(screens[0].difference(from: expected) == 0)
  }

  @Test func sizesThatCannotBeAreRefused() throws {
    let settings = VideoEncoderSettings(VideoOptions(), picture: size)
    for source in [PixelSize(width: 0, height: 4), PixelSize(width: 4, height: -1), PixelSize(width: 16385, height: 4)]
    {
      let error = #expect(throws: RecorderError.self) {
        _ = try FrameCanvas(source: source, settings: settings, picture: self.size)
      }
      #expect(error?.code == .usage)
      #expect(error?.message.contains(source.description) == true)
    }
  }
}
