/// A time as a person writes it: `90`, `1:30`, `1:30.5` from the start of the session, `14:03:22` on the session's wall
/// clock, or an RFC 3339 time.
package enum TimePosition: Hashable, Sendable {
  /// That long after the session's epoch.
  case offset(Timestamp)
  /// At that time of day (nanoseconds since midnight) on the session's wall clock.
  case timeOfDay(nanoseconds: Int64)
  /// At that instant.
  case instant(WallTime)

  /// The position that `text` names; nil when it names none.
  package init?(_ text: some StringProtocol) {
    if let instant = WallTime(rfc3339: text) {
      self = .instant(instant)
      return
    }
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(fields.count), let seconds = Self.nanoseconds(decimal: fields[fields.count - 1])
    else { return nil }
    let whole = fields.dropLast().map { field in
      isDigits(field) && field.utf8.count <= 9 ? Int64(field) : nil
    }
    let minute: Int64 = 60_000_000_000
    switch whole.count {
    case 0: self = .offset(Timestamp(nanoseconds: seconds))
    case 1:
      // More minutes than fit into 64 bits of nanoseconds are no time.
      guard let minutes = whole[0], seconds < minute, minutes <= Int64.max / minute - 1 else { return nil }
      self = .offset(Timestamp(nanoseconds: minutes * minute + seconds))
    default:
      guard let hours = whole[0], let minutes = whole[1], hours < 24, minutes < 60, seconds < minute
      else { return nil }
      self = .timeOfDay(nanoseconds: (hours * 60 + minutes) * minute + seconds)
    }
  }

  /// The nanoseconds of a decimal number of seconds (`30`, `1.5`, `.25`), at most 10^9 seconds; nil when `text` is none.
  package static func nanoseconds(decimal text: some StringProtocol) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ isDigits($0) }),
      parts.contains(where: { !$0.isEmpty }), parts[0].utf8.count <= 9
    else { return nil }
    let fraction = parts.count == 2 ? parts[1].prefix(9) : ""
    let scaled = String(fraction) + String(repeating: "0", count: 9 - fraction.count)
    guard let billionths = Int64(scaled), let seconds = parts[0].isEmpty ? 0 : Int64(parts[0]) else { return nil }
    return seconds * 1_000_000_000 + billionths
  }

  /// The duration in nanoseconds that `text` names: seconds (`20`, `1.5`), with a unit (`500ms`, `20s`, `5m`, `2h`,
  /// `3d`), or `1:30`; nil when it names none.
  package static func duration(_ text: some StringProtocol) -> Int64? {
    if text.hasSuffix("ms") { return nanoseconds(decimal: text.dropLast(2)).map { $0 / 1000 } }
    let units: [(String, Int64)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
    for (unit, seconds) in units where text.hasSuffix(unit) {
      guard let amount = nanoseconds(decimal: text.dropLast(unit.count)) else { return nil }
      let (scaled, overflow) = amount.multipliedReportingOverflow(by: seconds)
      return overflow ? nil : scaled
    }
    if case .offset(let offset) = TimePosition(text) { return offset.nanoseconds }
    return nil
  }

  /// The timestamp it names in a session whose clock is `clock`. A time of day is the first one at or after the
  /// session's epoch.
  package func timestamp(on clock: Manifest.Clock) -> Timestamp {
    switch self {
    case .offset(let offset): return offset
    case .instant(let time): return clock.timestamp(of: time)
    case .timeOfDay(let nanoseconds):
      let day: Int64 = 86_400_000_000_000
      let local = clock.utc.nanoseconds + Int64(clock.utcOffset) * 1_000_000_000
      let sinceMidnight = ((local % day) + day) % day
      return Timestamp(nanoseconds: (nanoseconds - sinceMidnight + day) % day)
    }
  }
}
