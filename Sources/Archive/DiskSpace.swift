internal import CLinux
import Glibc
package import SessionModel

/// The disk that an archive is on.
extension Folder {
  /// Bytes kept free for the end of a session: a media file's index of half a day takes 170 kB, chain and manifest less.
  private static let reserveBytes = 512 << 10

  /// The bytes that are left for this user on the folder's disk; nil when that is not known: some network and FUSE file
  /// systems say that they have no blocks at all, blocks of no size, or more free ones than they have.
  package var bytesFree: Int64? {
    var disk = statvfs()
    guard retrying({ fstatvfs(descriptor, &disk) }) == 0, disk.f_blocks > 0, disk.f_bavail <= disk.f_blocks else {
      return nil
    }
    // A fragment is what blocks are counted in; file systems without any leave it out.
    let unit = disk.f_frsize > 0 ? disk.f_frsize : disk.f_bsize
    let (bytes, overflow) = Int64(clamping: disk.f_bavail).multipliedReportingOverflow(by: Int64(clamping: unit))
    return overflow || unit == 0 ? nil : bytes
  }

  /// The bytes that a file in the folder can have at most; nil when only the disk's room bounds it.
  var largestFile: Int64? {
    var limit = rlimit()
    let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
    // No limit is a number of 64 bits; FAT keeps a file's size in 32.
    let limits = [isKnown ? Int64(exactly: limit.rlim_cur) : nil, isFAT ? Int64(UInt32.max) : nil]
    return limits.compactMap(\.self).min()
  }

  /// Whether the folder is on a FAT file system.
  var isFAT: Bool { recorder_is_fat(descriptor) != 0 }

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
