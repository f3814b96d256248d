import Archive
import FoundationEssentials
import SessionModel

/// Writes sessions into the index. Every call is inside a transaction of the caller's.
struct IndexWriter {
  let database: Database

  /// How much of a session is written.
  enum Depth {
    /// What lists show, of a session that is being recorded.
    case summary
    /// What a person called it and wrote about it.
    case labels
    /// All of it.
    case everything
  }

  /// Puts `session` into the index in the place of what the index knew of it.
  /// - Parameters:
  ///   - found: what recovery found it to be.
  ///   - depth: how much; a session that the index does not know is written whole.
  func write(_ session: SessionReader, _ found: Recovery, depth: Depth = .everything) throws(IndexError) {
    let annotations = try asIndexError { () throws(RecorderError) in
      try tolerating([]) { () throws(RecorderError) in try session.annotations() }
    }
    let manifest: Manifest?
    switch found {
    case .live(let found), .closed(let found), .recovered(let found): manifest = found
    case .damaged: manifest = nil
    }
    let labels = SessionLabels(manifest: manifest, annotations: annotations)
    let (before, number) = try upsert(try summary(of: session, found, labels))
    // What happened is known only of a session that had ended when it was indexed.
    let isKnown = before != nil && (depth == .summary || before != .recording)
    let depth = isKnown ? depth : .everything
    try database.run("DELETE FROM tag WHERE session = ?", [.integer(number)])
    for tag in labels.tags {
      try database.run("INSERT INTO tag (session, name) VALUES (?, ?)", [.integer(number), .text(tag)])
    }
    if depth == .summary { return }
    let clock = manifest?.clock ?? session.id.assumedClock
    try removeMoments(of: number, onlyLabels: depth == .labels)
    try insert(Self.moments(of: labels), number, clock)
    guard depth == .everything, let manifest else { return }
    var builder = MomentBuilder()
    try asIndexError { () throws(RecorderError) in
      try tolerating(()) { () throws(RecorderError) in
        try session.forEachEvent { (event) throws(RecorderError) in builder.add(event) }
      }
    }
    try insert(builder.finish(duration: manifest.duration, source: manifest.source.window), number, clock)
  }

  /// Takes all that the index knows of the session `id` out of it.
  /// - Returns: whether it knew it.
  func remove(_ id: SessionID) throws(IndexError) -> Bool {
    guard let number = try row(of: id)?.number else { return false }
    try removeMoments(of: number, onlyLabels: false)
    try database.run("DELETE FROM session WHERE number = ?", [.integer(number)])
    // The full-text index only marks words as gone; merging its pieces takes them out of the file.
    try database.run("INSERT INTO momentText (momentText) VALUES ('optimize')")
    return true
  }

  private func row(of id: SessionID) throws(IndexError) -> (number: Int64, state: String)? {
    var found: (Int64, String)?
    try database.run("SELECT number, state FROM session WHERE id = ?", [.text(id.description)]) { row in
      found = (row.integer(0), row.text(1))
    }
    return found
  }

  private func summary(
    of session: SessionReader, _ found: Recovery, _ labels: SessionLabels
  ) throws(IndexError) -> SessionSummary {
    try asIndexError { () throws(RecorderError) in
      let clock = session.id.assumedClock
      var summary = SessionSummary(
        id: session.id, began: clock.utc, utcOffset: clock.utcOffset, duration: .zero, state: .damaged, reason: nil,
        message: nil, source: "", bytes: try session.mediaBytes(), title: labels.title, tags: labels.tags)
      switch found {
      case .damaged(let error):
        summary.message = error.description
        summary.duration = max(.zero, (try? session.lastEventTime()) ?? .zero)
      case .live(let manifest):
        summary.describe(manifest, .recording)
        summary.duration = max(.zero, try tolerating(.zero) { () throws(RecorderError) in try session.lastEventTime() })
      case .closed(let manifest), .recovered(let manifest):
        summary.describe(manifest, manifest.state == .interrupted ? .interrupted : .finished)
      }
      return summary
    }
  }

  /// Writes the session's row.
  /// - Returns: the state it had in the index before, and its number.
  private func upsert(
    _ summary: SessionSummary
  ) throws(IndexError) -> (before: SessionSummary.State?, number: Int64) {
    let before = try row(of: summary.id)
    let (tags, sound) = (Self.json(summary.tags), summary.sound.flatMap(Self.json))
    try database.run(
      """
      INSERT INTO session (id, began, utcOffset, duration, state, reason, message, source, bytes, title, tags,
        sound)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
      ON CONFLICT (id) DO UPDATE SET began = ?2, utcOffset = ?3, duration = ?4, state = ?5, reason = ?6,
        message = ?7, source = ?8, bytes = ?9, title = ?10, tags = ?11, sound = ?12
      """,
      [
        .text(summary.id.description), .integer(summary.began.nanoseconds), .integer(Int64(summary.utcOffset)),
        .integer(summary.duration.nanoseconds), .text(summary.state.rawValue), SQLValue(summary.reason),
        SQLValue(summary.message), .text(summary.source), .integer(summary.bytes), SQLValue(summary.title),
        .text(tags ?? "[]"), SQLValue(sound),
      ])
    if let before { return (SessionSummary.State(rawValue: before.state) ?? .damaged, before.number) }
    guard let number = try row(of: summary.id)?.number else {
      throw .other(RecorderError(.brokenInvariant, "The index lost the session \(summary.id) while writing it."))
    }
    return (nil, number)
  }

  private static func json(_ value: some Encodable) -> String? {
    (try? JSONEncoder.canonical().encode(value)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The moments that what a person said about the session makes.
  private static func moments(of labels: SessionLabels) -> [Moment] {
    func moment(_ kind: Moment.Kind, _ words: String, _ time: Timestamp = .zero) -> Moment {
      Moment(kind: kind, time: time, length: 0, words: words, window: "")
    }
    return (labels.title.map { [moment(.session, $0)] } ?? []) + labels.tags.map { moment(.tag, $0) }
      + labels.notes.map { moment(.note, $0.text, max(.zero, $0.time ?? .zero)) }
  }

  private func insert(_ moments: [Moment], _ session: Int64, _ clock: Manifest.Clock) throws(IndexError) {
    for moment in moments {
      var number: Int64 = 0
      let (words, window) = (SearchText.indexed(moment.words), SearchText.indexed(moment.window))
      try database.run(
        """
        INSERT INTO moment (session, kind, weight, time, length, at, words, window, indexedWords, indexedWindow)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number
        """,
        [
          .integer(session), .text(moment.kind.rawValue), .real(moment.kind.weight),
          .integer(moment.time.nanoseconds), .integer(moment.length),
          .integer(clock.wallTime(of: moment.time).nanoseconds), .text(moment.words), .text(moment.window),
          SQLValue(words == moment.words ? nil : words), SQLValue(window == moment.window ? nil : window),
        ]
      ) { row in number = row.integer(0) }
      try database.run(
        "INSERT INTO momentText (rowid, words, window) VALUES (?, ?, ?)",
        [.integer(number), .text(words), .text(window)])
    }
  }

  private func removeMoments(of session: Int64, onlyLabels: Bool) throws(IndexError) {
    let kinds = Moment.Kind.allCases.filter { $0.isLabel || !onlyLabels }.map { "'\($0.rawValue)'" }
    let filter = "session = ? AND kind IN (\(kinds.joined(separator: ", ")))"
    var old: [(number: Int64, words: String, window: String)] = []
    try database.run("SELECT number, words, window FROM momentIndexed WHERE \(filter)", [.integer(session)]) { row in
      old.append((row.integer(0), row.text(1), row.text(2)))
    }
    for moment in old {
      try database.run(
        "INSERT INTO momentText (momentText, rowid, words, window) VALUES ('delete', ?, ?, ?)",
        [.integer(moment.number), .text(moment.words), .text(moment.window)])
    }
    try database.run("DELETE FROM moment WHERE \(filter)", [.integer(session)])
  }
}

extension SessionSummary {
  /// Takes over what `manifest` says.
  fileprivate mutating func describe(_ manifest: Manifest, _ state: State) {
    (self.state, began, utcOffset) = (state, manifest.clock.utc, manifest.clock.utcOffset)
    duration = max(.zero, manifest.duration)
    reason = manifest.end?.reason.rawValue
    message = manifest.end?.message
    source = manifest.source.specification.text
    sound = manifest.statistics?.sound
  }
}

extension SessionID {
  /// The clock of a session whose manifest cannot be read: what its name says, in this machine's time zone.
  fileprivate var assumedClock: Manifest.Clock {
    let began = began ?? WallTime(nanoseconds: 0)
    return Manifest.Clock(utc: began, monotonic: 0, utcOffset: began.localUTCOffset)
  }
}
