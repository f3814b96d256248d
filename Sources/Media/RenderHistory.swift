import SessionModel
import Synchronization

/// What changed with each of the last pictures that a canvas rendered. A picture whose turn comes again still holds what it
/// was rendered with: only what changed since then has to be copied into it.
// Memory of its own, since an array's accessors allocate in a debug build, and the frame path's tests count that.
struct RenderHistory: ~Copyable {
  private struct Entry {
    /// The picture's stamp; 0 is none.
    var stamp = 0
    /// How many parts changed since the picture before.
    var count = 0
    /// What of the source the pointer was drawn over.
    var pointer = nothing
  }

  private static let nothing = PixelRect(x: 0, y: 0, width: 0, height: 0)
  /// More than twice as many as the encoder and the grab thread have pictures in turn.
  private static let length = 8
  /// Parts that are told apart: twice as many as a grab has. More are taken together.
  private static let mostParts = 64
  /// Counts the pictures that all canvases have rendered, so that a stamp says which canvas it is of, too.
  private static let stamps = Atomic<Int>(0)

  /// One for each picture, and behind them one for what has to be copied.
  private let entries: UnsafeMutablePointer<Entry>
  /// Their parts: `mostParts` places for each.
  private let parts: UnsafeMutablePointer<PixelRect>
  /// Where the next picture is noted; what has changed since the last one is there already.
  private var next = 0

  init() {
    entries = .allocate(capacity: Self.length + 1)
    entries.initialize(repeating: Entry(), count: Self.length + 1)
    parts = .allocate(capacity: (Self.length + 1) * Self.mostParts)
    parts.initialize(repeating: Self.nothing, count: (Self.length + 1) * Self.mostParts)
  }

  deinit {
    entries.deallocate()
    parts.deallocate()
  }

  /// Notes that `part` of the source changed.
  mutating func note(_ part: PixelRect) { add(part, to: next) }

  /// What has to be copied into the picture of `stamp`, in pixels of the source; parts may overlap.
  /// - Returns: nil when that is all of it; else a view, valid until the next call of anything.
  mutating func parts(since stamp: Int) -> UnsafeBufferPointer<PixelRect>? {
    var start = 0
    while start < Self.length, entries[start].stamp != stamp { start += 1 }
    guard stamp != 0, start < Self.length else { return nil }
    let all = Self.length
    entries[all].count = 0
    add(entries[start].pointer, to: all)
    var index = start
    while index != next {
      index = (index + 1) % Self.length
      for part in 0..<entries[index].count { add(parts[index * Self.mostParts + part], to: all) }
    }
    return UnsafeBufferPointer(start: parts + all * Self.mostParts, count: entries[all].count)
  }

  /// Notes that a picture was rendered.
  /// - Parameter pointer: what of the source the pointer was drawn over; nil is nothing.
  /// - Returns: the picture's stamp.
  mutating func close(pointer: PixelRect?) -> Int {
    let stamp = Self.stamps.add(1, ordering: .relaxed).newValue
    entries[next].stamp = stamp
    entries[next].pointer = pointer ?? Self.nothing
    next = (next + 1) % Self.length
    entries[next] = Entry()
    return stamp
  }

  /// Adds `part` to those of an entry, unless it is in one of them; those that are in it go.
  private func add(_ part: PixelRect, to entry: Int) {
    if part.isEmpty { return }
    let list = parts + entry * Self.mostParts
    var (kept, all) = (0, part)
    for index in 0..<entries[entry].count {
      if list[index].contains(part) { return }
      all = all.union(list[index])
      if part.contains(list[index]) { continue }
      list[kept] = list[index]
      kept += 1
    }
    if kept == Self.mostParts { (kept, list[0]) = (1, all) } else { (list[kept], kept) = (part, kept + 1) }
    entries[entry].count = kept
  }
}
