import Glibc
package import SessionModel

/// The sessions that the index has yet to hear of: a file in `pending/` for each one that is recorded, changed or
/// deleted. A command looks at these alone, so its time does not grow with the archive.
extension ArchiveReader {
  /// How long a session may take from its place in `pending/` to its folder, in seconds: a thousand times what it takes.
  private static let creationTime = 60

  /// The sessions that are being recorded, or were recorded or changed and are not yet in the index; oldest first.
  package func pending() throws(RecorderError) -> [SessionID] {
    try pendingNames().compactMap { SessionID($0) }.sorted()
  }

  /// The sessions that were deleted and may still be in the index.
  package func deleted() throws(RecorderError) -> [SessionID] {
    try pending(withSuffix: ArchiveLocation.Name.deletedSuffix)
  }

  /// The sessions whose names are listed with `suffix`.
  func pending(withSuffix suffix: String) throws(RecorderError) -> [SessionID] {
    try pendingNames().filter { $0.hasSuffix(suffix) }.compactMap { SessionID($0.dropLast(suffix.count)) }.sorted()
  }

  private func pendingNames() throws(RecorderError) -> [String] {
    try root()?.folder(ArchiveLocation.Name.pending)?.names() ?? []
  }

  /// Lists `id` as changed, before it is changed.
  func markPending(_ id: SessionID, suffix: String = "") throws(RecorderError) {
    guard let root = try root() else { return }
    _ = try root.createFolder(ArchiveLocation.Name.pending).openOrCreateFile(id.description + suffix)
  }

  /// Takes `id` off the list once the index has it. One that is recorded, or was killed and is not closed, stays.
  package func settle(_ id: SessionID) throws(RecorderError) {
    guard let root = try root(), let pending = try root.folder(ArchiveLocation.Name.pending) else { return }
    if let folder = try root.session(id) {
      let session = SessionReader(id: id, folder: folder)
      if try session.isLive() { return }
      if (try? session.manifest())?.state == .recording { return }
    }
    try pending.removeFile(id.description)
  }

  /// Takes `id`, which has no folder, off the list, unless it is just being made.
  package func settleAbsent(_ id: SessionID) throws(RecorderError) {
    guard let root = try root(), let pending = try root.folder(ArchiveLocation.Name.pending),
      let listed = pending.modificationTime(id.description), time(nil) - listed > Self.creationTime
    else { return }
    try root.day(of: id)?.removeTree(ArchiveLocation.Name.newPrefix + id.description)
    try pending.removeFile(id.description)
  }

  /// Takes the deleted session `id` off the list once the index has forgotten it.
  package func settleDeleted(_ id: SessionID) throws(RecorderError) {
    let pending = try root()?.folder(ArchiveLocation.Name.pending)
    try pending?.removeFile(id.description + ArchiveLocation.Name.deletedSuffix)
  }

  /// Adds `annotation` to the session `id`, on disk when it returns; the index is to be told next.
  /// - Throws: `RecorderError` (sessionNotFound, permission, writeFailed; damagedData when a newer recorder wrote it).
  package func annotate(_ id: SessionID, _ annotation: Annotation) throws(RecorderError) {
    var isAdded = false
    while !isAdded {
      let session = try session(id)
      try session.checkFormat()
      try markPending(id)
      // Another folder may take its place before the file is ours (`SessionReplacement`).
      isAdded = try session.folder.append(annotation, to: ArchiveLocation.Name.annotations) {
        () throws(RecorderError) in
        try root()?.session(id)?.isSame(as: session.folder) ?? false
      }
    }
  }
}
