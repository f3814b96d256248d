import Glibc
package import SessionModel

extension ArchiveReader {
  /// Deletes the session `id` for good: out of the way in one step first, then file by file. What an earlier deletion
  /// left half done is finished too. The index is to be told next.
  /// - Parameters:
  ///   - action: what `audit.ndjson` says was done; nil says nothing, of a session that was never recorded.
  ///   - reason: why.
  /// - Throws: `RecorderError`: sessionNotFound, busy when it is being recorded, permission, writeFailed; damagedData when a
  ///   newer recorder wrote it.
  package func delete(
    _ id: SessionID, as action: AuditEntry.Action?, reason: String? = nil
  ) throws(RecorderError) {
    let session = try session(id)
    try session.checkFormat()
    let lock = try session.folder.openOrCreateFile(ArchiveLocation.Name.lock)
    guard try lock.lock(waiting: false) else { throw .isWorkedOn(id) }
    guard let root = try root(), let day = try root.day(of: id) else { return }
    // What a redaction left would take the session's place.
    let mark = try endRedaction(id)
    defer { mark?.unlock() }
    if mark == nil, try redacted().contains(id) { throw .isWorkedOn(id) }
    let head = (try? session.manifest())?.chain?.head
    try audited(action.map { AuditEntry($0, id, reason: reason, head: head) }) { () throws(RecorderError) in
      try markPending(id, suffix: ArchiveLocation.Name.deletedSuffix)
      let trash = try root.createFolder(ArchiveLocation.Name.trash)
      try day.rename(id.description, to: id.description, in: trash)
      try root.folder(ArchiveLocation.Name.pending)?.removeFile(id.description)
      try day.synchronize()
      try settleRedacted(id)
      try emptyTrash(root)
    }
  }

  /// Removes what was put out of the way.
  func emptyTrash(_ root: Folder) throws(RecorderError) {
    guard let trash = try root.folder(ArchiveLocation.Name.trash) else { return }
    for name in try trash.rawNames() { try trash.removeTree(name) }
  }
}

extension Folder {
  /// The deepest tree that is removed; a session's is two deep.
  private static let deepest = 16

  /// Removes what `name` names here and all below it, following no link.
  func removeTree(_ name: String) throws(RecorderError) {
    try removeTree(name.utf8CString.map { $0 })
  }

  /// Removes what `name` (bytes that end with a 0) names here and all below it, following no link.
  func removeTree(_ name: [CChar], depth: Int = 0) throws(RecorderError) {
    if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
    // Linux says EISDIR for a folder, POSIX EPERM.
    guard errno == EISDIR || errno == EPERM, depth < Self.deepest else {
      throw RecorderError(.write, path, errno: errno)
    }
    guard let child = try folder(name) else { return }
    for entry in try child.rawNames() { try child.removeTree(entry, depth: depth + 1) }
    guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw RecorderError(.write, child.path, errno: errno)
    }
  }
}

extension RecorderError {
  /// The session `id` is another process's at the moment.
  package static func isWorkedOn(_ id: SessionID) -> RecorderError {
    RecorderError(.busy, "The session \(id) is being recorded or worked on.", hint: "End the recording first.")
  }
}
