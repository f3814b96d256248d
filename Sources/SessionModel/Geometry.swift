/// A size in pixels.
package struct PixelSize: Hashable, Codable, Sendable, CustomStringConvertible {
  /// Pixels across.
  package var width: Int
  /// Pixels down.
  package var height: Int

  /// Makes a size of `width` by `height` pixels.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Pixels in all.
  package var area: Int { width * height }
  /// `1920x1080`.
  package var description: String { "\(width)x\(height)" }
  /// The smallest size with even sides that holds this one: 4:2:0 encoders need whole 2x2 blocks.
  package var paddedToEven: PixelSize { PixelSize(width: (width + 1) & ~1, height: (height + 1) & ~1) }

  /// The smallest size that holds this one and `other`.
  package func union(_ other: PixelSize) -> PixelSize {
    PixelSize(width: max(width, other.width), height: max(height, other.height))
  }

  /// The largest size of this one's aspect ratio inside `bounds`, at least one pixel each way; never larger than
  /// this size, since scaling up adds nothing.
  package func fitted(into bounds: PixelSize) -> PixelSize {
    width > bounds.width || height > bounds.height ? filling(bounds) : self
  }

  /// The largest size of this one's aspect ratio inside `bounds`, at least one pixel each way; larger than this size
  /// where there is room.
  package func filling(_ bounds: PixelSize) -> PixelSize {
    guard width > 0, height > 0 else { return self }
    if width * bounds.height >= height * bounds.width {
      return PixelSize(width: bounds.width, height: max(1, (height * bounds.width + width / 2) / width))
    }
    return PixelSize(width: max(1, (width * bounds.height + height / 2) / height), height: bounds.height)
  }
}

/// A rectangle in pixels; `x` grows to the right and `y` down, and both may be negative.
package struct PixelRect: Hashable, Codable, Sendable, CustomStringConvertible {
  /// Left edge, in pixels.
  package var x: Int
  /// Top edge, in pixels.
  package var y: Int
  /// Pixels across.
  package var width: Int
  /// Pixels down.
  package var height: Int

  /// Makes a rectangle from its left and top edge and its size, in pixels.
  package init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Makes the rectangle of `size` whose left top corner is the origin.
  package init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

  /// The size, in pixels.
  package var size: PixelSize { PixelSize(width: width, height: height) }
  /// Whether it holds no pixel.
  package var isEmpty: Bool { width <= 0 || height <= 0 }
  /// Pixels in all; 0 when empty.
  package var area: Int { isEmpty ? 0 : width * height }
  /// One past the right edge, in pixels.
  package var maxX: Int { x + width }
  /// One past the bottom edge, in pixels.
  package var maxY: Int { y + height }
  /// `640x480+10-20`, as X geometry is written.
  package var description: String {
    "\(width)x\(height)\(x < 0 ? "" : "+")\(x)\(y < 0 ? "" : "+")\(y)"
  }

  /// What both rectangles hold; empty (0x0) when that is nothing.
  package func intersection(_ other: PixelRect) -> PixelRect {
    let (left, top) = (max(x, other.x), max(y, other.y))
    let (right, bottom) = (min(maxX, other.maxX), min(maxY, other.maxY))
    guard right > left, bottom > top else { return PixelRect(x: left, y: top, width: 0, height: 0) }
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// The smallest rectangle that holds both; an empty one adds nothing.
  package func union(_ other: PixelRect) -> PixelRect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let (left, top) = (min(x, other.x), min(y, other.y))
    return PixelRect(
      x: left, y: top, width: max(maxX, other.maxX) - left, height: max(maxY, other.maxY) - top)
  }

  /// The same rectangle, `dx` pixels further right and `dy` further down.
  package func offset(x dx: Int, y dy: Int) -> PixelRect {
    PixelRect(x: x + dx, y: y + dy, width: width, height: height)
  }

  /// Whether every pixel of `other` is inside.
  package func contains(_ other: PixelRect) -> Bool { other.isEmpty || intersection(other) == other }

  /// The smallest rectangle on even coordinates that holds this one: a 4:2:0 chroma sample covers 2x2 pixels, so a
  /// change is converted in whole blocks.
  package var alignedToEven: PixelRect {
    let (left, top) = (x & ~1, y & ~1)
    return PixelRect(x: left, y: top, width: ((maxX + 1) & ~1) - left, height: ((maxY + 1) & ~1) - top)
  }
}
