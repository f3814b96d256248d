/// A window as the X server described it.
package struct WindowInfo: Hashable, Codable, Sendable {
  /// The X id.
  package var id: UInt32
  /// Its title, invalid bytes replaced; "" when it has none.
  package var title: String
  /// The title's bytes in base 64, when the text does not hold them: invalid UTF-8, or a NUL.
  package var titleBytes: String?
  /// WM_CLASS's class.
  package var className: String?
  /// WM_CLASS's instance.
  package var instance: String?
  /// The process, as the window says.
  package var pid: Int?
  /// Its place on the root window, in pixels.
  package var rect: PixelRect?

  /// Makes a window's description; set what is known.
  package init(id: UInt32, title: String) { (self.id, self.title) = (id, title) }
}

/// A stretch in which a track has nothing, with the reason.
package struct Gap: Hashable, Codable, Sendable {
  /// The track, or `display` and so on when it is none of the file's.
  package var track: String
  /// Where it begins.
  package var start: Timestamp
  /// Where it ends.
  package var end: Timestamp
  /// Why.
  package var reason: String

  /// Makes a gap.
  package init(track: String, start: Timestamp, end: Timestamp, reason: String) {
    (self.track, self.start, self.end, self.reason) = (track, start, end, reason)
  }
}

/// One thing that happened during a session: one line of `events.ndjson`.
package struct Event: Hashable, Codable, Sendable {
  /// What happened. A reader keeps kinds that it does not know.
  package struct Kind: RawRepresentable, Hashable, Codable, Sendable {
    /// The word in the file.
    package var rawValue: String
    /// Makes the kind of that word.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The recording began.
    package static let start = Kind(rawValue: "start")
    /// The recording ended; `text` is the reason.
    package static let stop = Kind(rawValue: "stop")
    /// The recorder lived and recorded, the picture changed or not; more often than once a second.
    package static let alive = Kind(rawValue: "alive")
    /// Another window became active.
    package static let focus = Kind(rawValue: "focus")
    /// The active window's title changed.
    package static let title = Kind(rawValue: "title")
    /// A window appeared.
    package static let opened = Kind(rawValue: "opened")
    /// A window went away.
    package static let closed = Kind(rawValue: "closed")
    /// A window, or what is recorded, moved or changed its size.
    package static let geometry = Kind(rawValue: "geometry")
    /// What is recorded was hidden, shown again, or followed by another window; `text` says which.
    package static let source = Kind(rawValue: "source")
    /// A track has nothing for a while.
    package static let gap = Kind(rawValue: "gap")
    /// A sound device came, went or changed; `text` says which and how.
    package static let device = Kind(rawValue: "device")
    /// A person marked this moment.
    package static let marker = Kind(rawValue: "marker")
    /// The recording goes on in time without recording anything, until `resume`.
    package static let pause = Kind(rawValue: "pause")
    /// It records again.
    package static let resume = Kind(rawValue: "resume")
    /// The sound input that `text` names is silent, until `unmute`.
    package static let mute = Kind(rawValue: "mute")
    /// It is recorded again.
    package static let unmute = Kind(rawValue: "unmute")
    /// A person made sound inputs louder or softer in the mix; `text` says which and how, as `microphone 3.0 dB`.
    package static let gain = Kind(rawValue: "gain")
    /// A new media file begins; `text` is its number.
    package static let split = Kind(rawValue: "split")
    /// A line that the recorded command wrote, its end left out.
    package static let text = Kind(rawValue: "text")
    /// Something to tell the person; `text` says it.
    package static let warning = Kind(rawValue: "warning")
    /// The wall clock stepped; `text` says by how much.
    package static let clock = Kind(rawValue: "clock")
    /// What was recorded in `gap` was taken out afterwards; `text` says by whom and why, the manifest the rest.
    package static let redacted = Kind(rawValue: "redacted")
  }

  /// When.
  package var time: Timestamp
  /// What.
  package var kind: Kind
  /// The window it is about.
  package var window: WindowInfo?
  /// The gap it is about.
  package var gap: Gap?
  /// What is recorded was there before, in pixels of the root: `geometry` without a window.
  package var from: PixelRect?
  /// What is recorded is there now.
  package var to: PixelRect?
  /// Words, as the kind defines them.
  package var text: String?

  /// Makes an event; set what its kind has.
  package init(time: Timestamp, kind: Kind, window: WindowInfo? = nil, gap: Gap? = nil, text: String? = nil) {
    (self.time, self.kind, self.window, self.gap, self.text) = (time, kind, window, gap, text)
  }
}

/// What a person added to a session: one line of `annotations.ndjson`. The last title counts; tags add up.
package struct Annotation: Hashable, Codable, Sendable {
  /// What was added.
  package enum Kind: String, Codable, Sendable {
    /// `text` is the title; empty takes it away.
    case title
    /// `text` is a tag that the session gets.
    case tag
    /// `text` is a tag that it loses.
    case untag
    /// `text` is a note, at `time` of the session or about all of it.
    case note
    /// No clean-up may delete the session; `text` is the reason.
    case protect
    /// A clean-up may delete it again.
    case unprotect
    /// The command that the session was recorded for ended when the recording had ended already; `text` is its status, as
    /// `Manifest.WrappedCommand` has it. The recorder adds it, since what is sealed is not changed.
    case command
  }

  /// When it was added.
  package var added: WallTime
  /// What was added.
  package var kind: Kind
  /// Its words.
  package var text: String
  /// The moment of the session it is about; nil is all of it.
  package var time: Timestamp?
  /// The SHA-256 of the line before it in the file, of nothing for the first, in hexadecimal; the archive sets it.
  package var previous: String?

  /// Makes an annotation.
  package init(added: WallTime, kind: Kind, text: String, time: Timestamp? = nil) {
    (self.added, self.kind, self.text, self.time) = (added, kind, text, time)
  }
}
