package import Archive
import Glibc
package import SessionModel
import Threading

/// The index of an archive: a cache that makes sessions and their moments quick to find. It is made from the archive
/// alone, so a file that is missing or damaged is made anew, and nothing is lost with it.
package actor SessionIndex {
  /// What a look at the archive's changes did.
  package struct Refreshed: Hashable, Sendable {
    /// Sessions whose recorder was killed, closed now.
    package var recovered: [SessionID] = []
    /// Sessions that could not be brought into the index, with the reason; they are tried again.
    package var problems: [RecorderError] = []
    /// The name that a damaged index was given out of the way; nil when it was none.
    package var setAside: String?
    /// Sessions of which a part was taken out since the last look.
    package var redacted: [SessionID] = []
  }

  private let executor = QueueExecutor(label: "index")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let archive: ArchiveReader
  /// How long another process's transaction is waited for, in ms.
  private let patience: Int32
  private var database: Database?
  /// Why the file is not used and an index in memory, made from the archive, stands for it; nil while the file is used.
  private var refusal: RecorderError?
  /// Which file the database is, or was when it could not be opened.
  private var identity: IndexFile.Identity?
  /// Whether the file had a write-ahead log when it was opened.
  private var wasLeftOpen = false
  /// What happened since the last `refresh` told it.
  private var setAside: String?, recovered: [SessionID] = []
  /// The sessions in the index when it was last made anew; nil when this process has not.
  private var filled: Int?
  private var pastCounts = SQLCounts()

  /// The index of the archive at `location`; nothing is opened yet.
  /// - Parameter patience: how long another process's transaction is waited for, in ms: by default longer than the
  ///   longest one, a rebuild of thousands of sessions.
  package init(_ location: ArchiveLocation, patience: Int32 = 60_000) {
    archive = ArchiveReader(location)
    self.patience = patience
  }

  /// What was asked of SQLite so far, for tests that count it.
  package var counts: SQLCounts {
    SQLCounts(
      statements: pastCounts.statements + (database?.counts.statements ?? 0),
      rows: pastCounts.rows + (database?.counts.rows ?? 0))
  }

  /// Pages of the file that were looked at since it was opened, for tests that count them.
  package var pages: Int { database?.pages ?? 0 }

  /// Brings into the index what changed in the archive since the last command: closes sessions whose recorder was
  /// killed, indexes those that ended, forgets those that were deleted. Now and then it looks through the whole file.
  /// - Parameter live: whether sessions that are being recorded are indexed whole, for a search, or as lists show them.
  /// - Throws: `RecorderError`: configuration when a newer program made the index, busy, permission, writeFailed.
  @discardableResult
  package func refresh(live: Bool = false) throws(RecorderError) -> Refreshed {
    var result = Refreshed()
    do {
      try use(standIn: false) { (database) throws(IndexError) in try refresh(database, live: live, &result) }
    } catch {
      // The sessions can still be listed and searched, if slowly.
      guard refusal != nil else { throw error }
      result.problems.append(error)
    }
    result.recovered += recovered
    result.setAside = setAside
    (recovered, setAside) = ([], nil)
    return result
  }

  private func refresh(_ database: Database, live: Bool, _ result: inout Refreshed) throws(IndexError) {
    // One in memory was made from the archive as it is.
    if database.isInMemory { return }
    result = Refreshed()
    let (deleted, pending) = try asIndexError { () throws(RecorderError) in
      (try archive.deleted(), try archive.pending())
    }
    try checkWhenDue(database)
    let filler = IndexFiller(archive: archive, database: database)
    for id in try asIndexError({ () throws(RecorderError) in try archive.redacted() }) {
      do throws(IndexError) {
        if try filler.replace(id) { result.redacted.append(id) }
      } catch {
        guard case .other(let problem) = error else { throw error }
        result.problems.append(problem)
      }
    }
    for id in deleted where !archive.contains(id) { try filler.remove(id) }
    for id in pending {
      do throws(IndexError) {
        if try filler.update(id, depth: live ? .everything : .summary) { result.recovered.append(id) }
      } catch {
        guard case .other(let problem) = error else { throw error }
        result.problems.append(problem)
      }
    }
  }

  /// Looks through the file when it is time to, unless another process does.
  private func checkWhenDue(_ database: Database) throws(IndexError) {
    guard let file = try asIndexError({ () throws(RecorderError) in try IndexFile(archive.location) }),
      file.isCheckDue(wasLeftOpen: wasLeftOpen), let lock = try? file.lock(patience: 0)
    else { return }
    defer { lock.unlock() }
    try database.check()
    lock.touch()
  }

  /// The sessions that `query` wants, newest first.
  /// - Throws: `RecorderError` as `refresh`.
  package func list(_ query: ListQuery = ListQuery()) throws(RecorderError) -> [SessionSummary] {
    try use { (database) throws(IndexError) in
      try IndexQueries(database: database).list(query).map { marked($0) }
    } ?? []
  }

  /// The session `id` with what happened in it: at most `limit` moments and `limit` windows.
  /// - Throws: `RecorderError` (sessionNotFound), and as `refresh`.
  package func session(_ id: SessionID, limit: Int = 50) throws(RecorderError) -> SessionDetail {
    let detail = try use { (database) throws(IndexError) -> SessionDetail? in
      let queries = IndexQueries(database: database)
      guard let summary = try queries.session(id) else { return nil }
      return SessionDetail(
        summary: marked(summary), moments: try queries.moments(of: id, limit: limit),
        windows: try queries.windows(of: id, limit: limit))
    }
    guard let detail = detail ?? nil else {
      throw RecorderError(
        .sessionNotFound, "The index has no session \(id).", hint: "recorder index rebuild makes it anew.")
    }
    return detail
  }

  /// The moments that `query` finds: the best first, and the newest first among equals.
  /// - Throws: `RecorderError` as `refresh`.
  package func search(_ query: SearchQuery) throws(RecorderError) -> [SearchHit] {
    try use { (database) throws(IndexError) in try IndexQueries(database: database).search(query) } ?? []
  }

  /// Brings the session `id` into the index as it is now.
  /// - Parameter labelsOnly: only its title, tags and notes changed.
  /// - Throws: `RecorderError` (sessionNotFound), and as `refresh`.
  package func reindex(_ id: SessionID, labelsOnly: Bool = false) throws(RecorderError) {
    _ = try archive.session(id)
    try use { (database) throws(IndexError) in
      _ = try IndexFiller(archive: archive, database: database).update(id, depth: labelsOnly ? .labels : .everything)
    }
  }

  /// Takes the session `id`, which was deleted from the archive, out of the index and its words out of the file.
  /// - Throws: `RecorderError` as `refresh`.
  package func remove(_ id: SessionID) throws(RecorderError) {
    try use { (database) throws(IndexError) in try IndexFiller(archive: archive, database: database).remove(id) }
  }

  /// Makes the whole index anew from the archive; sessions that were killed are closed on the way.
  /// - Returns: the sessions in it.
  /// - Throws: `RecorderError`: sessionNotFound when the archive's sessions are not there (a disk that is not mounted)
  ///   while the index knows some, and as `refresh`.
  @discardableResult
  package func rebuild() throws(RecorderError) -> Int {
    guard let file = try IndexFile(archive.location) else { return 0 }
    if case .newer(let version) = try file.state() { throw file.refusal(version: version) }
    filled = nil
    return try use { (database) throws(IndexError) in
      if let refusal { throw .other(refusal) }
      // Opening a missing one has just made it.
      if let filled { return filled }
      var isEmpty = try asIndexError { () throws(RecorderError) in try archive.sessionIDs() }
      if isEmpty.next() == nil, try !IndexQueries(database: database).list(ListQuery()).isEmpty {
        throw .other(
          RecorderError(
            .sessionNotFound,
            "\(archive.location.path.printable) has no sessions while the index knows some; nothing was changed.",
            hint: "See whether its disk is mounted; if they are gone for good, delete index.sqlite."))
      }
      try database.check()
      return try fill(database)
    } ?? 0
  }

  /// Runs `body` on the index, opening it first. When the file turns out to be damaged it is moved away and made anew,
  /// and `body` runs once more; when its place refuses to be written, an index in memory stands for it from then on.
  /// - Parameter standIn: whether `body` runs on the one in memory; else what the place said is thrown.
  /// - Returns: nil when there is no archive, or no session in it yet.
  private func use<Result>(
    standIn: Bool = true, _ body: (Database) throws(IndexError) -> Result
  ) throws(RecorderError) -> Result? {
    guard let file = try IndexFile(archive.location) else { return nil }
    // A folder that holds neither sessions nor an index may be anything: nothing is put into it.
    if file.identity == nil, try !archive.isPresent() { return nil }
    var broken: IndexFile.Identity?
    while true {
      do throws(IndexError) {
        if let database { return try body(database) }
        return try body(try open(file, broken: broken))
      } catch {
        close()
        if error.isDamage && broken == nil && refusal == nil && identity != nil {
          broken = identity
        } else if error.isRefusal && refusal == nil {
          refusal = error.error(path: file.path)
          if !standIn { throw error.error(path: file.path) }
        } else {
          throw error.error(path: file.path)
        }
      }
    }
  }

  private func open(_ file: IndexFile, broken: IndexFile.Identity?) throws(IndexError) -> Database {
    if refusal != nil {
      let database = try Database(path: nil)
      _ = try fill(database)
      return adopt(database)
    }
    if broken != nil { return try make(file, broken: broken) }
    identity = file.identity
    switch try asIndexError({ () throws(RecorderError) in try file.state() }) {
    case .current:
      wasLeftOpen = file.hasLog
      return adopt(try Database(path: file.path, patience: patience))
    case .newer(let version): throw .other(file.refusal(version: version))
    case .unfinished, .rubbish: return try make(file, broken: nil)
    }
  }

  /// Makes the file, unless another process did while this one waited.
  /// - Parameter broken: the file that SQLite found to be damaged.
  private func make(_ file: IndexFile, broken: IndexFile.Identity?) throws(IndexError) -> Database {
    let lock = try asIndexError { () throws(RecorderError) in try file.lock(patience: patience) }
    defer { lock.unlock() }
    let state = try asIndexError { () throws(RecorderError) in try file.state() }
    if case .newer(let version) = state { throw .other(file.refusal(version: version)) }
    let isBroken = broken != nil && broken == file.identity
    if state == .current && !isBroken { return adopt(try Database(path: file.path, patience: patience)) }
    try asIndexError { () throws(RecorderError) in
      if state == .rubbish || isBroken { setAside = try file.setAside(at: .now()) }
      try file.create()
    }
    identity = file.identity
    let database = try Database(path: file.path, patience: patience)
    let version = try database.version()
    if version > Schema.version {
      database.leaveUntouched()
      throw .other(file.refusal(version: version))
    }
    try database.execute("PRAGMA journal_mode = WAL")
    // The version may have been in the log alone.
    if version < Schema.version { _ = try fill(database) }
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    lock.touch()
    return adopt(database)
  }

  private func fill(_ database: Database) throws(IndexError) -> Int {
    let (count, recovered) = try IndexFiller(archive: archive, database: database).fill()
    self.recovered += recovered
    filled = count
    return count
  }

  private func adopt(_ database: Database) -> Database {
    self.database = database
    return database
  }

  private func close() {
    pastCounts = counts
    database = nil
  }

  /// `summary`, with what the archive's folders say.
  private func marked(_ summary: SessionSummary) -> SessionSummary {
    var summary = summary
    if !archive.contains(summary.id) { summary.state = .missing }
    return summary
  }
}
