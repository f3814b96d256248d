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

extension timespec {
  /// The point `nanoseconds` on its clock.
  init(nanoseconds: Int64) {
    self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
