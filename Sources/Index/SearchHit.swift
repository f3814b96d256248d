package import SessionModel

/// A moment that was found.
package struct SearchHit: Hashable, Codable, Sendable {
  /// The session.
  package var session: SessionID
  /// The session's time at which it can be seen.
  package var timestamp: Timestamp
  /// The same as a time of the wall clock.
  package var wallTime: WallTime
  /// Seconds that the recording machine's time zone was east of Greenwich.
  package var utcOffset: Int
  /// What it is: `session`, `tag`, `note`, `window`, `marker`, `warning`, `gap`, `device`.
  package var kind: String
  /// The words around what was found.
  package var snippet: String
  /// The command that shows it.
  package var command: String

  init(
    session: SessionID, timestamp: Timestamp, wallTime: WallTime, utcOffset: Int, kind: String, snippet: String
  ) {
    (self.session, self.timestamp, self.wallTime) = (session, timestamp, wallTime)
    (self.utcOffset, self.kind, self.snippet) = (utcOffset, kind, snippet)
    command = "recorder replay \(session) --at \(timestamp)"
  }
}

/// What is searched for; all of it must hold.
package struct SearchQuery: Hashable, Sendable {
  /// Words as a person types them; the last one may be a beginning. Empty finds every moment.
  package var words: String
  /// Only moments at or after this time of the wall clock.
  package var since: WallTime?
  /// Only moments before this time of the wall clock.
  package var until: WallTime?
  /// Only sessions with all these tags.
  package var tags: [String] = []
  /// Only moments of windows, or with active windows, whose title or class has these words.
  package var window: String?
  /// At most so many hits.
  package var limit = 20
  /// Of words that more moments than this have, how well a moment fits says nothing, as they are nearly everywhere, and
  /// costs most of the time: of 125,000 hits 80 of 125 ms. What kind of moment it is and when it was decide alone.
  var mostRanked = 20_000

  /// Searches for `words`.
  package init(words: String) { self.words = words }
}

/// Which sessions are listed, newest first; all of it must hold.
package struct ListQuery: Hashable, Sendable {
  /// Only sessions that began at or after this time of the wall clock.
  package var since: WallTime?
  /// Only sessions that began before this time of the wall clock.
  package var until: WallTime?
  /// Only sessions with all these tags.
  package var tags: [String] = []
  /// At most so many sessions; nil lists all.
  package var limit: Int?

  /// Lists all.
  package init() {}
}
