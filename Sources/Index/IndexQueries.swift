import FoundationEssentials
import SessionModel

/// What is asked of the index: one statement each, and no row that is not shown.
struct IndexQueries {
  let database: Database

  private static let summaryColumns =
    "id, began, utcOffset, duration, state, reason, message, source, bytes, title, tags, sound"

  /// The sessions that `query` wants, newest first.
  func list(_ query: ListQuery) throws(IndexError) -> [SessionSummary] {
    var (conditions, values) = tagConditions(query.tags, session: "session.number")
    if let since = query.since { add("began >= ?", since.nanoseconds) }
    if let until = query.until { add("began < ?", until.nanoseconds) }
    func add(_ condition: String, _ value: Int64) {
      conditions.append(condition)
      values.append(.integer(value))
    }
    let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
    values.append(.integer(Int64(query.limit ?? -1)))
    var sessions: [SessionSummary] = []
    try database.run("SELECT \(Self.summaryColumns) FROM session \(filter) ORDER BY id DESC LIMIT ?", values) {
      row throws(IndexError) in sessions.append(try Self.summary(row))
    }
    return sessions
  }

  /// The session `id`; nil when the index does not know it.
  func session(_ id: SessionID) throws(IndexError) -> SessionSummary? {
    var session: SessionSummary?
    try database.run("SELECT \(Self.summaryColumns) FROM session WHERE id = ?", [.text(id.description)]) {
      row throws(IndexError) in session = try Self.summary(row)
    }
    return session
  }

  /// What happened in the session `id` beside its windows, in the order of its times; at most `limit` moments.
  func moments(of id: SessionID, limit: Int) throws(IndexError) -> [SearchHit] {
    let kinds = Moment.Kind.allCases.filter { $0 != .window && $0 != .session && $0 != .tag }
    return try hits(
      "FROM session JOIN moment ON moment.session = session.number WHERE session.id = ? AND kind IN ("
        + kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ") + ") ORDER BY time, kind, words LIMIT ?",
      [.text(id.description), .integer(Int64(limit))], query: "")
  }

  /// The windows that were active longest in the session `id`; at most `limit`.
  func windows(of id: SessionID, limit: Int) throws(IndexError) -> [WindowUse] {
    var windows: [WindowUse] = []
    try database.run(
      """
      SELECT words, min(time), sum(length) AS total FROM session JOIN moment ON moment.session = session.number
      WHERE session.id = ? AND kind = 'window' GROUP BY words ORDER BY total DESC, words LIMIT ?
      """, [.text(id.description), .integer(Int64(limit))]
    ) { row in
      windows.append(
        WindowUse(words: row.text(0), first: Timestamp(nanoseconds: row.integer(1)), total: row.integer(2)))
    }
    return windows
  }

  /// The moments that `query` finds: the best first, and the newest first among equals.
  func search(_ query: SearchQuery) throws(IndexError) -> [SearchHit] {
    var (conditions, values) = tagConditions(query.tags, session: "moment.session")
    var patterns: [String] = []
    for (text, column) in [(query.words, "words"), (query.window ?? "", "window")]
    where !text.allSatisfy(\.isWhitespace) {
      // Nothing has words that are none: punctuation alone finds nothing.
      guard let pattern = SearchText.pattern(text, column: column) else { return [] }
      patterns.append(pattern)
    }
    if let since = query.since { add("at >= ?", .integer(since.nanoseconds)) }
    if let until = query.until { add("at < ?", .integer(until.nanoseconds)) }
    let pattern = patterns.joined(separator: " AND ")
    if !patterns.isEmpty { add("momentText MATCH ?", .text(pattern)) }
    func add(_ condition: String, _ value: SQLValue) {
      conditions.append(condition)
      values.append(value)
    }
    let source = patterns.isEmpty ? "moment" : "momentText JOIN moment ON moment.number = momentText.rowid"
    var rank = ""
    // Without words there is nothing to be better at.
    if !query.words.allSatisfy(\.isWhitespace) {
      // bm25 is the lower the better, and below 0.
      rank = """
        CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM momentText WHERE momentText MATCH ? LIMIT ?)) > ?
          THEN -1 ELSE momentText.rank END * weight,
        """
      let most = Int64(query.mostRanked)
      values += [.text(pattern), .integer(most + 1), .integer(most)]
    }
    values.append(.integer(Int64(query.limit)))
    let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
    return try hits(
      """
      FROM \(source) JOIN session ON session.number = moment.session \(filter)
      ORDER BY \(rank) at DESC, session.id DESC, kind, moment.words LIMIT ?
      """, values, query: query.words)
  }

  private func hits(_ rest: String, _ values: [SQLValue], query: String) throws(IndexError) -> [SearchHit] {
    var hits: [SearchHit] = []
    try database.run("SELECT id, time, at, utcOffset, kind, moment.words \(rest)", values) {
      row throws(IndexError) in
      hits.append(
        SearchHit(
          session: try Self.id(row, 0), timestamp: Timestamp(nanoseconds: row.integer(1)),
          wallTime: WallTime(nanoseconds: row.integer(2)), utcOffset: Int(row.integer(3)), kind: row.text(4),
          snippet: Snippet.of(row.text(5), query: query)))
    }
    return hits
  }

  private func tagConditions(_ tags: [String], session: String) -> (conditions: [String], values: [SQLValue]) {
    let condition = "EXISTS (SELECT 1 FROM tag WHERE tag.session = \(session) AND tag.name = ?)"
    return (tags.map { _ in condition }, tags.map { .text($0) })
  }

  private static func id(_ row: Row, _ column: Int32) throws(IndexError) -> SessionID {
    guard let id = SessionID(row.text(column)) else {
      throw .other(RecorderError(.damagedData, "The index holds a session whose id is none."))
    }
    return id
  }

  private static func summary(_ row: Row) throws(IndexError) -> SessionSummary {
    let tags = try? JSONDecoder().decode([String].self, from: Data(row.text(10).utf8))
    return SessionSummary(
      id: try id(row, 0), began: WallTime(nanoseconds: row.integer(1)), utcOffset: Int(row.integer(2)),
      duration: Timestamp(nanoseconds: row.integer(3)), state: SessionSummary.State(rawValue: row.text(4)) ?? .damaged,
      reason: row.optionalText(5), message: row.optionalText(6), source: row.text(7), bytes: row.integer(8),
      title: row.optionalText(9), tags: tags ?? [],
      sound: row.optionalText(11).flatMap { try? JSONDecoder().decode([Manifest.Sound].self, from: Data($0.utf8)) })
  }
}
