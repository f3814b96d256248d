package import Arguments
package import SessionModel

/// A time of day on this machine's clock: `HH:MM` or `HH:MM:SS`.
package struct TimeOfDay: ExpressibleByArgument, Hashable {
  /// Seconds since midnight, 0 ..< 86,400.
  package var seconds: Int

  package init(argument: ArgumentText) throws(RecorderError) {
    let parts = try String(argument: argument).split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      part.utf8.count == 2 && part.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        ? Int(part) : nil
    }
    guard numbers.count == parts.count, (2...3).contains(parts.count), numbers[0] < 24,
      numbers.dropFirst().allSatisfy({ $0 < 60 })
    else {
      throw RecorderError(.usage, "\"\(argument)\" is not a time of day.", hint: "Write HH:MM or HH:MM:SS.")
    }
    seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
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
