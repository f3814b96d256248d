internal import CSQLite
import SessionModel
import Threading

/// What a series of calls asked of SQLite.
package struct SQLCounts: Hashable, Sendable {
  /// Statements that were run.
  package var statements = 0
  /// Rows that they returned.
  package var rows = 0
}

/// One connection to a SQLite database, used by one thread at a time. Statements are compiled once.
final class Database {
  /// Whether it is gone with the process.
  let isInMemory: Bool
  /// Steps of SQLite's machine between two looks whether the program is to end: some ten microseconds.
  private static let stepsBetweenLooks: Int32 = 1000
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]
  /// What was asked of it so far.
  var counts = SQLCounts()
  /// Pages of the file that were looked at so far, again and again each time.
  var pages: Int {
    [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, kind in
      var (count, most) = (Int32(0), Int32(0))
      sqlite3_db_status(handle, kind, &count, &most, 0)
      return sum + Int(count)
    }
  }

  /// Opens the database file at `path`, which exists, or a database in memory when it is nil.
  /// - Parameter patience: how long a call waits for another process's transaction, in ms.
  init(path: String?, patience: Int32 = 0) throws(IndexError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path ?? ":memory:", &opened, path == nil ? flags | SQLITE_OPEN_MEMORY : flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw .database(code: code, message: String(cString: sqlite3_errstr(code)))
    }
    handle = opened
    isInMemory = path == nil
    sqlite3_busy_timeout(handle, patience)
    recorder_set_option(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    // Text from window titles may not load code or rewrite the schema.
    recorder_set_option(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    recorder_set_option(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    // A long query ends when the program is to end: the file is closed then, and need not be looked through for that.
    sqlite3_progress_handler(handle, Self.stepsBetweenLooks, { _ in EndingSignals.isAsked ? 1 : 0 }, nil)
    // Without it the queries that use it fail, and say so.
    _ = RowDigest.register(in: handle)
    // What was deleted is overwritten.
    sqlite3_exec(handle, "PRAGMA secure_delete = ON", nil, nil, nil)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close(handle)
  }

  /// Keeps closing from moving the write-ahead log into the file: the file is not ours to change.
  func leaveUntouched() { recorder_set_option(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  /// Runs statements that have no parameters; their rows are dropped.
  func execute(_ sql: String) throws(IndexError) {
    counts.statements += 1
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// The version of the tables, 0 for none.
  /// - Throws: damage when they are another program's.
  func version() throws(IndexError) -> Int {
    var (version, application, tables) = (Int64(0), Int64(0), Int64(0))
    try run("PRAGMA user_version") { version = $0.integer(0) }
    try run("PRAGMA application_id") { application = $0.integer(0) }
    try run("SELECT count(*) FROM sqlite_schema") { tables = $0.integer(0) }
    guard tables == 0 || application == Schema.applicationID else {
      throw .database(code: SQLITE_NOTADB, message: "it is another program's database")
    }
    return Int(version)
  }

  /// Looks through the whole file: tables and indexes by SQLite's own check, which does not look into the full-text
  /// index, and that by its own, against the words that it was made of.
  /// - Throws: damage when something is wrong with it.
  func check() throws(IndexError) {
    try run("PRAGMA integrity_check(1)") { row throws(IndexError) in
      if row.text(0) != "ok" { throw .database(code: SQLITE_CORRUPT, message: row.text(0)) }
    }
    try run(Schema.checkText)
    try compareText()
  }

  /// Holds all that the full-text index holds against what one has that is made of the same words in memory: its own check
  /// is the exclusive or of sums, in which two words that are wrong by as much make one that is right.
  private func compareText() throws(IndexError) {
    try execute("ATTACH ':memory:' AS fresh")
    defer {
      for end in [Schema.dropFreshText, "DETACH fresh"] { sqlite3_exec(handle, end, nil, nil, nil) }
    }
    // Others may write meanwhile: both are of one moment.
    try execute("BEGIN")
    defer { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    try execute(Schema.freshText)
    guard try number(Schema.heldText) == number(Schema.meantText) else {
      throw .database(code: SQLITE_CORRUPT, message: "the full-text index is not that of the words")
    }
  }

  /// The number that a query gives which no cache of statements keeps.
  private func number(_ sql: String) throws(IndexError) -> Int64 {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK else { throw failure(code) }
    let step = sqlite3_step(statement)
    guard step == SQLITE_ROW else { throw failure(step) }
    return sqlite3_column_int64(statement, 0)
  }

  /// Runs one statement with `values` bound to its parameters and gives each row to `row`.
  func run(
    _ sql: String, _ values: [SQLValue] = [], row: (Row) throws(IndexError) -> Void = { _ in }
  ) throws(IndexError) {
    let statement = try prepared(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let code = value.bind(to: statement, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw failure(code) }
    }
    counts.statements += 1
    while true {
      let code = EndingSignals.isAsked ? SQLITE_INTERRUPT : sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      counts.rows += 1
      try row(Row(statement: statement))
    }
  }

  /// Runs `body` in one transaction that has the right to write from its beginning: one that took it later could not
  /// wait for it (SQLITE_BUSY at once). Nothing of it stays when it throws.
  func write<Result>(_ body: () throws(IndexError) -> Result) throws(IndexError) -> Result {
    try execute("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // SQLite may have rolled back by itself; the first error is the one that tells.
      try? execute("ROLLBACK")
      throw error
    }
  }

  private func prepared(_ sql: String) throws(IndexError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code) }
    statements[sql] = statement
    return statement
  }

  private func failure(_ code: Int32) -> IndexError {
    .database(code: code, message: String(cString: sqlite3_errmsg(handle)))
  }
}

/// A value bound to a parameter.
enum SQLValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  /// Text, or null.
  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  /// An integer, or null.
  init(_ integer: Int64?) { self = integer.map { .integer($0) } ?? .null }

  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .real(let value): return sqlite3_bind_double(statement, index, value)
    case .text(var text):
      return text.withUTF8 { bytes in
        // An empty string has no address, and a null one would bind NULL.
        guard let base = bytes.baseAddress else { return recorder_bind_text(statement, index, "", 0) }
        return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
          recorder_bind_text(statement, index, $0, Int32(clamping: bytes.count))
        }
      }
    }
  }
}

/// The row that a statement is at; its values are valid until the next one.
struct Row {
  fileprivate let statement: OpaquePointer

  /// The integer in `column` (from 0); 0 for NULL.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  /// The integer in `column`; nil for NULL.
  func optionalInteger(_ column: Int32) -> Int64? {
    sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
  }
  /// The text in `column`; "" for NULL.
  func text(_ column: Int32) -> String { optionalText(column) ?? "" }
  /// The text in `column`; nil for NULL.
  func optionalText(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
