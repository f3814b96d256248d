package import Arguments
package import SessionModel

/// A time of the wall clock as a person names it: RFC 3339, a local date, a local date and time, or how long ago.
package enum PointInTime: ExpressibleByArgument, Hashable {
  /// That instant.
  case instant(WallTime)
  /// That time in the machine's own zone.
  case local(WallTime.Components)
  /// So many nanoseconds before now.
  case ago(Int64)

  package init(argument: ArgumentText) throws(RecorderError) {
    let text = try String(argument: argument)
    if let instant = WallTime(rfc3339: text) {
      self = .instant(instant)
    } else if let components = Self.components(text) {
      self = .local(components)
    } else if let nanoseconds = TimePosition.duration(text), text.last?.isLetter == true {
      self = .ago(nanoseconds)
    } else {
      throw RecorderError(
        .usage, "\"\(argument)\" is not a time.",
        hint: "Write 2026-11-30, \"2026-11-30 14:03\", 2026-11-30T14:03:22Z, or how long ago: 90m, 2h, 3d.")
    }
  }

  /// The components of `2026-11-30`, `2026-11-30 14:03` or `2026-11-30 14:03:22`; nil when a calendar has no such time.
  private static func components(_ text: String) -> WallTime.Components? {
    let tails = [" 00:00:00", ":00", ""]
    let complete = tails.map { tail in text + tail }.first { text in text.utf8.count == 19 }
    guard let complete, let time = WallTime(rfc3339: complete + "Z") else { return nil }
    return time.utcComponents
  }

  /// The instant, when it is `now`.
  package func wallTime(now: WallTime) -> WallTime {
    switch self {
    case .instant(let time): return time
    case .ago(let nanoseconds): return WallTime(nanoseconds: now.nanoseconds &- nanoseconds)
    case .local(let components):
      // The zone's offset at about that time decides; a time that a clock change skips or repeats takes the one before.
      let guess = WallTime(components) ?? now
      return WallTime(components, utcOffset: guess.localUTCOffset) ?? guess
    }
  }
}
