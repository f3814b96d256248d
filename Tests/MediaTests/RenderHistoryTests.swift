import SessionModel
import TestSupport
import Testing

@testable import Media

/// A picture whose turn comes again is given what has changed since, and nothing else.
@Suite struct RenderHistoryTests {
  private func square(_ x: Int, _ side: Int = 10) -> PixelRect { PixelRect(x: x, y: 20, width: side, height: side) }

  private func parts(_ history: inout RenderHistory, since stamp: Int) -> [PixelRect]? {
    history.parts(since: stamp).map(Array.init)
  }

  @Test func onlyWhatChangedSinceIsTold() {
    var history = RenderHistory()
    #expect(parts(&history, since: 0) == nil)
    history.note(square(0))
    let first = history.close(pointer: nil)
    #expect(parts(&history, since: first)?.isEmpty == true)
    history.note(square(100))
    let second = history.close(pointer: square(500, 4))
    history.note(square(200))
    #expect(parts(&history, since: first) == [square(100), square(200)])
    // Where the pointer was in it, something else is now.
    #expect(parts(&history, since: second) == [square(500, 4), square(200)])
    // Of another canvas, and longer ago than is kept.
    var other = RenderHistory()
    #expect(parts(&other, since: second) == nil)
    for _ in 0..<6 { _ = history.close(pointer: nil) }
    #expect(parts(&history, since: first) == nil)
    #expect(parts(&history, since: second) == [square(500, 4), square(200)])
  }

  @Test func partsInsideOthersAreTakenWithThem() {
    var history = RenderHistory()
    let stamp = history.close(pointer: nil)
    for x in 0..<50 { history.note(square(x, 2)) }
    history.note(square(10, 10))
    #expect(parts(&history, since: stamp)?.count == 50 - 9 + 1)
    history.note(square(0, 100))
    #expect(parts(&history, since: stamp) == [square(0, 100)])
    for x in 0..<64 { history.note(square(1000 + 10 * x)) }
    let parts = self.parts(&history, since: stamp) ?? []
    #expect(parts.count <= 64 && parts.contains { $0.contains(square(0, 100)) })
    for x in 0..<64 { #expect(parts.contains { $0.contains(square(1000 + 10 * x)) }) }
  }

  /// Pictures in any order, some of them long unused, parts and pointers anywhere: each is as if it were the first.
  @Test(arguments: [PixelFormat.bgr0, .yuv420p])
  func everyPictureIsWhole(_ format: PixelFormat) throws {
    var options = VideoOptions()
    (options.lossless, options.pixelFormat, options.quantiser) = (format == .bgr0, format, 0)
    let (source, size) = (PixelSize(width: 75, height: 41), PixelSize(width: 99, height: 71))
    let settings = VideoEncoderSettings(options, picture: size)
    var encoder = try VideoEncoder(settings)
    let first = try encoder.makePicture()
    let second = try encoder.makePicture()
    let third = try encoder.makePicture()
    var decoder = try VideoDecoder(encoder.stream)
    var converter = try PictureConverter(crop: size, output: size)
    var round: Int64 = 0
    // What a viewer sees of a picture whose pixels are coded exactly.
    func shown(_ picture: borrowing Picture) throws -> Screen {
      var screen = Screen(size) { _, _ in 0 }
      try encoder.encode(picture, at: Timestamp(nanoseconds: round * 1_000_000_000), keyframe: true) { packet in
        try? decoder.decode(packet) { try? converter.convert($0, into: &screen) }
      }
      round += 1
      return screen
    }
    var generator = Fuzzing.Generator(seed: 20_261_201)
    var canvas = try FrameCanvas(source: source, settings: settings, picture: size)
    var screen = Screen.noise(source, seed: 1)
    let image = [UInt32](repeating: 0xFFFF_FFFF, count: 5 * 7)
    for step in 0..<60 {
      var parts: [PixelRect] = []
      if step == 20 {
        screen = Screen(source) { _, _ in 0 }
        try canvas.setSource(source)
      }
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let (x, y) = (Int.random(in: 0..<70, using: &generator), Int.random(in: 0..<40, using: &generator))
        let part = Screen.noise(PixelSize(width: 5, height: 1), seed: UInt32(step * 100 + x))
        screen = screen.with(part, x: x, y: y)
        parts.append(PixelRect(x: x, y: y, width: 5, height: 1))
      }
      let place = (Int.random(in: -4..<75, using: &generator), Int.random(in: -6..<41, using: &generator))
      let hasPointer = Bool.random(using: &generator)
      // Only one of three for a while, so that the others are longer ago than is kept.
      let which = step % 30 < 15 ? Int.random(in: 0..<3, using: &generator) : 0
      let (seen, expected) = try image.withUnsafeBufferPointer { image in
        let overlay = PointerOverlay(
          image: try #require(image.baseAddress), width: 5, height: 7, x: place.0, y: place.1)
        func render(_ canvas: inout FrameCanvas, _ picture: borrowing Picture) throws -> Screen {
          canvas.render(screen, parts: parts, pointer: hasPointer ? overlay : nil, into: picture)
          return try shown(picture)
        }
        let seen =
          switch which {
          case 0: try render(&canvas, first)
          case 1: try render(&canvas, second)
          default: try render(&canvas, third)
          }
        var fresh = try FrameCanvas(source: source, settings: settings, picture: size)
        return (seen, try render(&fresh, try encoder.makePicture()))
      }
      #expect(seen.difference(from: expected) == 0, "step \(step)")
    }
  }
}
