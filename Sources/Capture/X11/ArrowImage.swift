/// The pointer that is drawn where the server does not give its image away: a plain arrow whose tip is the hot spot.
struct ArrowImage: ~Copyable {
  /// Pixels across.
  static let width = 12
  /// Pixels down.
  static let height = 16

  /// Premultiplied ARGB, row after row.
  let pixels: UnsafePointer<UInt32>
  private let memory: UnsafeMutablePointer<UInt32>

  /// Draws it: white within a black line one pixel wide, so that it shows on any ground.
  init() {
    memory = .allocate(capacity: Self.width * Self.height)
    for y in 0..<Self.height {
      let length = Self.length(y)
      for x in 0..<Self.width {
        let isEdge = x == 0 || x == length - 1 || x >= Self.length(y + 1)
        (memory + y * Self.width + x).initialize(to: x >= length ? 0 : isEdge ? 0xFF00_0000 : 0xFFFF_FFFF)
      }
    }
    pixels = UnsafePointer(memory)
  }

  deinit { memory.deallocate() }

  /// Pixels of the row `y`: one more in each down to the widest, then a steep end.
  private static func length(_ y: Int) -> Int { y < width ? y + 1 : max(0, width - (y - width + 1) * 3) }
}
