import Glibc
package import SessionModel

/// A file that appears under its name only when it is complete: written beside it, mode 0600, then put in place.
package struct OutputFile: ~Copyable {
  private let target: FilePath
  private let temporary: FilePath
  private let descriptor: Int32
  private let replaces: Bool
  private var isPlaced = false

  /// Makes the empty file that will become `target`.
  /// - Parameter replaces: whether a file that is there already is replaced.
  /// - Throws: `RecorderError` (cannotCreate) when the target exists and may not be replaced or is no regular file, and
  ///   when its folder takes no file.
  package init(_ target: FilePath, replaces: Bool) throws(RecorderError) {
    try Self.check(target, replaces: replaces)
    var generator = SystemRandomNumberGenerator()
    let slash = target.bytes.lastIndex(of: UInt8(ascii: "/"))
    let folder = target.bytes[..<(slash.map { $0 + 1 } ?? 0)]
    // A name of its own, not one made from the target's: that may be as long as names can be.
    let name = ".recorder-\(String(generator.next() as UInt64, radix: 36)).part"
    guard let temporary = FilePath(bytes: folder + Array(name.utf8)) else {
      throw RecorderError(.usage, "\(target) is no file name.")
    }
    let descriptor = temporary.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    guard descriptor >= 0 else { throw Self.failure(target, errno) }
    (self.target, self.temporary, self.descriptor, self.replaces) = (target, temporary, descriptor, replaces)
  }

  deinit {
    close(descriptor)
    if !isPlaced { _ = temporary.withCString { unlink($0) } }
  }

  /// A second descriptor of the file, which the caller closes.
  /// - Throws: `RecorderError` (systemCall) when none is left.
  package func makeDescriptor() throws(RecorderError) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else {
      throw RecorderError(.systemCall, "No descriptor is left: \(String(cString: strerror(errno))).")
    }
    return copy
  }

  /// Writes `bytes` at the end.
  /// - Throws: `RecorderError` (writeFailed) with the system's words.
  package func write(_ bytes: [UInt8]) throws(RecorderError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw RecorderError(
          .writeFailed, "\(target) cannot be written: \(String(cString: strerror(errno))).",
          hint: errno == ENOSPC || errno == EDQUOT ? "Make room on the disk." : nil)
      }
      done += count
    }
  }

  /// Gives the file its name.
  /// - Throws: `RecorderError` (cannotCreate) when a file has taken that name in the meantime.
  package mutating func place() throws(RecorderError) {
    guard !replaces else {
      try Self.check(target, replaces: true)
      return try rename()
    }
    // link, unlike rename, never replaces a file.
    let linked = temporary.withCString { from in target.withCString { to in link(from, to) } } == 0
    guard !linked else {
      _ = temporary.withCString { unlink($0) }
      isPlaced = true
      return
    }
    guard [EPERM, ENOTSUP, ENOSYS, EMLINK].contains(errno) else { throw Self.failure(target, errno) }
    // A file system without links: an empty file takes the name first, and fails where there is one.
    let claim = target.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    guard claim >= 0 else { throw Self.failure(target, errno) }
    close(claim)
    try rename()
  }

  private mutating func rename() throws(RecorderError) {
    guard temporary.withCString({ from in target.withCString { to in Glibc.rename(from, to) } }) == 0 else {
      throw Self.failure(target, errno)
    }
    isPlaced = true
  }

  private static func check(_ target: FilePath, replaces: Bool) throws(RecorderError) {
    var status = stat()
    guard target.withCString({ lstat($0, &status) }) == 0 else { return }
    guard replaces else { throw failure(target, EEXIST) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw RecorderError(.cannotCreate, "\(target) is no regular file and is not replaced.", hint: "Name another one.")
    }
  }

  private static func failure(_ target: FilePath, _ number: Int32) -> RecorderError {
    switch number {
    case EEXIST:
      return RecorderError(
        .cannotCreate, "\(target) exists already.", hint: "Name another file, or give --force to replace it.")
    case EACCES, EPERM:
      return RecorderError(.permission, "\(target) cannot be created: \(String(cString: strerror(number))).")
    case ENOSPC, EDQUOT:
      return RecorderError(
        .writeFailed, "\(target) cannot be created: \(String(cString: strerror(number))).",
        hint: "Make room on the disk.")
    default:
      return RecorderError(.cannotCreate, "\(target) cannot be created: \(String(cString: strerror(number))).")
    }
  }
}
