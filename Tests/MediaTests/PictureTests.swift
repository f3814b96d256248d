import Media
import SessionModel
import TestSupport
import Testing

@Suite struct PictureTests {
  @Test(arguments: [PixelSize(width: 640, height: 360), PixelSize(width: 641, height: 479)])
  func colourBarsSurvive(_ size: PixelSize) throws {
    let folder = try TemporaryFolder()
    let bars = Screen.colourBars(size)
    try record([Shot(screen: bars, milliseconds: 0)], to: folder.file("a.mkv"))
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

  @Test func losslessIsExact() throws {
    let folder = try TemporaryFolder()
    var options = VideoOptions()
    options.lossless = true
    let size = PixelSize(width: 161, height: 97)
    let screens = (1...3).map { Screen.noise(size, seed: $0) }
    try record(
      screens.enumerated().map { Shot(screen: $1, milliseconds: Int64($0) * 40) }, options: options,
      to: folder.file("a.mkv"))
    let shots = try decode(folder.file("a.mkv"), size: size)
    #expect(shots.map(\.milliseconds) == [0, 40, 80])
    for (shot, screen) in zip(shots, screens) { #expect(shot.screen.difference(from: screen) == 0) }
  }

  @Test func checkerboardSurvives() throws {
    let folder = try TemporaryFolder()
    let size = PixelSize(width: 320, height: 240)
    let board = Screen(size) { x, y in (x + y) % 2 == 0 ? 0xFFFFFF : 0 }
    try record([Shot(screen: board, milliseconds: 0)], to: folder.file("a.mkv"))
    let seen = try #require(try decode(folder.file("a.mkv"), size: size).first).screen
    print("checkerboard", seen.difference(from: board))
  }
}
