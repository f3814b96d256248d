/// What is held of a capture of which nothing is kept until somebody asks for it.
package struct HoldOptions: Hashable, Codable, Sendable {
  /// Nanoseconds: the newest stretch, of at least this length.
  package var span: Int64
  /// Bytes that it may take; half a gigabyte is five minutes of a busy screen, and no burden to a desktop.
  package var memory: Int64 = 512_000_000

  /// Makes options that hold the last `span` ns.
  package init(span: Int64) { self.span = span }

  /// Nanoseconds that can be asked for: from a few keyframes to a day.
  private static let spanRange: ClosedRange<Int64> = 5_000_000_000...86_400_000_000_000
  /// Bytes that can be asked for: fewer are less than a second of a large, busy screen.
  private static let memoryRange: ClosedRange<Int64> = 16_000_000...64_000_000_000

  /// Checks the ranges.
  /// - Throws: `RecorderError` (usage) that names the first one that is left.
  func check() throws(RecorderError) {
    guard Self.spanRange.contains(span) else {
      throw RecorderError(
        .usage, "A stretch of \(Timestamp(nanoseconds: span)) cannot be held.", hint: "Give --hold from 5s to 24h.")
    }
    try Self.check(memory: memory)
  }

  /// Checks the bytes alone.
  /// - Throws: `RecorderError` (usage) when they are out of range.
  package static func check(memory: Int64) throws(RecorderError) {
    guard memoryRange.contains(memory) else {
      throw RecorderError(.usage, "A ring of \(memory) bytes cannot be held.", hint: "Give --memory from 16M to 64G.")
    }
  }
}
