import SessionModel

/// Keeps a log from being flooded: what is said again and again within a minute is counted, not written. Pure.
struct LogFilter {
  /// What makes two lines the same.
  private struct Key: Hashable {
    let level: LogEntry.Level
    let category: LogEntry.Category
    let message: String
  }

  /// What was said of one thing within its minute.
  private struct Span {
    let start: Int64
    /// What differed in those that were written.
    var written: Set<[String: String]>
    /// The last line, and how many were left out.
    var last: LogLine
    var left = 0

    /// The last line that was left out, with how many more were.
    var summary: LogLine {
      var line = last
      line.repeats = left > 1 ? left - 1 : nil
      return line
    }
  }

  private var spans: [Key: Span] = [:]
  private var minute: (start: Int64, written: Int) = (.min, 0)

  /// Nanoseconds for which a thing that was said is counted when it is said again: a state that comes and goes makes at
  /// most one line a minute (case X24).
  static let span: Int64 = 60_000_000_000
  /// Lines within it that say the same of different things: the files of a few splits, the requests of a script.
  static let mostDifferent = 10
  /// Lines a minute of all kinds: more than a recorder has to say, and little enough for a day to fit into the log.
  static let mostAMinute = 120

  /// Takes a line that was noted.
  /// - Returns: it, with how often it was left out before; nil when it was counted only.
  mutating func take(_ line: LogLine) -> LogLine? {
    var line = line
    if line.monotonic - Self.span >= minute.start { minute = (line.monotonic, 0) }
    if minute.written >= Self.mostAMinute { line = .tooMuch(instead: line) }
    let key = Key(level: line.level, category: line.category, message: line.message)
    guard var span = spans[key], line.monotonic - span.start < Self.span else {
      let left = spans.removeValue(forKey: key)?.left ?? 0
      if left > 0 { line.repeats = left }
      spans[key] = Span(start: line.monotonic, written: [line.fields], last: line)
      minute.written += 1
      return line
    }
    let isNew = span.written.count < Self.mostDifferent && span.written.insert(line.fields).inserted
    span.last = line
    if !isNew { span.left += 1 }
    spans[key] = span
    guard isNew else { return nil }
    minute.written += 1
    return line
  }

  /// When to ask for what was left out, in monotonic ns; `.max` when nothing was.
  var nextDue: Int64 { spans.values.filter { $0.left > 0 }.map { $0.start + Self.span }.min() ?? .max }

  /// The last of each kind of line that was left out and whose minute is over at `now`, with how many were.
  mutating func due(at now: Int64) -> [LogLine] {
    let over = spans.filter { now - $0.value.start >= Self.span }
    for key in over.keys { spans.removeValue(forKey: key) }
    return over.values.filter { $0.left > 0 }.map(\.summary).sorted { $0.monotonic < $1.monotonic }
  }

  /// All that was left out.
  mutating func rest() -> [LogLine] { due(at: .max) }
}
