import Glibc
package import SessionModel

/// A configuration file on disk.
package enum ConfigurationFile {
  /// Reads the file at `path`.
  /// - Returns: nil when there is none.
  /// - Throws: `RecorderError` (configuration) when there is one and it cannot be read.
  static func read(_ path: String) throws(RecorderError) -> ConfigurationText? {
    // O_NONBLOCK keeps the open of a FIFO from waiting; regular files do not know it.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(String(cString: strerror(errno)))
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw unreadable("it is no regular file")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(String(cString: strerror(errno))) }
      if count == 0 { return ConfigurationText(bytes) }
      bytes += buffer[..<count]
      guard bytes.count <= ConfigurationText.largestFile else {
        throw unreadable("it has more than \(ConfigurationText.largestFile) bytes")
      }
    }
  }

  /// Changes the file at `path`, or makes it: `body` is given its text and returns the new one. Two that do so at once
  /// come one after the other, and a reader sees the one or the other text, never a part.
  /// - Throws: `RecorderError`: configuration when it cannot be read, permission, cannotCreate or writeFailed when it
  ///   cannot be written, and what `body` throws; the file is as it was then.
  package static func change(
    _ path: String, _ body: (ConfigurationText) throws(RecorderError) -> ConfigurationText
  ) throws(RecorderError) {
    // The file may be a link into a person's own collection of such files: what it names is replaced, not the link.
    let target = realpath(path, nil).map { resolved in
      defer { free(resolved) }
      return String(cString: resolved)
    }
    let parts = (target ?? path).split(separator: "/").map(String.init)
    guard let name = parts.last else { throw failure(.usage, path, EISDIR) }
    let folder = try openFolder("/" + parts.dropLast().joined(separator: "/"))
    defer { close(folder) }
    // Given back with the descriptor.
    while flock(folder, LOCK_EX) != 0, errno == EINTR {}
    let old = try read(target ?? path) ?? ConfigurationText([])
    let new = try body(old)
    if new.bytes != old.bytes { try replace(name, in: folder, by: new.bytes, shownAs: path) }
  }

  /// Opens the folder at `path`, making what is missing of it.
  private static func openFolder(_ path: String) throws(RecorderError) -> Int32 {
    var partial = ""
    for part in path.split(separator: "/") {
      partial += "/\(part)"
      // For its owner alone, as the XDG Base Directory Specification wants new ones.
      if mkdir(partial, 0o700) != 0, errno != EEXIST { throw failure(.cannotCreate, partial, errno) }
    }
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw failure(.cannotCreate, path, errno) }
    return folder
  }

  private static func replace(
    _ name: String, in folder: Int32, by bytes: [UInt8], shownAs path: String
  ) throws(RecorderError) {
    let temporary = ".\(name).new"
    // The lock is held: one that lies there is left from a program that was killed.
    unlinkat(folder, temporary, 0)
    let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(.cannotCreate, path, errno) }
    var status: Int32 = 0
    bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count, status == 0 {
        let count = write(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
        if count >= 0 { done += count } else if errno != EINTR { status = errno }
      }
    }
    if status == 0, fsync(file) != 0 { status = errno }
    if close(file) != 0, status == 0 { status = errno }
    if status == 0, renameat(folder, temporary, folder, name) != 0 { status = errno }
    guard status == 0 else {
      unlinkat(folder, temporary, 0)
      throw failure(.writeFailed, path, status)
    }
    // The new name survives a power cut too; file systems that cannot do that say EINVAL.
    _ = fsync(folder)
  }

  private static func unreadable(_ reason: String) -> RecorderError {
    RecorderError(.configuration, "The file cannot be read: \(reason).")
  }

  private static func failure(_ code: ExitCode, _ path: String, _ number: Int32) -> RecorderError {
    let isForbidden = number == EACCES || number == EPERM
    return RecorderError(
      isForbidden ? .permission : number == EROFS ? .cannotCreate : code,
      "\(path.printable) cannot be written: \(String(cString: strerror(number))).")
  }
}
