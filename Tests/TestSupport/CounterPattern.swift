/// Reads the frame counter that `test-pattern counter` draws.
package enum CounterPattern {
  /// The counter in a picture of four bytes a pixel (blue, green, red, any).
  /// - Parameters:
  ///   - pixels: the picture's first row.
  ///   - bytesPerRow: from one row to the next.
  ///   - x: the pattern's window's left edge in the picture, in pixels.
  ///   - y: its top edge.
  /// - Returns: nil when there is no counter, or two halves of different ones.
  package static func counter(in pixels: UnsafeRawPointer, bytesPerRow: Int, x: Int = 0, y: Int = 0) -> Int? {
    func isWhite(_ row: Int, _ column: Int) -> Bool {
      let middle = PatternLayout.margin + PatternLayout.cell / 2
      let (x, y) = (x + middle + column * PatternLayout.cell, y + middle + row * PatternLayout.cell)
      let pixel = y * bytesPerRow + x * 4
      let sum = (0..<3).reduce(0) { $0 + Int(pixels.load(fromByteOffset: pixel + $1, as: UInt8.self)) }
      return sum > 3 * 127
    }
    var counter = 0
    for column in 0..<PatternLayout.counterBits {
      if isWhite(0, column) == isWhite(1, column) { return nil }
      if isWhite(0, column) { counter |= 1 << column }
    }
    return counter
  }
}
