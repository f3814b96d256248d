/// The pointer, to be drawn over one picture. Borrowed: what it points to must live through the call it is given to.
package struct PointerOverlay {
  /// Its image: premultiplied ARGB, 0xAARRGGBB a pixel, rows without gaps.
  package var image: UnsafePointer<UInt32>
  /// Pixels across.
  package var width: Int
  /// Pixels down.
  package var height: Int
  /// Its left edge in pixels of the source, the hot spot already applied; may be negative.
  package var x: Int
  /// Its top edge in pixels of the source; may be negative.
  package var y: Int

  /// Makes an overlay.
  package init(image: UnsafePointer<UInt32>, width: Int, height: Int, x: Int, y: Int) {
    (self.image, self.width, self.height, self.x, self.y) = (image, width, height, x, y)
  }
}
