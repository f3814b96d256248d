package import SessionModel

/// Which rectangles of the picture to fetch for some damage. A fixed piece of memory; planning allocates nothing.
package struct GrabPlan: ~Copyable {
  /// The most rectangles of one frame: past about 32, requests cost more than the pixels they spare (DESIGN.md, 6).
  package static let mostRects = 32
  /// The share of the picture above which all of it is fetched, in percent: so no more than 1.3 bytes are fetched for one
  /// that was damaged.
  package static let wholeAbovePercent = 77

  private let storage: UnsafeMutablePointer<PixelRect>
  /// Rectangles planned.
  package private(set) var count = 0

  /// Makes an empty plan.
  package init() { storage = .allocate(capacity: Self.mostRects) }

  deinit { storage.deallocate() }

  /// The planned rectangles, in picture pixels, none of them overlapping.
  package var rects: UnsafeBufferPointer<PixelRect> { UnsafeBufferPointer(start: storage, count: count) }

  /// The smallest rectangle that holds all that is planned.
  var bounds: PixelRect { rects.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) } }

  /// Plans nothing.
  mutating func clear() { count = 0 }

  /// Plans `rect` alone, or nothing when it is empty.
  mutating func set(_ rect: PixelRect) {
    count = 0
    if !rect.isEmpty { _ = append(rect) }
  }

  /// Plans for damage of `damaged` rectangles: those themselves, or the full-width rows they touch when they are too
  /// many, or everything when they cover most of it.
  /// - Parameters:
  ///   - bounds: what can be fetched, in picture pixels; damage outside is left out.
  ///   - rect: the n-th damaged rectangle; they do not overlap, and are sorted by their top edge, as X regions are.
  package mutating func plan(damaged: Int, within bounds: PixelRect, rect: (Int) -> PixelRect) {
    count = 0
    var (area, useful) = (0, 0)
    for index in 0..<damaged {
      let part = rect(index).intersection(bounds)
      guard !part.isEmpty else { continue }
      area += part.area
      useful += 1
    }
    if useful == 0 { return }
    if isMost(area, of: bounds) { return set(bounds) }
    if useful <= Self.mostRects {
      for index in 0..<damaged {
        let part = rect(index).intersection(bounds)
        if !part.isEmpty { _ = append(part) }
      }
      return
    }
    planRows(damaged: damaged, within: bounds, rect: rect)
  }

  private mutating func planRows(damaged: Int, within bounds: PixelRect, rect: (Int) -> PixelRect) {
    var (area, fits) = (0, true)
    var band = PixelRect(x: bounds.x, y: bounds.y, width: bounds.width, height: 0)
    var everything = band
    for index in 0..<damaged {
      let part = rect(index).intersection(bounds)
      guard !part.isEmpty else { continue }
      let rows = PixelRect(x: bounds.x, y: part.y, width: bounds.width, height: part.height)
      everything = everything.union(rows)
      if !band.isEmpty, rows.y <= band.maxY {
        band = band.union(rows)
      } else {
        area += band.area
        fits = fits && (band.isEmpty || append(band))
        band = rows
      }
    }
    area += band.area
    fits = fits && append(band)
    if !fits { set(everything) }
    if isMost(fits ? area : everything.area, of: bounds) { set(bounds) }
  }

  /// Adds `rect`; false when there is no room.
  mutating func append(_ rect: PixelRect) -> Bool {
    guard count < Self.mostRects else { return false }
    (storage + count).initialize(to: rect)
    count += 1
    return true
  }

  private func isMost(_ area: Int, of bounds: PixelRect) -> Bool {
    area * 100 > bounds.area * Self.wholeAbovePercent
  }
}
