internal import Archive
package import SessionModel
import Synchronization
internal import Threading

/// What a recorder notices about its own work, from any thread and without a wait: a thread of its own writes it to the
/// session and passes it on. It is never told of a single frame or block of sound.
package final class RecorderLog: Sendable {
  /// Takes each line that is written, and the session it belongs to, on the log's thread: the system's journal, say.
  package typealias Output = @Sendable (LogEntry, SessionID?) -> Void

  private let lines: BoundedQueue<LogLine>
  private let desk: LogDesk
  private let thread: WorkerThread
  /// What became of the thread at the end.
  private let end = Atomic<End.RawValue>(End.notYet.rawValue)

  private enum End: UInt8 { case notYet, written, hangs }

  /// Lines that wait at most for a disk that is slow; those after them are lost.
  private static let mostWaiting = 256
  /// Nanoseconds that the last lines are given at the end.
  private static let patience: Int64 = 1_000_000_000

  /// Starts the log's thread.
  /// - Parameter output: takes each line too.
  /// - Throws: `RecorderError` (systemCall) when no thread is left.
  package init(_ output: @escaping Output = { _, _ in }) throws(RecorderError) {
    let (lines, desk) = (BoundedQueue<LogLine>(capacity: Self.mostWaiting), LogDesk(output))
    (self.lines, self.desk) = (lines, desk)
    thread = try WorkerThread(name: "log") {
      var filter = LogFilter()
      while true {
        switch lines.pop(until: filter.nextDue) {
        case .element(let line): if let line = filter.take(line) { desk.write([line]) }
        case .timedOut: desk.write(filter.due(at: MonotonicClock.now()))
        case .closed: return desk.write(filter.rest())
        }
      }
    }
  }

  // The thread's own end is waited for when it goes away.
  deinit { lines.close() }

  /// Notes that something was noticed.
  /// - Parameters:
  ///   - message: one sentence, the same for the same thing.
  ///   - fields: what differs.
  func note(
    _ level: LogEntry.Level, _ category: LogEntry.Category, _ message: String, _ fields: [String: String] = [:]
  ) {
    _ = lines.tryPush(LogLine(level, category, message, fields))
  }

  /// Notes it even when the log is finished: what is known only then, as of a hook that the end itself has run, is written
  /// on the calling thread.
  func noteLate(_ level: LogEntry.Level, _ category: LogEntry.Category, _ message: String) {
    let line = LogLine(level, category, message, [:])
    guard lines.tryPush(line) != nil, end.load(ordering: .acquiring) == End.written.rawValue else { return }
    desk.write([line])
  }

  /// Writes to `file` from here on, first what was noticed before.
  /// - Parameter epoch: the session's, in monotonic ns.
  func begin(_ file: SessionLog, epoch: Int64) { desk.begin(file, epoch: epoch) }

  /// Writes to `file`, which has the lines of before already, from here on.
  func goOn(in file: SessionLog, epoch: Int64) { desk.goOn(in: file, epoch: epoch) }

  /// The newest lines of the span from `start` to `end` (monotonic ns), as those of a session that began at `epoch`.
  func entries(from start: Int64, to end: Int64, epoch: Int64) -> [LogEntry] {
    desk.lines.filter { $0.monotonic >= start && $0.monotonic <= end }.map { $0.entry(epoch: epoch) }
  }

  /// Writes what is still to be written, as far as the disk takes it.
  func finish() {
    lines.close()
    let hasEnded = thread.join(until: MonotonicClock.now() + Self.patience)
    // Of two calls the first knows.
    _ = end.compareExchange(
      expected: End.notYet.rawValue, desired: (hasEnded ? End.written : .hangs).rawValue, ordering: .releasing)
  }
}

/// Where the log's thread leaves lines.
private final class LogDesk: Sendable {
  private struct Content {
    /// The newest lines, for a session that begins later than they.
    var lines: [LogLine] = []
    var file: SessionLog?
    var epoch: Int64 = 0
  }

  private let content = Mutex(Content())
  private let output: RecorderLog.Output

  /// Lines that are kept: the start's twenty, and what some minutes of a ring have.
  private static let mostKept = 500

  init(_ output: @escaping RecorderLog.Output) { self.output = output }

  var lines: [LogLine] { content.withLock { $0.lines } }

  func begin(_ file: SessionLog, epoch: Int64) {
    content.withLock { content in
      (content.file, content.epoch) = (file, epoch)
      Self.append(content.lines, to: file, epoch)
    }
  }

  func goOn(in file: SessionLog, epoch: Int64) {
    content.withLock { content in (content.file, content.epoch) = (file, epoch) }
  }

  func write(_ lines: [LogLine]) {
    if lines.isEmpty { return }
    let (session, epoch) = content.withLock { content in
      content.lines.append(contentsOf: lines)
      if content.lines.count > Self.mostKept { content.lines.removeFirst(content.lines.count - Self.mostKept) }
      return (content.file?.id, content.epoch)
    }
    // The journal first: the disk may hang.
    for line in lines { output(line.entry(epoch: epoch == 0 ? line.monotonic : epoch), session) }
    content.withLock { content in
      if let file = content.file { Self.append(lines, to: file, content.epoch) }
    }
  }

  /// A log that cannot be written is no reason to stop: what the disk does not take is told by who writes the media.
  private static func append(_ lines: [LogLine], to file: SessionLog, _ epoch: Int64) {
    _ = try? file.append(lines.map { $0.entry(epoch: epoch) })
  }
}
