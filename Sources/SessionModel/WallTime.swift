import Glibc

/// A time of the wall clock: nanoseconds since 1970-01-01T00:00:00Z.
package struct WallTime: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  package var nanoseconds: Int64

  /// Makes a time from nanoseconds since 1970-01-01T00:00:00Z.
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The wall clock now.
  package static func now() -> WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let seconds = min(max(Int64(time.tv_sec), Self.seconds.lowerBound), Self.seconds.upperBound)
    return WallTime(nanoseconds: seconds * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The years that can be written, in seconds since 1970: 64 bits of nanoseconds hold no more whole ones.
  private static let seconds: ClosedRange<Int64> = -9_214_560_000...9_214_646_399

  package static func < (left: WallTime, right: WallTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// A calendar date and a time of day.
  package struct Components: Hashable, Sendable {
    /// The year of the common era, the month 1–12 and the day 1–31.
    package var year: Int, month: Int, day: Int
    /// The hour 0–23, the minute and the second 0–59.
    package var hour: Int, minute: Int, second: Int

    /// Makes components; nothing is checked.
    package init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
      (self.year, self.month, self.day) = (year, month, day)
      (self.hour, self.minute, self.second) = (hour, minute, second)
    }
  }

  /// Whole seconds since 1970 and the nanoseconds past them (0 ..< 10^9).
  private var split: (seconds: Int64, nanoseconds: Int64) {
    let remainder = nanoseconds % 1_000_000_000
    let below = remainder < 0
    return (nanoseconds / 1_000_000_000 - (below ? 1 : 0), remainder + (below ? 1_000_000_000 : 0))
  }

  /// The date and time of day in UTC.
  package var utcComponents: Components { components { gmtime_r(&$0, &$1) } }
  /// The date and time of day in this machine's time zone.
  package var localComponents: Components { components { localtime_r(&$0, &$1) } }

  private func components(
    _ convert: (inout time_t, inout tm) -> UnsafeMutablePointer<tm>?
  ) -> Components {
    var (seconds, parts) = (time_t(split.seconds), tm())
    _ = convert(&seconds, &parts)
    return Components(
      year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: min(59, Int(parts.tm_sec)))
  }

  /// Makes the time at which a clock `utcOffset` seconds east of Greenwich shows `components`; nil when no calendar
  /// has them.
  package init?(_ components: Components, utcOffset: Int = 0) {
    var parts = tm()
    parts.tm_year = Int32(clamping: components.year - 1900)
    parts.tm_mon = Int32(clamping: components.month - 1)
    parts.tm_mday = Int32(clamping: components.day)
    parts.tm_hour = Int32(clamping: components.hour)
    parts.tm_min = Int32(clamping: components.minute)
    parts.tm_sec = Int32(clamping: components.second)
    let seconds = Int64(timegm(&parts))
    // 64 bits of nanoseconds reach from 1677 to 2262.
    guard (1678...2261).contains(components.year) else { return nil }
    let time = WallTime(nanoseconds: seconds * 1_000_000_000)
    guard time.utcComponents == components else { return nil }
    self.init(nanoseconds: (seconds - Int64(utcOffset)) * 1_000_000_000)
  }

  /// Seconds that this machine's time zone is east of Greenwich at that time.
  package var localUTCOffset: Int {
    var (seconds, parts) = (time_t(split.seconds), tm())
    localtime_r(&seconds, &parts)
    return parts.tm_gmtoff
  }

  /// RFC 3339 in UTC to the nanosecond: `2026-11-30T02:15:33.123456789Z`.
  package var description: String {
    let date = utcComponents
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
      + "\(padded(date.hour, 2)):\(padded(date.minute, 2)):\(padded(date.second, 2))"
      + ".\(padded(split.nanoseconds, 9))Z"
  }

  /// Date and time to the second on a clock `utcOffset` seconds east of Greenwich: `2026-11-30 02:15:33`.
  package func text(utcOffset: Int) -> String {
    let (local, overflow) = nanoseconds.addingReportingOverflow(Int64(utcOffset) * 1_000_000_000)
    let date = WallTime(nanoseconds: overflow ? nanoseconds : local).utcComponents
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2)) "
      + "\(padded(date.hour, 2)):\(padded(date.minute, 2)):\(padded(date.second, 2))"
  }

  /// The time that an RFC 3339 text names (`2026-11-30T02:15:33.5+01:00`; a space for the `T` is taken too); nil when
  /// it names none.
  package init?(rfc3339 text: some StringProtocol) {
    let bytes = Array(text.utf8)
    func number(_ from: Int, _ count: Int) -> Int? {
      guard from + count <= bytes.count else { return nil }
      return bytes[from..<from + count].reduce(Int?(0)) { sum, byte in
        guard let sum, (48...57).contains(byte) else { return nil }
        return sum * 10 + Int(byte - 48)
      }
    }
    func isByte(_ index: Int, _ choices: String) -> Bool {
      index < bytes.count && choices.utf8.contains(bytes[index])
    }
    guard bytes.count >= 20, isByte(4, "-"), isByte(7, "-"), isByte(10, "Tt "), isByte(13, ":"), isByte(16, ":"),
      let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
      let minute = number(14, 2), let second = number(17, 2)
    else { return nil }
    var (position, fraction) = (19, Int64(0))
    if isByte(position, ".") {
      var scale: Int64 = 100_000_000
      position += 1
      let first = position
      while let digit = number(position, 1) {
        fraction += Int64(digit) * scale
        scale /= 10
        position += 1
      }
      guard position > first else { return nil }
    }
    var utcOffset = 0
    if isByte(position, "Zz") {
      position += 1
    } else {
      guard isByte(position, "+-"), isByte(position + 3, ":"), let hours = number(position + 1, 2),
        let minutes = number(position + 4, 2), hours < 24, minutes < 60
      else { return nil }
      utcOffset = (hours * 3600 + minutes * 60) * (isByte(position, "-") ? -1 : 1)
      position += 6
    }
    let parts = Components(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    guard position == bytes.count, let time = WallTime(parts, utcOffset: utcOffset) else { return nil }
    self.init(nanoseconds: time.nanoseconds + fraction)
  }
}

extension WallTime: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let time = WallTime(rfc3339: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
    }
    self = time
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
