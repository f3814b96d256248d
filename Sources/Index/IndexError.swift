internal import CSQLite
import SessionModel

/// Why the index could not do something.
enum IndexError: Error {
  /// SQLite's extended result code and its words; they never hold a bound value.
  case database(code: Int32, message: String)
  /// What another part said.
  case other(RecorderError)

  /// Whether the file itself is to blame, so that a new one made from the archive helps. All statements are this
  /// module's own, so an error in one means that the tables are not those it made.
  var isDamage: Bool {
    guard case .database(let code, _) = self else { return false }
    return [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT].contains(
      code & 0xFF)
  }

  /// Whether the place refuses to be written: a full disk, an archive that may only be read.
  var isRefusal: Bool {
    switch self {
    case .database(let code, _):
      [SQLITE_FULL, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_IOERR].contains(code & 0xFF)
    case .other(let error): [.writeFailed, .cannotCreate, .permission].contains(error.code)
    }
  }

  /// The error as people see it.
  func error(path: String) -> RecorderError {
    switch self {
    case .other(let error): return error
    case .database(let code, let message):
      let name = path.printable
      switch code & 0xFF {
      case SQLITE_BUSY, SQLITE_LOCKED:
        return .isBusy(path)
      case SQLITE_INTERRUPT: return RecorderError(.interruptedTwice, "\(name) was not read to its end: a signal came.")
      case SQLITE_FULL:
        return RecorderError(.writeFailed, "\(name) cannot be written: the disk is full.", hint: "Free some space.")
      case SQLITE_IOERR: return RecorderError(.writeFailed, "\(name) cannot be read or written: \(message).")
      case SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: return RecorderError(.permission, "\(name): \(message).")
      case SQLITE_CANTOPEN: return RecorderError(.cannotCreate, "\(name) cannot be opened: \(message).")
      default:
        return RecorderError(
          .damagedData, "\(name) is damaged: \(message).",
          hint: "recorder index rebuild makes it anew from the archive.")
      }
    }
  }
}

extension RecorderError {
  /// The refusal of a database at `path` that another process did not let go for as long as it was waited for.
  static func isBusy(_ path: String) -> RecorderError {
    let holder = LockHolder.name(of: [path, "\(path)-shm", IndexFile.lockPath(of: path)])
    return RecorderError(
      .busy, "\(path.printable) is in use by \(holder ?? "another process").",
      hint: holder == nil ? "Try again." : "Try again, or end that process.")
  }
}

/// Runs what throws another part's errors where the index throws its own.
func asIndexError<Result: ~Copyable>(_ body: () throws(RecorderError) -> Result) throws(IndexError) -> Result {
  do { return try body() } catch { throw .other(error) }
}
