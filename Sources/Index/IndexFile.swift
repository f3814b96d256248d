import Archive
import FoundationEssentials
import Glibc
import SessionModel

/// The index's file: whether it can be used as it is, is missing, is rubbish or is a newer program's; told from its first
/// bytes, before SQLite has a chance to change one.
struct IndexFile {
  /// What the file at its place is.
  enum State: Equatable {
    /// Ours, of this version, ready.
    case current
    /// Not there, empty, unfinished or older: to be made.
    case unfinished
    /// No database, or not ours.
    case rubbish
    /// Made by a newer program.
    case newer(version: Int)
  }

  static let name = "index.sqlite"
  /// What follows that in the names of damaged ones.
  static let damagedInfix = ".damaged-"
  /// Held by the process that makes the file or moves it away.
  private static let lockName = "index.lock"

  let root: Folder
  /// The archive's folder without symbolic links: SQLite is told to follow none.
  private let directory: String

  /// The index of the archive at `location`; nil when there is no archive.
  init?(_ location: ArchiveLocation) throws(RecorderError) {
    guard let root = try Folder.open(path: location.path), let resolved = realpath(location.path, nil) else {
      return nil
    }
    defer { free(resolved) }
    directory = String(cString: resolved)
    self.root = root
  }

  /// Which file it is: another one of the same name has another.
  struct Identity: Equatable {
    let device: UInt
    let inode: UInt
  }

  /// Which file is at its place now; nil when there is none.
  var identity: Identity? {
    var status = stat()
    return lstat(path, &status) == 0 ? Identity(device: status.st_dev, inode: status.st_ino) : nil
  }

  /// Its path.
  var path: String { "\(directory)/\(Self.name)" }

  /// What the file is now.
  func state() throws(RecorderError) -> State {
    guard root.exists(Self.name) else { return .unfinished }
    // No regular file, or one that cannot be opened: whatever it is, it is no index.
    guard let file = try? root.file(Self.name) else { return .rubbish }
    var head = [UInt8](repeating: 0, count: Self.headLength)
    let count = try file.read(into: &head, at: 0)
    if count == 0 { return .unfinished }
    guard count == head.count, head.starts(with: Array("SQLite format 3\0".utf8)) else { return .rubbish }
    func number(at offset: Int) -> Int { head[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (version, application) = (number(at: 60), number(at: 68))
    // A file whose first transaction is still in its write-ahead log has neither.
    if version == 0 && application == 0 { return .unfinished }
    guard application == Schema.applicationID else { return .rubbish }
    if version > Schema.version { return .newer(version: version) }
    // 2 is the write-ahead log's number.
    return version == Schema.version && head[18] == 2 && head[19] == 2 ? .current : .unfinished
  }

  /// The database's header (SQLite file format, section 1.3): byte 18 and 19 the journal's kind, 60 the user's version,
  /// 68 the application's id.
  private static let headLength = 100

  /// Makes the file, empty, for its owner alone from the first moment: SQLite gives its log and its shared memory the
  /// same mode.
  func create() throws(RecorderError) { _ = try root.openOrCreateFile(Self.name) }

  /// Waits for the right to make the file or to move it away; it goes with the value returned.
  /// - Parameter patience: how long, in ms.
  /// - Throws: `RecorderError`: busy when another process holds it that long.
  func lock(patience: Int32) throws(RecorderError) -> FileDescriptor {
    // Something else in its place can be locked by nobody: it goes out of the way.
    var status = stat()
    if lstat("\(directory)/\(Self.lockName)", &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      try root.rename(Self.lockName, to: freeName(Self.lockName, at: .now()))
    }
    let file = try root.openOrCreateFile(Self.lockName)
    // flock has no deadline of its own.
    var waited: Int32 = 0
    while try !file.lock(waiting: false) {
      guard waited < patience else { throw .isBusy(path) }
      usleep(UInt32(Self.lockInterval) * 1000)
      waited += Self.lockInterval
    }
    return file
  }

  /// A name for what `name` names and is damaged, which nothing has yet.
  private func freeName(_ name: String, at time: WallTime) -> String {
    let date = time.description.prefix(19).filter { $0 != "-" && $0 != ":" }
    let first = "\(name)\(Self.damagedInfix)\(date)Z"
    var (free, number) = (first, 1)
    while root.exists(free) {
      number += 1
      free = "\(first)-\(number)"
    }
    return free
  }

  /// Milliseconds between two tries of a lock.
  private static let lockInterval: Int32 = 20

  /// The lock beside the database at `path`.
  static func lockPath(of path: String) -> String { path.dropLast(name.count) + lockName }

  /// Whether the file is to be looked through: once a day, and a minute after the last time when somebody who had it open
  /// did not close it. The lock's time of change is when it was last made or looked through.
  /// - Parameter wasLeftOpen: whether there was a write-ahead log when it was opened.
  func isCheckDue(wasLeftOpen: Bool) -> Bool {
    guard let last = root.modificationTime(Self.lockName) else { return true }
    // A time to come is one of a clock that has been set since.
    return abs(time(nil) - last) >= (wasLeftOpen ? 60 : 86_400)
  }

  /// Whether there is a write-ahead log: others have the file open, or one that had did not close it.
  var hasLog: Bool { root.exists("\(Self.name)-wal") }

  /// Moves the file and what belongs to it out of the way, kept for a look at it.
  /// - Returns: the new name.
  @discardableResult
  func setAside(at time: WallTime) throws(RecorderError) -> String {
    let name = freeName(Self.name, at: time)
    for suffix in ["-wal", "-shm", ""] where root.exists(Self.name + suffix) {
      try root.rename(Self.name + suffix, to: name + suffix)
    }
    return name
  }

  /// The refusal of a file that a newer program made.
  func refusal(version: Int) -> RecorderError {
    RecorderError(
      .configuration,
      "\(path.printable) was made by a newer recorder (version \(version)); this one knows version \(Schema.version).",
      hint: "Update recorder, or move the file away: the index is made anew from the archive.")
  }
}
