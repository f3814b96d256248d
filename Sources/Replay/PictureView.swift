import Glibc
import Media
import Presentation
import SessionModel

extension PixelSize {
  /// The largest rectangle of this size's aspect ratio in the middle of `bounds`, larger than this size where there is
  /// room; at least one pixel each way.
  func letterboxed(in bounds: PixelSize) -> PixelRect {
    let fitted = filling(bounds)
    return PixelRect(
      x: (bounds.width - fitted.width) / 2, y: (bounds.height - fitted.height) / 2, width: fitted.width,
      height: fitted.height)
  }
}

/// Draws decoded pictures into a window: cropped to their true size, scaled to the window, black bars beside them.
struct PictureView: ~Copyable {
  private var picture = PixelSize(width: 0, height: 0)
  private var window = PixelSize(width: 0, height: 0)
  private var converter: PictureConverter?

  /// Draws `frame` into `surface`.
  /// - Throws: `RecorderError` (damagedData) when the picture is smaller than it must be.
  mutating func draw(_ frame: borrowing Frame, on surface: PresentationSurface) throws(RecorderError) {
    let rect = frame.size.letterboxed(in: surface.size)
    if window != surface.size || picture != frame.size || converter == nil {
      memset(surface.pixels, 0, surface.bytesPerRow * surface.size.height)
      converter = try PictureConverter(crop: frame.size, output: rect.size)
      (window, picture) = (surface.size, frame.size)
    }
    try converter?.convert(
      frame.picture, into: surface.pixels + rect.y * surface.bytesPerRow + rect.x * 4,
      bytesPerRow: surface.bytesPerRow)
  }
}
