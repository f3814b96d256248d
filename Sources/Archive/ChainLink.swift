package import SessionModel

/// One closed piece of a session, sealed: one line of `chain.ndjson`.
package struct ChainLink: Hashable, Codable, Sendable {
  /// What the piece is.
  package enum Kind: String, Codable, Sendable {
    /// A media file, whole.
    case segment
    /// Lines of `events.ndjson`.
    case events
    /// `manifest.json`, whole: the last link.
    case manifest
    /// The chain that sealed the session before a stretch of it was taken out: its head is the digest. The first links.
    case redaction
  }

  /// Why a block of events was closed.
  package enum Cause: String, Codable, Sendable {
    /// Its time was up.
    case interval
    /// A gap in a track was written down.
    case gap
    /// The recording was paused, or went on.
    case pause
    /// The recording ended.
    case end

    /// Why an event of `kind` closes the block that it is in; nil when it does not.
    init?(closing kind: Event.Kind) {
      switch kind {
      case .gap: self = .gap
      case .pause, .resume: self = .pause
      default: return nil
      }
    }
  }

  /// Who closed the piece.
  package enum Sealer: String, Codable, Sendable {
    /// The recorder, as it went.
    case recorder
    /// Recovery, after the recorder was killed: what was altered between the two cannot be seen.
    case recovery
    /// What took a stretch out of the session and sealed the rest anew.
    case redaction
  }

  /// What the piece is.
  package var kind: Kind
  /// Its file, relative to the session's folder.
  package var file: String
  /// The byte of the file that it begins at.
  package var offset: Int64
  /// Its bytes.
  package var bytes: Int64
  /// The SHA-256 of its bytes, in hexadecimal. Of the manifest, the head of the chain counts as zeros.
  package var digest: String
  /// The session's time at its start.
  package var start: Timestamp
  /// The session's time at its end.
  package var end: Timestamp
  /// Why a block of events was closed.
  package var cause: Cause?
  /// Who closed it.
  package var sealedBy: Sealer
  /// The SHA-256 of the hash of the line before, as text, and this line, in which the hash counts as zeros.
  package var hash = Self.noHash

  /// What stands for a hash while it is made.
  static let noHash = String(repeating: "0", count: Digest.textLength)

  /// Whether every number and hash is one that a recorder may have written.
  var isPlausible: Bool {
    // No file is larger than that, and sums stay in 64 bits.
    (0...Int64.max / 4).contains(offset) && (0...Int64.max / 4).contains(bytes) && start.isPlausible
      && end.isPlausible && Digest.isDigest(digest) && Digest.isDigest(hash)
  }
}

/// What the chain of one session is made of.
enum Chain {
  /// What the first line's hash is made over in the place of a line before it: each session's chain is its own.
  static func root(of id: SessionID) -> String { Digest.of(Array("recorder chain 1 \(id)".utf8)) }

  /// The hash of a text that holds it: `bytes` with the first `hash` in it as zeros, after `previous`.
  static func hash(of bytes: [UInt8], holding hash: String, after previous: String = "") -> String {
    Digest.of(Array(previous.utf8), blanked(bytes, hash))
  }

  /// `bytes` with zeros in the place of the first `hash` in them.
  private static func blanked(_ bytes: [UInt8], _ hash: String) -> [UInt8] {
    guard let place = bytes.firstRange(of: Array(hash.utf8)) else { return bytes }
    var bytes = bytes
    bytes.replaceSubrange(place, with: Array(ChainLink.noHash.utf8))
    return bytes
  }

  /// `link` with its hash, and its line without the end.
  static func close(_ link: ChainLink, after previous: String) throws(RecorderError) -> (link: ChainLink, line: [UInt8])
  {
    var link = link
    link.hash = ChainLink.noHash
    link.hash = hash(of: try encode(link), holding: link.hash, after: previous)
    return (link, try encode(link))
  }
}
