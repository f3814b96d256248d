/// A point on a session's time line: nanoseconds since the session's epoch, taken from `CLOCK_MONOTONIC`.
///
/// The wall clock is a mapping kept in the manifest (`Manifest.Clock`); a timestamp never jumps with it.
package struct Timestamp: Hashable, Comparable, Sendable {
  /// Nanoseconds since the session's epoch.
  package var nanoseconds: Int64

  /// Makes a timestamp from nanoseconds since the session's epoch.
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Makes a timestamp from seconds since the session's epoch, rounded to the nearest nanosecond and clamped to what
  /// 64 bits hold.
  package init(seconds: Double) {
    let scaled = (seconds * 1e9).rounded()
    nanoseconds = Int64(exactly: scaled) ?? (scaled > 0 ? .max : .min)
  }

  /// The session's epoch.
  package static let zero = Timestamp(nanoseconds: 0)

  /// Seconds since the session's epoch.
  package var seconds: Double { Double(nanoseconds) / 1e9 }

  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The timestamp `nanoseconds` later.
  package static func + (left: Timestamp, nanoseconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: left.nanoseconds + nanoseconds)
  }
  /// Nanoseconds from `right` to `left`.
  package static func - (left: Timestamp, right: Timestamp) -> Int64 { left.nanoseconds - right.nanoseconds }
}

extension Timestamp: Codable {
  package init(from decoder: any Decoder) throws {
    nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanoseconds)
  }
}

extension Timestamp: CustomStringConvertible {
  /// `M:SS.mmm`, as `1:30.500` and `120:00.000`: what `TimePosition` reads back as the same time. Hours are not split off,
  /// since three fields are a time of day.
  package var description: String {
    let milliseconds = (nanoseconds.magnitude + 500_000) / 1_000_000
    let seconds = "\(padded(milliseconds / 1000 % 60, 2)).\(padded(milliseconds % 1000, 3))"
    return "\(nanoseconds < 0 ? "-" : "")\(milliseconds / 60_000):\(seconds)"
  }
}

/// `value` in decimal, with zeros in front up to `width` digits.
package func padded(_ value: some BinaryInteger, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// Whether `text` holds nothing but the digits 0 to 9.
func isDigits(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { byte in (48...57).contains(byte) } }
