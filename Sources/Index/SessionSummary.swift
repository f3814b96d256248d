package import SessionModel

/// A session as lists show it.
package struct SessionSummary: Hashable, Codable, Sendable {
  /// How far a session came, and whether it can be read.
  package enum State: String, Codable, Sendable, CaseIterable {
    /// It records now.
    case recording
    /// It ended properly.
    case finished
    /// Its recorder was killed; recovery has closed it.
    case interrupted
    /// It cannot be read; nothing of it was touched.
    case damaged
    /// The index knows it, and its folder is not there.
    case missing
  }

  /// The session.
  package var id: SessionID
  /// When it began.
  package var began: WallTime
  /// Seconds that the recording machine's time zone was east of Greenwich.
  package var utcOffset: Int
  /// Its length so far.
  package var duration: Timestamp
  /// How far it came.
  package var state: State
  /// Why it ended; nil while it records and when it is damaged.
  package var reason: String?
  /// One sentence about its end or its damage.
  package var message: String?
  /// What was recorded: `display`, `window:title=Mail` …
  package var source: String
  /// The bytes of its media files.
  package var bytes: Int64
  /// Its title.
  package var title: String?
  /// Its tags, in the order they were added.
  package var tags: [String]
  /// What was heard of the mix and of each input; nil without sound, and while it is not known.
  package var sound: [Manifest.Sound]?
}

/// A session with what happened in it.
package struct SessionDetail: Hashable, Sendable {
  /// The session.
  package var summary: SessionSummary
  /// Notes, markers, warnings, gaps and devices, in the order of their times.
  package var moments: [SearchHit]
  /// The windows that were active longest, with the time each was active.
  package var windows: [WindowUse]
}

/// A window in a session.
package struct WindowUse: Hashable, Codable, Sendable {
  /// Its title and class.
  package var words: String
  /// The first time at which it shows.
  package var first: Timestamp
  /// How long it was active, in ns.
  package var total: Int64
}
