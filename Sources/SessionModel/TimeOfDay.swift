/// A time of day on this machine's clock: `HH:MM` or `HH:MM:SS`.
package struct TimeOfDay: Hashable, Sendable {
  /// Seconds since midnight, 0 ..< 86,400.
  package let seconds: Int

  /// The time that `text` names.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.utf8.count == 2 && isDigits(part) ? Int(part) : nil }
    guard numbers.count == parts.count, (2...3).contains(parts.count), numbers[0] < 24,
      numbers.dropFirst().allSatisfy({ $0 < 60 })
    else {
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" is not a time of day.", hint: "Write HH:MM or HH:MM:SS.")
    }
    seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
  }

  /// The text that names it: what `init(parsing:)` takes.
  package var text: String {
    [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
  }

  /// The first time after `now` at which a clock `utcOffset` seconds east of Greenwich shows it.
  package func next(after now: WallTime, utcOffset: Int) -> WallTime {
    let (second, day) = (Int64(1_000_000_000), Int64(86_400))
    let local = now.nanoseconds + Int64(utcOffset) * second
    let midnight = local - (local % (day * second) + day * second) % (day * second)
    let today = midnight + Int64(seconds) * second
    return WallTime(nanoseconds: (today > local ? today : today + day * second) - Int64(utcOffset) * second)
  }
}

extension TimeOfDay: Codable {
  package init(from decoder: any Decoder) throws {
    try self.init(parsing: decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
