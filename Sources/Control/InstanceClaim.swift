import Glibc
package import SessionModel

/// The right to use one name, held as long as the recorder lives: the lock of a file, which goes with the process. Only
/// who holds it touches the socket of that name.
package struct InstanceClaim: ~Copyable, Sendable {
  /// The name.
  package let name: InstanceName
  let folder: RuntimeFolder
  private let lock: Int32

  /// Claims `name`.
  /// - Returns: nil when a living recorder has it.
  /// - Throws: `RecorderError` (cannotCreate) when the folder does not take its lock.
  package static func claim(_ name: InstanceName, in folder: RuntimeFolder) throws(RecorderError) -> InstanceClaim? {
    while true {
      let lock = openat(folder.descriptor, name.lockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard lock >= 0 else {
        throw RecorderError(
          .cannotCreate,
          "\(folder.path.printable)/\(name.lockFile) cannot be made: \(String(cString: strerror(errno))).")
      }
      if flock(lock, LOCK_EX | LOCK_NB) != 0 {
        close(lock)
        return nil
      }
      // The one who had it before may have taken the file away between our open and our lock.
      var (mine, there) = (stat(), stat())
      if fstat(lock, &mine) == 0, fstatat(folder.descriptor, name.lockFile, &there, AT_SYMLINK_NOFOLLOW) == 0,
        mine.st_ino == there.st_ino, mine.st_dev == there.st_dev
      {
        return InstanceClaim(name: name, folder: folder, lock: lock)
      }
      close(lock)
    }
  }

  private init(name: InstanceName, folder: RuntimeFolder, lock: Int32) {
    (self.name, self.folder, self.lock) = (name, folder, lock)
  }

  deinit {
    unlinkat(folder.descriptor, name.socketFile, 0)
    unlinkat(folder.descriptor, name.lockFile, 0)
    close(lock)
  }

  /// Makes the socket, in place of one that a killed recorder left, and begins to listen.
  /// - Returns: its descriptor, which the caller closes.
  func listen() throws(RecorderError) -> Int32 {
    unlinkat(folder.descriptor, name.socketFile, 0)
    let descriptor = try UnixSocket.open()
    let path = folder.socketPath(name)
    let status = UnixSocket.withAddress(path) { address, length in bind(descriptor, address, length) }
    guard status == 0, fchmodat(folder.descriptor, name.socketFile, 0o600, 0) == 0,
      Glibc.listen(descriptor, 16) == 0
    else {
      let number = errno
      close(descriptor)
      throw RecorderError(
        .cannotCreate,
        "\(folder.path.printable)/\(name.socketFile) cannot be made: \(String(cString: strerror(number))).")
    }
    return descriptor
  }
}
