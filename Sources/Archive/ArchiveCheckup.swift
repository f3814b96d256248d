import Glibc
package import SessionModel

/// Whether the archive can take a recording: its folder, the room on its disk, and how fast that is.
package enum ArchiveCheckup {
  /// Bytes written to measure the disk, and how many at once.
  private static let (sample, block) = (32 << 20, 1 << 20)
  /// Bytes a second below which the disk may not keep up: lossless full motion of 1080p reaches about so much.
  private static let slow = 20_000_000.0

  /// Looks at the archive at `location` without leaving anything there.
  package static func findings(of location: ArchiveLocation, _ storage: StorageOptions) -> [Finding] {
    let folder: Folder
    do throws(RecorderError) {
      guard let found = try existing(location.path) else {
        return [Finding(.archive, "folder", .problem, "There is no folder that \(location.path) could be made in.")]
      }
      folder = found
    } catch {
      return [Finding(.archive, "folder", error)]
    }
    guard faccessat(folder.descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
      return [
        Finding(.archive, "folder", RecorderError(.create, location.path, errno: errno)), space(folder, storage),
      ]
    }
    let text = folder.path == location.path ? "It is \(location.path)." : "It will be made as \(location.path)."
    let found = [Finding(.archive, "folder", .fine, text), space(folder, storage), speed(folder)]
    return folder.isFAT ? found + [fat] : found
  }

  private static var fat: Finding {
    Finding(
      .archive, "file system", .note,
      "It is FAT: a file has at most 4 GB, so that a recording goes on in a new one before, and the mount alone says who may read it.",
      remedy: "Name an archive on another file system in RECORDER_ARCHIVE.")
  }

  /// The folder at `path`, or the one above it that it would be made in.
  private static func existing(_ path: String) throws(RecorderError) -> Folder? {
    var path = path
    while true {
      if let folder = try Folder.open(path: path) { return folder }
      guard let slash = path.lastIndex(of: "/") else { return try Folder.open(path: ".") }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
  }

  private static func space(_ folder: Folder, _ storage: StorageOptions) -> Finding {
    guard let free = folder.bytesFree else {
      return Finding(
        .archive, "space", .note, "The file system does not say how much room it has: a full disk is met unwarned.")
    }
    let room = "\(free / 1_000_000) MB are free"
    let remedy = "Free some space, or name another archive in RECORDER_ARCHIVE."
    if free < storage.endBelow {
      return Finding(
        .archive, "space", .problem, "\(room), and a recording ends below \(storage.endBelow / 1_000_000) MB.",
        remedy: remedy)
    }
    if free < storage.warnBelow {
      return Finding(
        .archive, "space", .note, "\(room), and a recording warns below \(storage.warnBelow / 1_000_000) MB.",
        remedy: remedy)
    }
    return Finding(.archive, "space", .fine, "\(room).")
  }

  /// Writes a file without a name, which is gone with this process however it ends.
  private static func speed(_ folder: Folder) -> Finding {
    let subject = "disk speed"
    // O_TMPFILE is 0o20000000 | O_DIRECTORY, which Swift does not import.
    let file = openat(folder.descriptor, ".", 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      return Finding(.archive, subject, .note, "The file system has no files without a name to measure it with.")
    }
    defer { close(file) }
    // No file system is given the chance to keep zeros as a hole, or to compress them.
    var generator = SystemRandomNumberGenerator()
    let words = (0..<block / 8).map { _ in generator.next() }
    let start = ContinuousClock.now
    var isWritten = true
    for _ in 0..<sample / block where isWritten {
      isWritten = words.withUnsafeBytes { write(file, $0.baseAddress, block) } == block
    }
    guard isWritten, fdatasync(file) == 0 else {
      return Finding(
        .archive, subject, .note,
        "\(sample) bytes cannot be written to measure it: \(String(cString: strerror(errno))).")
    }
    let rate = Double(sample) / max(1e-6, (ContinuousClock.now - start) / .seconds(1))
    let text = "The disk takes \(Int(rate / 1_000_000)) MB a second."
    return rate < slow
      ? Finding(
        .archive, subject, .note, "\(text) Large or lossless recordings may lose frames.",
        remedy: "Name an archive on a faster disk in RECORDER_ARCHIVE.")
      : Finding(.archive, subject, .fine, text)
  }
}
