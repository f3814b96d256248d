import Glibc
package import SessionModel

/// An open folder of the archive. Everything below it is reached from its descriptor, name by name, and no symbolic link
/// is ever followed, so that no path can lead out of the archive.
package final class Folder: Sendable {
  /// The open descriptor.
  let descriptor: Int32
  /// Where it was found, for messages alone.
  package let path: String

  /// Folders are for their owner alone, whatever the umask.
  static let folderMode: mode_t = 0o700
  /// So are files, from the moment of their creation.
  static let fileMode: mode_t = 0o600

  /// Takes over `descriptor`.
  private init(descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

  deinit { close(descriptor) }

  /// Opens the folder at `path`; links on the way to it are the person's own and are followed.
  /// - Returns: nil when there is none.
  package static func open(path: String, for operation: FileOperation = .read) throws(RecorderError) -> Folder? {
    let descriptor = retrying { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    if descriptor >= 0 { return Folder(descriptor: descriptor, path: path) }
    if errno == ENOENT { return nil }
    throw RecorderError(operation, path, errno: errno)
  }

  /// Opens the folder at `path`, making it and the folders above it when they are missing.
  static func create(path: String) throws(RecorderError) -> Folder {
    if let folder = try open(path: path, for: .create) { return folder }
    var partial = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      partial += "/\(part)"
      if mkdir(partial, folderMode) != 0 && errno != EEXIST { throw RecorderError(.create, partial, errno: errno) }
    }
    guard let folder = try open(path: path, for: .create) else {
      throw RecorderError(.create, path, errno: ENOENT)
    }
    return folder
  }

  /// Opens the folder `name` in this one.
  /// - Returns: nil when there is none.
  func folder(_ name: String) throws(RecorderError) -> Folder? { try folder(name.utf8CString.map { $0 }) }

  /// Opens the folder `name` (bytes that end with a 0, of any encoding) in this one.
  /// - Returns: nil when there is none.
  func folder(_ name: [CChar]) throws(RecorderError) -> Folder? {
    let child = retrying { openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    let number = errno
    let path = "\(path)/\(String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    if child >= 0 { return Folder(descriptor: child, path: path) }
    if number == ENOENT { return nil }
    throw RecorderError(.read, path, errno: number)
  }

  /// Opens the folder `name` in this one, making it when it is missing.
  /// - Parameter shown: the name for messages; nil is `name`.
  func createFolder(_ name: String, shownAs shown: String? = nil) throws(RecorderError) -> Folder {
    if mkdirat(descriptor, name, Self.folderMode) != 0 && errno != EEXIST {
      throw RecorderError(.create, "\(path)/\(name)", errno: errno)
    }
    let child = retrying { openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    guard child >= 0 else { throw RecorderError(.create, "\(path)/\(name)", errno: errno) }
    return Folder(descriptor: child, path: "\(path)/\(shown ?? name)")
  }

  /// Makes the new folder `name` in this one.
  /// - Parameter shown: the name that it will have when others see it, for messages; nil is `name`.
  func createNewFolder(_ name: String, shownAs shown: String? = nil) throws(RecorderError) -> Folder {
    guard mkdirat(descriptor, name, Self.folderMode) == 0 else {
      throw RecorderError(.create, "\(path)/\(name)", errno: errno)
    }
    return try createFolder(name, shownAs: shown)
  }

  /// Makes the new file `name` for reading and writing; a file or link of that name is refused.
  /// - Parameter appending: whether each write goes to the end.
  package func createFile(_ name: String, appending: Bool = false) throws(RecorderError) -> FileDescriptor {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | (appending ? O_APPEND : 0)
    let file = retrying { openat(descriptor, name, flags, Self.fileMode) }
    guard file >= 0 else { throw RecorderError(.create, "\(path)/\(name)", errno: errno) }
    return FileDescriptor(raw: file, path: "\(path)/\(name)")
  }

  /// Opens the file `name` for reading and, when `writing`, for writing too. Only regular files are opened: a FIFO in
  /// its place would block, a device would do worse.
  /// - Returns: nil when there is none.
  package func file(_ name: String, writing: Bool = false, appending: Bool = false) throws(RecorderError)
    -> FileDescriptor?
  {
    // O_NONBLOCK keeps the open of a FIFO from waiting; regular files do not know it.
    let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (appending ? O_APPEND : 0) | (writing ? O_RDWR : O_RDONLY)
    let raw = retrying { openat(descriptor, name, flags) }
    if raw < 0 && errno == ENOENT { return nil }
    guard raw >= 0 else { throw RecorderError(.read, "\(path)/\(name)", errno: errno) }
    let file = FileDescriptor(raw: raw, path: "\(path)/\(name)")
    var status = stat()
    guard fstat(raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw RecorderError(.damagedData, "\(path)/\(name) is no regular file.")
    }
    return file
  }

  /// Opens the file `name` for reading and writing, making it when it is missing.
  package func openOrCreateFile(_ name: String, appending: Bool = false) throws(RecorderError) -> FileDescriptor {
    // Two processes may race to make it: the one that loses finds it there.
    for _ in 0..<2 {
      if let file = try file(name, writing: true, appending: appending) { return file }
      do { return try createFile(name, appending: appending) } catch {
        if !exists(name) { throw error }
      }
    }
    throw RecorderError(.create, "\(path)/\(name)", errno: EEXIST)
  }

  /// Whether `other` is this folder, whatever it is called now.
  func isSame(as other: Folder) -> Bool {
    var (mine, others) = (stat(), stat())
    return fstat(descriptor, &mine) == 0 && fstat(other.descriptor, &others) == 0 && mine.st_dev == others.st_dev
      && mine.st_ino == others.st_ino
  }

  /// Whether something of that name is here, a broken link included.
  package func exists(_ name: String) -> Bool {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// The time of the last change of what `name` names, in seconds since 1970; nil when there is none.
  package func modificationTime(_ name: String) -> Int? {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mtim.tv_sec : nil
  }

  /// Puts `source` in the place of `target`, which may be in another folder of the same file system.
  package func rename(_ source: String, to target: String, in other: Folder? = nil) throws(RecorderError) {
    let destination = other ?? self
    guard renameat(descriptor, source, destination.descriptor, target) == 0 else {
      throw RecorderError(.write, "\(destination.path)/\(target)", errno: errno)
    }
  }

  /// Takes the file `name` away; one that is not there is no error.
  package func removeFile(_ name: String) throws(RecorderError) {
    guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
      throw RecorderError(.write, "\(path)/\(name)", errno: errno)
    }
  }

  /// Makes names that were made, renamed or taken away survive a power cut.
  func synchronize() throws(RecorderError) {
    // Some file systems cannot sync a folder and say EINVAL: nothing more can be done there.
    guard retrying({ fsync(descriptor) }) == 0 || errno == EINVAL else {
      throw RecorderError(.write, path, errno: errno)
    }
  }

  /// The names of what is in the folder, as bytes that end with a 0, without `.` and `..`, in no order.
  func rawNames() throws(RecorderError) -> [[CChar]] {
    // A directory stream takes its descriptor over, and a duplicate would share the reading position.
    let own = retrying { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard own >= 0, let stream = fdopendir(own) else { throw RecorderError(.read, path, errno: errno) }
    defer { closedir(stream) }
    var names: [[CChar]] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: 256) {
          Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
        }
      }
      if name != [46, 0] && name != [46, 46, 0] { names.append(name) }
    }
    return names
  }

  /// The names of what is in the folder that are valid UTF-8, in no order.
  package func names() throws(RecorderError) -> [String] {
    try rawNames().compactMap { name in String(validating: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
