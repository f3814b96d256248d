import FoundationEssentials
import Glibc
package import SessionModel

/// What was taken from an archive: one line of its `audit.ndjson`.
package struct AuditEntry: Hashable, Codable, Sendable {
  /// What was done.
  package enum Action: String, Codable, Sendable {
    /// A person deleted the session.
    case delete
    /// A clean-up did; the reason is the bound that it was over.
    case cleanUp
    /// It was recorded for a command, and was not to be kept as the command ended.
    case discard
    /// A stretch of the session was taken out.
    case redact
  }

  /// When.
  package var at: WallTime
  /// What.
  package var action: Action
  /// With which session.
  package var session: SessionID
  /// The user who did it.
  package var by: String
  /// Why; nil when nothing was said.
  package var reason: String?
  /// The head of the chain that the session had until then; nil when it had none.
  package var head: String?
  /// `redact`: the session's times of the stretch.
  package var from: Timestamp?, to: Timestamp?
  /// The SHA-256 of the line before it in the file, of nothing for the first, in hexadecimal; the archive sets it.
  package var previous: String?

  /// Makes an entry of now, by the user of this process.
  package init(_ action: Action, _ session: SessionID, reason: String?, head: String?) {
    (self.action, self.session, self.reason, self.head) = (action, session, reason, head)
    (at, by) = (.now(), Self.user)
  }

  /// The name of this process's user; the number of one that has none.
  package static var user: String {
    var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
    // Of names and paths that are a few dozen bytes long.
    var buffer = [CChar](repeating: 0, count: 4096)
    guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
    else {
      return "\(getuid())"
    }
    return String(cString: name)
  }
}

extension AuditEntry: ChainedLine {}

extension ArchiveReader {
  /// Does `deed` and writes `entry` down: before it, so that nothing is done unseen; on a full disk, which `deed` may be
  /// there to empty, after it.
  /// - Throws: `RecorderError` of `deed`, or when the entry cannot be written at all.
  func audited(_ entry: AuditEntry?, _ deed: () throws(RecorderError) -> Void) throws(RecorderError) {
    guard let entry, let root = try root() else { return try deed() }
    do {
      try root.append(entry, to: ArchiveLocation.Name.audit)
    } catch {
      guard error.code == .writeFailed else { throw error }
      try deed()
      try root.append(entry, to: ArchiveLocation.Name.audit)
      return
    }
    try deed()
  }

  /// What was taken from the archive, in the order in which that was done.
  /// - Returns: the entries that can be read, and the number of the first line that is not as it was written, from 1; nil
  ///   when all are.
  /// - Throws: `RecorderError` when the file cannot be read.
  package func audit() throws(RecorderError) -> (entries: [AuditEntry], fault: Int?) {
    guard let root = try root(), let file = try root.openFile(ArchiveLocation.Name.audit) else { return ([], nil) }
    var entries: [AuditEntry] = []
    let fault = try file.descriptor.firstFault(of: AuditEntry.self) { entries.append($0) }
    return (entries, fault)
  }
}
