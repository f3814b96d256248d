package import SessionModel

/// Which rectangles of the picture to fetch for some damage. A fixed piece of memory; planning allocates nothing.
package struct GrabPlan: ~Copyable {
  /// The most rectangles of one frame: at 0.01 ms a small one (DESIGN.md, 6), they take a third of what encoding does.
  package static let mostRects = 128
  /// So many are fetched as they are: past about 32, requests cost more than the pixels they spare (DESIGN.md, 6).
  package static let fewRects = 32
  /// The share of the picture above which all of it is fetched, in percent: so no more than 1.3 bytes are fetched for one
  /// that was damaged.
  package static let wholeAbovePercent = 77
  /// What may be fetched beside the damage when rectangles are joined, in percent of it: the same bound.
  private static let spareable = 30
  /// The most rectangles that are joined: it takes up to a quarter of a millisecond for so many, and 0.03 for a hundred.
  private static let mostJoined = 256

  private let storage: UnsafeMutablePointer<PixelRect>
  /// Rectangles planned.
  package private(set) var count = 0

  /// Makes an empty plan.
  package init() { storage = .allocate(capacity: Self.mostJoined) }

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

  /// Plans for damage of `damaged` rectangles: those themselves when they are few, else joined as far as little more is
  /// fetched for that; everything when they cover most of it. Of more than can be joined, or too many that lie too far
  /// from each other, it is the full-width rows they touch.
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
      if useful < Self.mostJoined { (storage + useful).initialize(to: part) }
      useful += 1
    }
    if isMost(area, of: bounds) { return set(bounds) }
    if useful <= Self.mostJoined {
      count = useful
      if useful > Self.fewRects { join(sparing: area * Self.spareable / 100) }
      if count <= Self.mostRects { return }
    }
    count = 0
    planRows(damaged: damaged, within: bounds, rect: rect)
  }

  /// Joins rectangles that lie side by side or close to each other until they are few, the closest first.
  /// - Parameter pixels: how many may be fetched beside those of the rectangles.
  private mutating func join(sparing pixels: Int) {
    var (left, waste) = (pixels, 0)
    while waste <= left, count > Self.fewRects {
      for index in 0..<count where !storage[index].isEmpty {
        var next = index + 1
        // They are sorted by their top edges, and joining keeps them so.
        while next < count, storage[next].y - storage[index].maxY <= waste {
          if let spent = joined(index, next, wasting: min(waste, left)) { left -= spent }
          next += 1
        }
      }
      dropEmpty()
      waste = waste == 0 ? 16 : waste * 4
    }
  }

  /// Makes one rectangle of two, and of those that it holds then, unless it would overlap others or waste too much.
  /// - Returns: the pixels wasted; nil when they stay two.
  private mutating func joined(_ first: Int, _ second: Int, wasting most: Int) -> Int? {
    guard !storage[second].isEmpty else { return nil }
    let whole = storage[first].union(storage[second])
    let waste = whole.area - storage[first].area - storage[second].area
    guard waste <= most else { return nil }
    var held = 0
    for index in 0..<count where index != first && index != second && !storage[index].intersection(whole).isEmpty {
      guard whole.contains(storage[index]) else { return nil }
      held += storage[index].area
    }
    for index in 0..<count where index != first && whole.contains(storage[index]) {
      storage[index] = PixelRect(x: whole.x, y: storage[index].y, width: 0, height: 0)
    }
    storage[first] = whole
    return waste - held
  }

  private mutating func dropEmpty() {
    var kept = 0
    for index in 0..<count where !storage[index].isEmpty {
      storage[kept] = storage[index]
      kept += 1
    }
    count = kept
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
