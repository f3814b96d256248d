import SessionModel
import TestSupport

/// The picture of a window, or of all of a display, as ffmpeg's x11grab reads it.
struct ScreenGrab {
  /// Its size in pixels.
  let size: PixelSize
  private let bytes: [UInt8]

  /// Grabs `window` (an X id) of `display`, or the root window.
  init(display: String, window: UInt32? = nil) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("grab.ppm")
    let chosen = window.map { ["-window_id", "\($0)"] } ?? []
    let result = try run(
      ["ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0"] + chosen
        + ["-i", display, "-frames:v", "1", "-c:v", "ppm", "-f", "image2pipe", file])
    guard result.status == 0 else { throw TestFailure("ffmpeg: \(result.errorText)") }
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
