package import SessionModel

/// A part of the screen: rectangles, none of them overlapping.
package struct RectSet: Hashable, Sendable {
  /// The rectangles, in no order.
  package private(set) var rects: [PixelRect] = []

  /// Makes an empty set.
  package init() {}

  /// Whether it holds no pixel.
  package var isEmpty: Bool { rects.isEmpty }

  /// Adds the pixels of `rect`.
  package mutating func add(_ rect: PixelRect) {
    guard !rect.isEmpty else { return }
    subtract(rect)
    rects.append(rect)
  }

  /// Takes the pixels of `rect` away.
  package mutating func subtract(_ rect: PixelRect) {
    guard intersects(rect) else { return }
    rects = rects.flatMap { Self.rest(of: $0, without: rect) }
  }

  /// Whether it holds a pixel of `rect`.
  package func intersects(_ rect: PixelRect) -> Bool {
    rects.contains { $0.x < rect.maxX && rect.x < $0.maxX && $0.y < rect.maxY && rect.y < $0.maxY }
  }

  /// Whether it holds every pixel of `rect`.
  package func contains(_ rect: PixelRect) -> Bool {
    rects.reduce(0) { $0 + $1.intersection(rect).area } == rect.area
  }

  /// Whether it holds every pixel of `other`.
  package func contains(_ other: RectSet) -> Bool { other.rects.allSatisfy { contains($0) } }

  /// What of `rect` is outside `hole`: above, below, left and right of it.
  private static func rest(of rect: PixelRect, without hole: PixelRect) -> [PixelRect] {
    let cut = rect.intersection(hole)
    if cut.isEmpty { return [rect] }
    return [
      PixelRect(x: rect.x, y: rect.y, width: rect.width, height: cut.y - rect.y),
      PixelRect(x: rect.x, y: cut.maxY, width: rect.width, height: rect.maxY - cut.maxY),
      PixelRect(x: rect.x, y: cut.y, width: cut.x - rect.x, height: cut.height),
      PixelRect(x: cut.maxX, y: cut.y, width: rect.maxX - cut.maxX, height: cut.height),
    ].filter { !$0.isEmpty }
  }
}
