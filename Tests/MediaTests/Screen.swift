import SessionModel

/// A picture as a screen delivers it: BGRX, rows without gaps.
struct Screen {
  let size: PixelSize
  var bytes: [UInt8]
  var bytesPerRow: Int { size.width * 4 }

  /// Every pixel from its place, as 0xRRGGBB.
  init(_ size: PixelSize, _ pixel: (_ x: Int, _ y: Int) -> UInt32) {
    self.size = size
    bytes = Array(unsafeUninitializedCapacity: size.area * 4) { buffer, count in
      var index = 0
      for y in 0..<size.height {
        for x in 0..<size.width {
          let value = pixel(x, y)
          buffer[index] = UInt8(truncatingIfNeeded: value)
          buffer[index + 1] = UInt8(truncatingIfNeeded: value >> 8)
          buffer[index + 2] = UInt8(truncatingIfNeeded: value >> 16)
          buffer[index + 3] = 0xFF
          index += 4
        }
      }
      count = index
    }
  }

  /// The pixel as 0xRRGGBB.
  func pixel(_ x: Int, _ y: Int) -> UInt32 {
    let at = y * bytesPerRow + x * 4
    return UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16
  }

  /// The largest difference of a channel to `other`, which has the same size.
  func difference(from other: Screen) -> Int {
    guard bytes.count == other.bytes.count else { return 255 }
    return bytes.withUnsafeBufferPointer { left in
      other.bytes.withUnsafeBufferPointer { right in
        var largest = 0
        for index in 0..<left.count where index % 4 != 3 {
          largest = max(largest, abs(Int(left[index]) - Int(right[index])))
        }
        return largest
      }
    }
  }

  /// This picture with `patch` laid over it from its left top corner (`x`, `y`).
  func with(_ patch: Screen, x: Int, y: Int) -> Screen {
    Screen(size) { column, row in
      let inside = PixelRect(patch.size).offset(x: x, y: y)
      return inside.contains(PixelRect(x: column, y: row, width: 1, height: 1))
        ? patch.pixel(column - x, row - y) : pixel(column, row)
    }
  }

  /// Eight bars of the corners of the RGB cube at 75 %, as television has them, and white and black.
  static func colourBars(_ size: PixelSize) -> Screen {
    let bars: [UInt32] = [0xFFFFFF, 0xBFBF00, 0x00BFBF, 0x00BF00, 0xBF00BF, 0xBF0000, 0x0000BF, 0x000000]
    return Screen(size) { x, _ in bars[x * bars.count / size.width] }
  }

  /// A picture in which neighbours differ everywhere, the same for the same seed.
  static func noise(_ size: PixelSize, seed: UInt32) -> Screen {
    var state = seed | 1
    return Screen(size) { _, _ in
      // xorshift32 (Marsaglia, 2003).
      state ^= state << 13
      state ^= state >> 17
      state ^= state << 5
      return state & 0xFFFFFF
    }
  }
}
