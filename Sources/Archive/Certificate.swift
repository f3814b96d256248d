package import SessionModel

/// What a look at all files of a session found.
package struct Certificate: Hashable, Codable, Sendable {
  /// The one word that sums it up; the worst of the findings.
  package enum Verdict: String, Codable, Sendable, CaseIterable {
    /// Every piece is as it was sealed, and nothing is missing.
    case intact
    /// Nothing was altered, but something is missing.
    case incomplete
    /// A piece is not as it was sealed, or cannot be read.
    case altered
    /// It is being recorded: what is sealed so far is as it was sealed.
    case recording
  }

  /// One thing that is not as it should be.
  package struct Finding: Hashable, Codable, Sendable {
    /// `altered` or `incomplete`.
    package var verdict: Verdict
    /// The file, or the part of it.
    package var piece: String
    /// The session's times that the piece is about; nil when it is about all of it.
    package var start: Timestamp?, end: Timestamp?
    /// One sentence.
    package var message: String

    /// Makes a finding.
    package init(
      _ verdict: Verdict, _ piece: String, _ message: String, start: Timestamp? = nil, end: Timestamp? = nil
    ) {
      (self.verdict, self.piece, self.message, self.start, self.end) = (verdict, piece, message, start, end)
    }
  }

  /// What one track of the media files was found to hold.
  package struct Track: Hashable, Codable, Sendable {
    /// The track's place in the files.
    package var index: Int
    /// Picture or sound.
    package var kind: Manifest.Track.Kind
    /// Packets that were opened.
    package var packets = 0
    /// Pictures or samples that were decoded; nil when none were to be.
    package var decoded: Int?
    /// The session's time of its first packet and at the end of its last.
    package var start: Timestamp?, end: Timestamp?

    /// Makes the facts of a track of which nothing was seen yet.
    package init(index: Int, kind: Manifest.Track.Kind) { (self.index, self.kind) = (index, kind) }
  }

  /// The session.
  package var session: SessionID
  /// What it all comes to.
  package var verdict = Verdict.intact
  /// The head of its chain; nil when it has none.
  package var head: String?
  /// Who made the last link: `recorder` or `recovery`; nil when it has none.
  package var sealedBy: String?
  /// Whether the head is the one that was kept elsewhere; nil when none was given.
  package var isKeptHead: Bool?
  /// The pieces that are sealed.
  package var pieces = 0
  /// The time that the recording lasted, by the clock.
  package var duration: Timestamp = .zero
  /// The tracks, once their packets were looked at.
  package var tracks: [Track] = []
  /// Frames that were left to the next one because the encoder was busy; nil when it is not known.
  package var droppedFrames: Int?
  /// Events that can be read.
  package var events = 0
  /// The stretches in which a track has nothing, as the session says itself.
  package var gaps: [Gap] = []
  /// What is not as it should be, altered pieces first, by their times.
  package private(set) var findings: [Finding] = []

  init(session: SessionID) { self.session = session }

  /// Adds what was found, and makes the verdict fit.
  package mutating func add(_ finding: Finding) {
    findings.append(finding)
    findings.sort { left, right in
      if left.verdict != right.verdict { return left.verdict == .altered }
      return left.start ?? .zero < right.start ?? .zero
    }
    if finding.verdict == .altered { verdict = .altered }
    if finding.verdict == .incomplete, verdict == .intact { verdict = .incomplete }
  }
}
