import FoundationEssentials
import Glibc
package import SessionModel

/// A session's own log as it is written: `log.ndjson`. It is no part of what is sealed: the recorder writes to it until
/// after the seal, and what it says is for who looks for a fault, not for who doubts the session.
package final class SessionLog: Sendable {
  /// The session's name.
  package let id: SessionID
  private let file: FileDescriptor

  /// Bytes that a log may have: a busy day at ten lines a minute and 200 bytes a line is 3 MB, and a log larger than that
  /// is read by nobody.
  package static let largest: Int64 = 4 << 20

  init(id: SessionID, file: consuming FileDescriptor) {
    self.id = id
    self.file = file
  }

  /// Appends `entries`, each a line, in one call. The caller calls it on one thread at a time.
  /// - Returns: whether the log took them; one that is as large as it may be takes none.
  /// - Throws: `RecorderError` (writeFailed); the lines before stay whole.
  package func append(_ entries: [LogEntry]) throws(RecorderError) -> Bool {
    var lines: [UInt8] = []
    for entry in entries { lines += try encode(entry) + [Line.end] }
    guard try file.size() + Int64(lines.count) <= Self.largest else { return false }
    try file.append(line: lines)
    return true
  }
}

extension SessionWriter {
  /// Makes the session's log.
  /// - Throws: `RecorderError` (cannotCreate, writeFailed).
  package func makeLog() throws(RecorderError) -> SessionLog {
    SessionLog(id: id, file: try folder.createFile(ArchiveLocation.Name.log, appending: true))
  }
}

extension SessionReader {
  /// Gives each line of the log from byte `offset` on to `body`, in the order they were written. A line that is no entry
  /// is passed over, and half a line at the end is left for the next call.
  /// - Returns: the bytes up to the end of the last whole line: where to go on.
  /// - Throws: `RecorderError` when the file cannot be read.
  package func forEachLogEntry(
    from offset: Int64 = 0, _ body: (LogEntry) throws(RecorderError) -> Void
  ) throws(RecorderError) -> Int64 {
    guard let file = try folder.file(ArchiveLocation.Name.log) else { return offset }
    let decoder = JSONDecoder()
    return try Line.forEach(in: file, from: offset) { (line) throws(RecorderError) in
      if let entry = try? decoder.decode(LogEntry.self, from: line) { try body(entry) }
    }
  }
}
