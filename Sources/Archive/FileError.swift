import Glibc
package import SessionModel

/// What was tried when a system call on a file failed; it decides the exit code and the remedy.
package enum FileOperation {
  /// A file or folder was to be made.
  case create
  /// Bytes were to be written, or a file to be put in place.
  case write
  /// Something was to be read or opened.
  case read
}

extension RecorderError {
  /// The error of a system call that failed with `number` (errno) for the file at `path`.
  init(_ operation: FileOperation, _ path: String, errno number: Int32) {
    let reason = String(cString: strerror(number))
    let verb =
      switch operation {
      case .create: "created"
      case .write: "written"
      case .read: "read"
      }
    let message = "\(path.printable) cannot be \(verb): \(reason)."
    switch number {
    case EACCES, EPERM:
      self.init(.permission, message, hint: "See to the permissions, or name another archive in RECORDER_ARCHIVE.")
    case EROFS:
      // Where nothing could be begun it cannot be made; a disk that stopped being writable is a write that failed.
      self.init(
        operation == .write ? .writeFailed : .cannotCreate, message, hint: "Name another archive in RECORDER_ARCHIVE.")
    case ENOSPC, EDQUOT:
      self.init(.writeFailed, message, hint: "Free some space, or name another archive in RECORDER_ARCHIVE.")
    case ELOOP:
      self.init(
        operation == .read ? .damagedData : .cannotCreate,
        "\(path.printable) is a symbolic link, which is not followed inside the archive.")
    case ENOTDIR where operation == .read:
      self.init(.damagedData, "\(path.printable) is no folder.")
    default:
      let code: ExitCode =
        switch operation {
        case .create: number == EIO || number == EFBIG ? .writeFailed : .cannotCreate
        case .write: .writeFailed
        case .read: .systemCall
        }
      self.init(code, message)
    }
  }

  /// The same of a session that is being written: whichever call tells of it, what fails is the disk, and what it has is kept.
  var whileWriting: RecorderError {
    [.systemCall, .cannotCreate].contains(code) ? RecorderError(.writeFailed, message, hint: hint) : self
  }
}

/// What `body` returns, and `substitute` when what it reads is damaged: one bad file keeps nothing else from being used.
package func tolerating<Result>(
  _ substitute: Result, _ body: () throws(RecorderError) -> Result
) throws(RecorderError) -> Result {
  do { return try body() } catch {
    if error.code == .damagedData { return substitute }
    throw error
  }
}

/// Repeats `call` while a signal interrupts it.
func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}
