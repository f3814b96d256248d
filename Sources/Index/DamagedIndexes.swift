import Archive
import Glibc
import SessionModel

/// Damaged indexes are kept for a look at them, and have the words of sessions.
extension IndexFile {
  /// Takes away those that know the session `id`, of which something was deleted: nothing can be taken out of them. One that
  /// is somebody else's file stays.
  func removeDamaged(knowing id: SessionID) throws(RecorderError) {
    let names = try root.names().filter { $0.hasPrefix(Self.name + Self.damagedInfix) }
    let logs = ["-wal", "-shm"]
    for name in names where !logs.contains(where: { name.hasSuffix($0) }) {
      let files = ([name] + logs.map { name + $0 }).filter(names.contains)
      var knows = false
      for file in files where !knows { knows = try holds(id, file) }
      if knows { for file in files { try root.removeFile(file) } }
    }
  }

  /// Whether the file `name` has the name of the session `id` in it; no, when it is no file.
  private func holds(_ id: SessionID, _ name: String) throws(RecorderError) -> Bool {
    guard let file = try? root.file(name) else { return false }
    let wanted = Array(id.description.utf8)
    var (buffer, offset) = ([UInt8](repeating: 0, count: Self.chunk), Int64(0))
    while true {
      let count = try file.read(into: &buffer, at: offset)
      if buffer[..<count].firstRange(of: wanted) != nil { return true }
      guard count == buffer.count else { return false }
      // It may lie across two pieces.
      offset += Int64(count - wanted.count)
    }
  }

  /// Bytes read at a time.
  private static let chunk = 1 << 20
}
