import Media
import SessionModel
import TestSupport
import Testing

@Suite struct PictureTests {
  @Test(
    arguments: [PixelSize(width: 640, height: 360), PixelSize(width: 641, height: 479)],
    [PixelFormat.yuv420p, .yuv444p])
  func colourBarsSurvive(_ size: PixelSize, _ format: PixelFormat) throws {
    let folder = try TemporaryFolder()
    let bars = Screen.colourBars(size)
    var options = VideoOptions()
    options.pixelFormat = format
    try record([Shot(screen: bars, milliseconds: 0)], options: options, to: folder.file("a.mkv"))
    let shots = try decode(folder.file("a.mkv"), size: size)
    #expect(shots.count == 1)
    let seen = try #require(shots.first).screen
    // In the middle of each bar; at its edges chroma belongs to both.
    for bar in 0..<8 {
      for y in [0, size.height / 2, size.height - 1] {
        let x = (2 * bar + 1) * size.width / 16
        let (a, b) = (bars.pixel(x, y), seen.pixel(x, y))
        for shift in [0, 8, 16] as [UInt32] {
          #expect(abs(Int(a >> shift & 0xFF) - Int(b >> shift & 0xFF)) <= 4, "bar \(bar) row \(y): \(a) \(b)")
        }
      }
    }
  }

  @Test func aCheckerboardOfSinglePixelsSurvives() throws {
    let folder = try TemporaryFolder()
    let size = PixelSize(width: 320, height: 240)
    let board = Screen(size) { x, y in (x + y) % 2 == 0 ? 0xFFFFFF : 0 }
    try record([Shot(screen: board, milliseconds: 0)], to: folder.file("a.mkv"))
    let seen = try #require(try decode(folder.file("a.mkv"), size: size).first).screen
    // Every pixel is on its side, a tenth of the range from black or white at most.
    #expect(seen.difference(from: board) <= 25)
  }

  @Test(arguments: [
    ("yuv420p", "bt709", "tv", "libx264"), ("yuv420p", "smpte170m", "pc", "libx264"),
    ("yuv420p", "bt709", "pc", "libx264"), ("yuv444p", "bt709", "tv", "libx264"),
    ("yuv444p", "smpte170m", "pc", "libx264"), ("yuv422p", "smpte170m", "tv", "libx264"),
    ("yuv420p10le", "bt709", "tv", "libx264"), ("gbrp", "rgb", "pc", "libx264rgb"), ("bgr0", "rgb", "pc", "ffv1"),
    ("yuv420p", "bt2020nc", "tv", "libx265"),
  ])
  func coloursFollowTheTag(_ format: String, _ matrix: String, _ range: String, _ codec: String) throws {
    // Written by another program, so that both directions are not wrong alike.
    let folder = try TemporaryFolder()
    let path = folder.file("a.mkv")
    let conversion =
      matrix == "rgb" ? "null" : "scale=out_color_matrix=\(matrix == "bt2020nc" ? "bt2020" : matrix):out_range=\(range)"
    let input = codec == "libx264rgb" ? "rgb24" : format
    let made = try ChildProcess([
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=0xC02040:s=64x48:d=0.1,format=rgb24", "-vf",
      "\(conversion),format=\(input)", "-colorspace", matrix, "-color_range", range, "-c:v", codec, "-frames:v", "1",
      path,
    ]).wait()
    try #require(made.status == 0, "\(made.errorText)")
    let size = PixelSize(width: 64, height: 48)
    let seen = try #require(try decode(path, size: size).first).screen
    #expect(seen.difference(from: Screen(size) { _, _ in 0xC02040 }) <= 4)
  }

  @Test func aDecodedPictureIsScaled() throws {
    let folder = try TemporaryFolder()
    var options = VideoOptions()
    options.lossless = true
    let screen = Screen(PixelSize(width: 65, height: 49)) { x, _ in x < 32 ? 0x204060 : 0xC0A080 }
    try record([Shot(screen: screen, milliseconds: 0)], options: options, to: folder.file("a.mkv"))
    for output in [PixelSize(width: 32, height: 24), PixelSize(width: 130, height: 98), PixelSize(width: 1, height: 1)]
    {
      let seen = try #require(try decode(folder.file("a.mkv"), size: screen.size, output: output).first).screen
      let expected = Screen(output) { x, _ in 2 * x < output.width ? 0x204060 : 0xC0A080 }
      // Away from the edge between the colours, to the rounding of libyuv's filter.
      for x in 0..<output.width where abs(2 * x - output.width) > output.width / 4 {
        for shift in [0, 8, 16] as [UInt32] {
          let (a, b) = (seen.pixel(x, output.height - 1) >> shift, expected.pixel(x, 0) >> shift)
          #expect(abs(Int(a & 0xFF) - Int(b & 0xFF)) <= 2)
        }
      }
    }
  }

  @Test func aCropLargerThanThePictureIsDamage() throws {
    let folder = try TemporaryFolder()
    try record([Shot(screen: .colourBars(PixelSize(width: 64, height: 48)), milliseconds: 0)], to: folder.file("a.mkv"))
    let error = #expect(throws: RecorderError.self) {
      _ = try decode(folder.file("a.mkv"), size: PixelSize(width: 66, height: 48))
    }
    #expect(error == RecorderError(.damagedData, "A picture of 66x48 pixels is only 64x48 in the media file."))
  }

  @Test(arguments: [PixelSize(width: 1, height: 1), PixelSize(width: 641, height: 479)])
  func aPNGHoldsThePixels(_ size: PixelSize) throws {
    let folder = try TemporaryFolder()
    let screen = Screen.noise(size, seed: 11)
    let file = try screen.bytes.withUnsafeBytes { bytes in
      try PNGImage.encode(try #require(bytes.baseAddress), bytesPerRow: screen.bytesPerRow, size: size)
    }
    #expect(file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    try writeFile(folder.file("a.png"), file)
    let raw = try ChildProcess([
      "ffmpeg", "-v", "error", "-i", folder.file("a.png"), "-f", "rawvideo", "-pix_fmt", "bgr0", "-",
    ]).wait()
    var seen = screen
    seen.bytes = raw.output
    #expect(raw.output.count == size.area * 4)
    #expect(seen.difference(from: screen) == 0)
  }

  @Test func aPNGOfNoSizeIsRefused() {
    let error = #expect(throws: RecorderError.self) {
      var pixel: UInt32 = 0
      _ = try PNGImage.encode(&pixel, bytesPerRow: 4, size: PixelSize(width: 0, height: 1))
    }
    #expect(error?.code == .usage)
  }
}
