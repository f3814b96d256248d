/// One thing that a recorder noticed about its own work: one line of `log.ndjson`.
package struct LogEntry: Hashable, Codable, Sendable {
  /// How much it matters.
  package enum Level: String, Codable, Sendable, CaseIterable, Comparable {
    /// What only a search for a fault wants to know.
    case debug
    /// What happened as it should.
    case info
    /// What is missing from the recording, or may soon be.
    case warning
    /// What ended the recording.
    case error

    package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// The part of the recorder that noticed it.
  package enum Category: String, Codable, Sendable, CaseIterable {
    /// The picture's source: the X server and what it says.
    case capture
    /// The sound devices and the mix.
    case audio
    /// The encoders.
    case encode
    /// The session's files and their disk.
    case archive
    /// Beginning, end, and what the recorder was told in between.
    case control
  }

  /// When, on the session's time line; negative while it was being prepared.
  package var time: Timestamp
  /// When, by the wall clock.
  package var utc: WallTime
  /// How much it matters.
  package var level: Level
  /// Who noticed it.
  package var category: Category
  /// One sentence, the same for the same thing; what differs is in `fields`.
  package var message: String
  /// What differs, by name.
  package var fields: [String: String]?
  /// How often it happened again since the line before that says so and was not written; nil is not at all.
  package var repeats: Int?

  /// Makes an entry; set what else it has.
  package init(time: Timestamp, utc: WallTime, level: Level, category: Category, message: String) {
    (self.time, self.utc, self.level, self.category, self.message) = (time, utc, level, category, message)
  }
}
