import Glibc
package import SessionModel

/// The disk that an archive is on.
extension Folder {
  /// Bytes kept free for the end of a session: a media file's index of half a day takes 170 kB, chain and manifest less.
  private static let reserveBytes = 512 << 10

  /// The bytes that are left for this user on the folder's disk; nil when that is not known: some network and FUSE file
  /// systems say that they have no blocks at all.
  var bytesFree: Int64? {
    var disk = statvfs()
    guard retrying({ fstatvfs(descriptor, &disk) }) == 0, disk.f_blocks > 0 else { return nil }
    let (bytes, overflow) = Int64(clamping: disk.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: disk.f_frsize))
    return overflow ? nil : bytes
  }

  /// Refuses to begin a recording that would have to be ended at once.
  /// - Throws: `RecorderError` (writeFailed).
  func requireSpace(_ storage: StorageOptions) throws(RecorderError) {
    guard let free = bytesFree, free < storage.endBelow else { return }
    throw RecorderError(
      .writeFailed,
      "The disk of \(path.printable) has \(free / 1_000_000) MB left, and a recording is ended below \(storage.endBelow / 1_000_000) MB.",
      hint: "Free some space, or name another archive in RECORDER_ARCHIVE.")
  }

  /// Makes the file that keeps room for the end of a session on a disk that fills up.
  func createReserve() throws(RecorderError) {
    let file = try createFile(ArchiveLocation.Name.reserve)
    let failure = posix_fallocate(file.raw, 0, Self.reserveBytes)
    // A file system that cannot reserve room says so; the recording is no worse for it.
    guard failure == 0 || failure == EOPNOTSUPP || failure == EINVAL else {
      throw RecorderError(.write, file.path, errno: failure)
    }
  }
}

extension ArchiveReader {
  /// The bytes that are left on the archive's disk; nil when that is not known, or there is no archive.
  package func bytesFree() throws(RecorderError) -> Int64? { try root()?.bytesFree }
}
