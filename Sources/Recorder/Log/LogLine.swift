import SessionModel
internal import Threading

/// A line on its way into the log: what was noticed and when, before it is known to which session it belongs.
struct LogLine: Hashable, Sendable {
  /// When, in monotonic ns.
  let monotonic: Int64
  let utc: WallTime
  let level: LogEntry.Level
  let category: LogEntry.Category
  /// One sentence.
  let message: String
  /// What differs from one line that says the same to the next.
  let fields: [String: String]
  /// How many that say the same were left out.
  var repeats: Int?

  /// Characters of a message or a field; errors quote what a person wrote, which may be long.
  private static let longest = 500

  /// Makes a line of now.
  init(
    _ level: LogEntry.Level, _ category: LogEntry.Category, _ message: String, _ fields: [String: String]
  ) {
    self.init(monotonic: MonotonicClock.now(), utc: .now(), level, category, message, fields)
  }

  init(
    monotonic: Int64, utc: WallTime, _ level: LogEntry.Level, _ category: LogEntry.Category, _ message: String,
    _ fields: [String: String]
  ) {
    (self.monotonic, self.utc, self.level, self.category) = (monotonic, utc, level, category)
    self.message = String(message.prefix(Self.longest))
    self.fields = fields.mapValues { String($0.prefix(Self.longest)) }
  }

  /// What stands for `line` when too much was said.
  static func tooMuch(instead line: LogLine) -> LogLine {
    LogLine(
      monotonic: line.monotonic, utc: line.utc, .warning, .control, "More was noticed than is written down.", [:])
  }

  /// It as a line of the session that began at `epoch` (monotonic ns).
  func entry(epoch: Int64) -> LogEntry {
    var entry = LogEntry(
      time: Timestamp(nanoseconds: monotonic - epoch), utc: utc, level: level, category: category, message: message)
    (entry.fields, entry.repeats) = (fields.isEmpty ? nil : fields, repeats)
    return entry
  }
}
