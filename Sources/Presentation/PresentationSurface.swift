package import SessionModel

/// Where a picture of a window is drawn: 4 bytes a pixel, blue, green, red, unused; black where nothing was drawn yet.
package struct PresentationSurface {
  /// The left top pixel.
  package let pixels: UnsafeMutableRawPointer
  /// Bytes from a row to the next.
  package let bytesPerRow: Int
  /// The window's size, in pixels.
  package let size: PixelSize
}
