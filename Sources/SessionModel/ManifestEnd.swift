extension Manifest {
  /// How and when a session ended.
  package struct End: Hashable, Codable, Sendable {
    /// Why it ended.
    package var reason: Reason
    /// When: the session's length.
    package var time: Timestamp
    /// One sentence, where the reason alone does not say it all.
    package var message: String?

    /// Makes an end.
    package init(reason: Reason, time: Timestamp, message: String? = nil) {
      (self.reason, self.time, self.message) = (reason, time, message)
    }
  }

  /// Why a session ended.
  package enum Reason: String, Codable, Sendable, CaseIterable {
    /// INT, from the keyboard.
    case interrupt
    /// TERM.
    case terminate
    /// HUP: the terminal closed.
    case hangup
    /// QUIT.
    case quit
    /// `--duration` was over.
    case duration
    /// `stop`, or the embedding program asked.
    case stopped
    /// `--max-size` was reached.
    case sizeLimit
    /// `--stop-when-idle`: the picture had not changed for so long.
    case idle
    /// `--until`: the time of day came.
    case timeOfDay
    /// `save`: it is a part of what was held, and the capture went on.
    case saved
    /// The command that it was recorded for ended.
    case commandEnded
    /// The recorded window was closed.
    case windowClosed
    /// The X server ended.
    case displayLost
    /// A write failed.
    case writeFailed
    /// A part failed.
    case failed
    /// The recorder was killed; recovery closed the session.
    case killed

    /// Whether somebody asked for it.
    package var isRequested: Bool {
      switch self {
      case .interrupt, .terminate, .hangup, .quit, .duration, .stopped, .sizeLimit, .idle, .timeOfDay, .saved,
        .commandEnded:
        true
      case .windowClosed, .displayLost, .writeFailed, .failed, .killed: false
      }
    }
  }
}
