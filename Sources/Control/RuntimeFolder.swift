import Glibc
package import SessionModel

/// The private folder that holds the control sockets of this person's recorders: `$XDG_RUNTIME_DIR/recorder`, or `run` in
/// the archive when there is no usable runtime folder. What is in it is reached from its descriptor, so that nobody can
/// put another folder in its place after it was looked at.
package final class RuntimeFolder: Sendable {
  /// The open folder.
  let descriptor: Int32
  /// Where it is, for messages alone.
  package let path: String

  private init(descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

  deinit { close(descriptor) }

  /// Opens the folder that `environment` leads to.
  /// - Parameters:
  ///   - archive: the archive's path, for the case that there is no runtime folder.
  ///   - creating: whether it is made when it is missing.
  /// - Returns: nil when it is missing and not to be made.
  /// - Throws: `RecorderError`: permission when it is a symbolic link, somebody else's or open to others; cannotCreate.
  package static func open(
    _ environment: [String: String], archive: String, creating: Bool
  ) throws(RecorderError) -> RuntimeFolder? {
    if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"), isUsable(runtime) {
      return try open(path: "\(runtime)/recorder", creating: creating)
    }
    if creating, mkdir(archive, 0o700) != 0, errno == ENOENT { try makeFolders(archive) }
    return try open(path: "\(archive)/run", creating: creating)
  }

  /// Whether the runtime folder at `path` is ours and nobody else can put things into it, as the XDG Base Directory
  /// Specification demands; one that is not is treated as missing, as it also says.
  private static func isUsable(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
    return status.st_uid == geteuid() && status.st_mode & 0o022 == 0
  }

  private static func makeFolders(_ path: String) throws(RecorderError) {
    var partial = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      partial += "/\(part)"
      if mkdir(partial, 0o700) != 0, errno != EEXIST { throw failure(partial, "made", errno) }
    }
  }

  private static func open(path: String, creating: Bool) throws(RecorderError) -> RuntimeFolder? {
    if creating, mkdir(path, 0o700) != 0, errno != EEXIST { throw failure(path, "made", errno) }
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure(path, "opened", errno)
    }
    let folder = RuntimeFolder(descriptor: descriptor, path: path)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path, "looked at", errno) }
    guard status.st_uid == geteuid() else {
      throw RecorderError(
        .permission, "\(path.printable) belongs to another user and cannot hold control sockets.",
        hint: "Remove it, or set XDG_RUNTIME_DIR to a folder of your own.")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw RecorderError(
        .permission, "\(path.printable) is open to others and cannot hold control sockets.",
        hint: "Look who put what into it, then run chmod 700 on it.")
    }
    return folder
  }

  private static func failure(_ path: String, _ verb: String, _ number: Int32) -> RecorderError {
    if number == ELOOP || number == ENOTDIR {
      return RecorderError(
        .permission, "\(path.printable) is no folder, or a symbolic link, which is not followed.", hint: "Remove it.")
    }
    let code: ExitCode = number == EACCES || number == EPERM ? .permission : .cannotCreate
    return RecorderError(
      code, "\(path.printable) cannot be \(verb): \(String(cString: strerror(number))).",
      hint: "Set XDG_RUNTIME_DIR to a folder of your own.")
  }

  /// The path by which a socket in it is bound or connected: through the descriptor, which is short enough for any
  /// socket's address and leads to no other folder.
  func socketPath(_ name: InstanceName) -> String { "/proc/self/fd/\(descriptor)/\(name.socketFile)" }

  /// The names that have a socket, alive or left behind, sorted.
  package func instances() -> [InstanceName] {
    // A directory stream takes its descriptor over, and a duplicate would share the reading position.
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0, let stream = fdopendir(own) else { return [] }
    defer { closedir(stream) }
    var names: [InstanceName] = []
    while let entry = readdir(stream) {
      let file = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name = InstanceName(socketFile: file) { names.append(name) }
    }
    return names.sorted { $0.text < $1.text }
  }
}
