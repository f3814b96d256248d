internal import CLinux
import Glibc
package import SessionModel

/// A session of which a part is taken out is made a second time as `.new-ID` beside it (`SessionReplacement`), and
/// `pending/ID.redacted` says so until the index has heard of it. Whoever makes it holds the lock of that mark.
extension ArchiveReader {
  /// The sessions of which a part was, or is being, taken out, and of which the index has yet to hear.
  package func redacted() throws(RecorderError) -> [SessionID] {
    try pending(withSuffix: ArchiveLocation.Name.redactedSuffix)
  }

  /// Takes away what is left when a part of the session `id` was taken out and the process was ended: of the two that there
  /// are then, the one in the session's place is whole.
  /// - Returns: the lock that keeps others from taking out more until the index has heard of it; nil while a process does.
  package func endRedaction(_ id: SessionID) throws(RecorderError) -> FileDescriptor? {
    guard let root = try root(), let mark = try lockMark(of: id, makes: false) else { return nil }
    try removeReplaced(id, root: root)
    return mark
  }

  /// Takes the session `id` off that list once the index has it as it is now.
  package func settleRedacted(_ id: SessionID) throws(RecorderError) {
    let pending = try root()?.folder(ArchiveLocation.Name.pending)
    try pending?.removeFile(id.description + ArchiveLocation.Name.redactedSuffix)
  }

  /// The mark of the session `id`, locked.
  /// - Parameter makes: whether one that is missing is made.
  /// - Returns: nil when another process has the lock, or there is no mark.
  func lockMark(of id: SessionID, makes: Bool) throws(RecorderError) -> FileDescriptor? {
    let name = id.description + ArchiveLocation.Name.redactedSuffix
    guard let root = try root() else { return nil }
    let pending = try root.createFolder(ArchiveLocation.Name.pending)
    guard makes || pending.exists(name) else { return nil }
    let mark = try pending.openOrCreateFile(name)
    // The one that was locked may have been settled meanwhile, and another made.
    guard try mark.lock(waiting: false), pending.holds(mark, as: name) else { return nil }
    try pending.synchronize()
    return mark
  }

  /// Removes the session of the two that is not in the place of the session `id`.
  func removeReplaced(_ id: SessionID, root: Folder) throws(RecorderError) {
    guard let day = try root.day(of: id) else { return }
    let other = ArchiveLocation.Name.newPrefix + id.description
    if !day.exists(id.description), day.exists(other) {
      // A file system that cannot exchange two names: the second one was whole before the first went out of the way.
      try day.rename(other, to: id.description)
    }
    try day.removeTree(other)
    try emptyTrash(root)
    try day.synchronize()
  }
}

extension Folder {
  /// Whether `name` names the file that is open as `file`.
  fileprivate func holds(_ file: borrowing FileDescriptor, as name: String) -> Bool {
    var (mine, others) = (stat(), stat())
    return fstat(file.raw, &mine) == 0 && fstatat(descriptor, name, &others, AT_SYMLINK_NOFOLLOW) == 0
      && mine.st_dev == others.st_dev && mine.st_ino == others.st_ino
  }

  /// Puts the session that was made as `.new-ID` in the place of the session `id` in this folder of a day, and that one in
  /// its place.
  func replaceSession(_ id: SessionID, root: Folder) throws(RecorderError) {
    let (name, other) = (id.description, ArchiveLocation.Name.newPrefix + id.description)
    if recorder_exchange(descriptor, other, name) != 0 {
      guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else {
        throw RecorderError(.write, "\(path)/\(name)", errno: errno)
      }
      let trash = try root.createFolder(ArchiveLocation.Name.trash)
      try trash.removeTree(name)
      try rename(name, to: name, in: trash)
      do { try rename(other, to: name) } catch {
        try trash.rename(name, to: name, in: self)
        throw error
      }
    }
  }
}
