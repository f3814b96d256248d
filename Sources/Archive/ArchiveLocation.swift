import Glibc
package import SessionModel

/// Where an archive is: the folder that holds `sessions/`, `pending/` and the index.
package struct ArchiveLocation: Hashable, Sendable {
  /// The folder's path.
  package let path: String

  /// The archive at `path`, which need not exist yet.
  package init(path: String) { self.path = path }

  /// The archive that `environment` names: $RECORDER_ARCHIVE, else $XDG_DATA_HOME/recorder, else
  /// ~/.local/share/recorder.
  /// - Throws: `RecorderError` (configuration) when none of them is set, or the one that counts is not UTF-8.
  package static func standard(_ environment: [String: String]) throws(RecorderError) -> ArchiveLocation {
    if let path = environment["RECORDER_ARCHIVE"], !path.isEmpty { return try spelled(path, "RECORDER_ARCHIVE") }
    // A relative XDG_DATA_HOME is to be ignored: XDG Base Directory Specification 0.8.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
      return try spelled("\(data)/recorder", "XDG_DATA_HOME")
    }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw RecorderError(
        .configuration, "There is no place for the archive: neither RECORDER_ARCHIVE nor HOME is set.",
        hint: "Set RECORDER_ARCHIVE to a folder.")
    }
    return try spelled("\(home)/.local/share/recorder", "HOME")
  }

  /// The archive at `path`, which `variable` led to. Bytes that are not UTF-8 have become U+FFFD on their way into the
  /// environment's text: the path would be another folder's.
  private static func spelled(_ path: String, _ variable: String) throws(RecorderError) -> ArchiveLocation {
    guard !path.unicodeScalars.contains("\u{FFFD}") else {
      throw RecorderError(
        .configuration, "The path in \(variable) is not valid UTF-8: \(path.printable(atMost: 100)).",
        hint: "Set RECORDER_ARCHIVE to a folder whose name is.")
    }
    return ArchiveLocation(path: path)
  }

  /// Where the folder of the session `id` is.
  package func folder(of id: SessionID) -> String {
    ([path, Name.sessions] + id.dateComponents + [id.description]).joined(separator: "/")
  }

  /// The names in the archive and in a session, each at one place.
  enum Name {
    static let sessions = "sessions"
    static let pending = "pending"
    static let trash = "trash"
    static let lock = "lock"
    static let manifest = "manifest.json"
    static let events = "events.ndjson"
    static let annotations = "annotations.ndjson"
    static let chain = "chain.ndjson"
    static let log = "log.ndjson"
    static let media = "media"
    static let reserve = "reserve"
    /// What was taken from the archive, in its root.
    static let audit = "audit.ndjson"
    /// The files beside the media that have bytes.
    static let files = [manifest, events, annotations, chain, log, reserve]
    /// What marks a session in `pending/` as one that is being deleted.
    static let deletedSuffix = ".deleted"
    /// What marks one of which a part is being taken out, or was and the index has yet to hear of it.
    static let redactedSuffix = ".redacted"
    /// What the folder of a session is called until it is complete.
    static let newPrefix = ".new-"
  }
}

extension ArchiveLocation {
  /// The bytes that are left for this user on the archive's disk; nil when that is not known.
  package func bytesFree() -> Int64? {
    try? ArchiveReader(self).bytesFree()
  }
}
