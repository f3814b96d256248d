import Glibc

/// `CLOCK_MONOTONIC`, the one clock that timestamps are taken from.
package enum MonotonicClock {
  /// Nanoseconds since an unnamed point in the past.
  package static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// What the machine's clocks say at one moment, in ns.
package struct ClockReading: Hashable, Sendable {
  /// `CLOCK_MONOTONIC`, which stands still while the machine sleeps.
  package var monotonic: Int64
  /// `CLOCK_BOOTTIME`, which goes on then.
  package var boot: Int64
  /// `CLOCK_REALTIME`, since 1970: it goes on, too, and is set by people and by NTP.
  package var wall: Int64

  /// Makes a reading.
  package init(monotonic: Int64, boot: Int64, wall: Int64) {
    (self.monotonic, self.boot, self.wall) = (monotonic, boot, wall)
  }

  /// Nanoseconds that may pass while the clocks are read one after the other, a thousand times what it takes.
  private static let tolerance: Int64 = 1_000_000

  /// The clocks now; nil when the thread was held up between two of them, so that they do not belong together.
  package static func now() -> ClockReading? {
    func read(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    let before = MonotonicClock.now()
    let (boot, wall) = (read(CLOCK_BOOTTIME), read(CLOCK_REALTIME))
    guard MonotonicClock.now() - before < tolerance else { return nil }
    return ClockReading(monotonic: before, boot: boot, wall: wall)
  }
}

extension timespec {
  /// The point `nanoseconds` on its clock.
  init(nanoseconds: Int64) {
    self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
