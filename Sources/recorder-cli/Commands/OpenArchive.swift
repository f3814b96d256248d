import Archive
import Commands
import FoundationEssentials
import Index
import SessionModel

/// The archive and its index as a command finds them: brought up to date first, and the person told what that did.
struct OpenArchive {
  /// The archive.
  let reader: ArchiveReader
  /// Its index.
  let index: SessionIndex

  /// Opens the archive that the environment names.
  /// - Parameter live: whether sessions that are being recorded are to be searched.
  /// - Throws: `RecorderError` as `SessionIndex.refresh`.
  init(live: Bool = false) async throws(RecorderError) {
    (reader, index) = try Self.open()
    Self.report(try await index.refresh(live: live))
  }

  /// The archive that the environment names, and its index as it is.
  static func open() throws(RecorderError) -> (reader: ArchiveReader, index: SessionIndex) {
    let location = try ArchiveLocation.standard(ProcessInfo.processInfo.environment)
    return (ArchiveReader(location), SessionIndex(location))
  }

  /// Tells the person what bringing the index up to date did.
  static func report(_ refreshed: SessionIndex.Refreshed) {
    if let name = refreshed.setAside {
      Diagnostics.message("The index was damaged; it is made anew, and the old one kept as \(name).")
    }
    for id in refreshed.recovered {
      Diagnostics.reportRecovered(id)
    }
    reportRedacted(refreshed)
    for problem in refreshed.problems { Diagnostics.report(problem) }
  }

  /// Tells the person of the sessions whose redaction was broken off and is ended now.
  static func reportRedacted(_ refreshed: SessionIndex.Refreshed) {
    for id in refreshed.redacted {
      Diagnostics.message("The redaction of \(id) was broken off; what it had left is gone now.")
    }
  }

  /// Adds `annotations` to the session `id`, and the index learns of them.
  func annotate(_ id: SessionID, _ annotations: [Annotation]) async throws(RecorderError) {
    for annotation in annotations { try reader.annotate(id, annotation) }
    try await index.reindex(id, labelsOnly: true)
  }
}
