import CSystemd
import Glibc
import Recorder
import SessionModel

/// The system's journal, which gets the lines of the log when this process runs as a service.
enum Journal {
  /// What the log's lines are given to: the journal when standard error is one of its streams, else nobody.
  static var output: RecorderLog.Output {
    guard isOurs(getenv("JOURNAL_STREAM").map { String(cString: $0) }) else { return { _, _ in } }
    return { entry, session in send(fields(entry, session)) }
  }

  /// Whether `stream`, what systemd says of a service's output (DEVICE:INODE, systemd.exec(5)), is standard error: a
  /// program that was started by a service, with another output, inherits the words too.
  private static func isOurs(_ stream: String?) -> Bool {
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
  }

  /// The journal's fields of `entry`, as `NAME=VALUE`.
  private static func fields(_ entry: LogEntry, _ session: SessionID?) -> [String] {
    // Numbers of syslog(3).
    let priority =
      switch entry.level {
      case .debug: LOG_DEBUG
      case .info: LOG_INFO
      case .warning: LOG_WARNING
      case .error: LOG_ERR
      }
    let known = (entry.fields ?? [:]).sorted { $0.key < $1.key }
    let details = known.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    var fields = [
      "MESSAGE=\(entry.message)\(details.isEmpty ? "" : " (\(details))")", "PRIORITY=\(priority)",
      "SYSLOG_IDENTIFIER=recorder", "RECORDER_CATEGORY=\(entry.category.rawValue)",
    ]
    if let session { fields.append("RECORDER_SESSION=\(session)") }
    return fields
  }

  private static func send(_ fields: [String]) {
    let copies = fields.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    let parts = copies.map { iovec(iov_base: $0, iov_len: $0.map { strlen($0) } ?? 0) }
    // A journal that is not there is nobody's to report: the lines are in the session.
    _ = sd_journal_sendv(parts, Int32(parts.count))
  }
}
