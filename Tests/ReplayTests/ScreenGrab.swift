import SessionModel
import TestSupport

/// The picture of a window, or of all of a display, as ImageMagick's `import` grabs it.
struct ScreenGrab {
  /// Its size in pixels.
  let size: PixelSize
  private let bytes: [UInt8]

  /// Grabs `window` (an X id) of `display`, or the root window.
  init(display: String, window: UInt32? = nil) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("grab.ppm")
    let result = try run(
      [
        "import", "-silent", "-window", window.map { "0x" + String($0, radix: 16) } ?? "root", "-depth", "8",
        "ppm:\(file)",
      ], environment: ["DISPLAY": display])
    guard result.status == 0 else { throw TestFailure("import: \(result.errorText)") }
    let content = try readFile(file)
    // A binary PPM: `P6`, width and height, the largest value, one newline, then red, green, blue.
    let header = content.prefix(64).split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    let sides = String(decoding: header[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    guard header.count == 4, sides.count == 2 else { throw TestFailure("not a PPM") }
    size = PixelSize(width: sides[0], height: sides[1])
    bytes = Array(content.suffix(size.area * 3))
  }

  /// The pixel at `x`, `y` as 0xRRGGBB.
  subscript(x: Int, y: Int) -> UInt32 {
    let start = (y * size.width + x) * 3
    return bytes[start..<start + 3].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
