/// When a pending change is due: at most once an interval, at once after a pause, on an even beat in steady change.
package struct FramePace {
  /// Nanoseconds that a change after a pause is left to settle, so that a drawing made of several requests is in one
  /// frame; half of the 4 ms within which the frame has to be taken.
  package static let settling: Int64 = 2_000_000

  /// Nanoseconds between frames.
  package let interval: Int64
  /// The earliest time of the next frame, in ns of `CLOCK_MONOTONIC`.
  package private(set) var due: Int64 = 0
  private var isNoted = false

  /// Makes a pace of one frame in `interval` ns.
  package init(interval: Int64) { self.interval = max(1, interval) }

  /// Notes that a change is pending at `now`.
  /// - Returns: whether its frame is due; the next is then due an interval after this one was.
  package mutating func isDue(at now: Int64) -> Bool {
    if !isNoted {
      isNoted = true
      // Keeping the beat of the last due time, not of the last grab, keeps the rate exact.
      if now > due { due = now + min(Self.settling, interval / 4) }
    }
    guard now >= due else { return false }
    isNoted = false
    due += interval
    return true
  }
}
