/// What `test-pattern` draws and where, for those who read it back from pixels. Tests/TestSupport links to this file.
package enum PatternLayout {
  /// A cell's side in pixels: a macroblock of H.264, so that a cell survives coarse encoding.
  package static let cell = 16
  /// Bits of the frame counter: at 60 frames a second it wraps after 4.8 hours.
  package static let counterBits = 20
  /// The counter's first cell, in pixels from the window's left and top edge; what is around it is black.
  package static let margin = 16
  /// The smallest window that shows the counter: two rows of cells, the bits from the lowest and their complement,
  /// with the margin around them.
  package static let counterSize = (width: counterBits * cell + 2 * margin, height: 2 * cell + 2 * margin)
  /// The colour bars from left to right, each an eighth of the window wide: 0xRRGGBB.
  package static let bars: [UInt32] = [
    0xFFFFFF, 0xFFFF00, 0x00FFFF, 0x00FF00, 0xFF00FF, 0xFF0000, 0x0000FF, 0x000000,
  ]

  /// Whether the cell in `row` (0 or 1) and `column` is white for `counter`.
  package static func isWhite(_ counter: Int, row: Int, column: Int) -> Bool {
    (counter >> column & 1 == 1) == (row == 0)
  }

  /// The colour of the background behind `counter`, another one for each of 256 frames: 0xRRGGBB.
  package static func background(_ counter: Int) -> UInt32 {
    // 73 and 151 have no factor in common with 256: each channel takes each value once.
    let (red, green, blue) = (counter &* 73 & 0xFF, counter & 0xFF, counter &* 151 & 0xFF)
    return UInt32(red << 16 | green << 8 | blue)
  }
}
