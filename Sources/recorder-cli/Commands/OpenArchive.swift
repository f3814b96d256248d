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
    let location = try ArchiveLocation.standard(ProcessInfo.processInfo.environment)
    reader = ArchiveReader(location)
    index = SessionIndex(location)
    let refreshed = try await index.refresh(live: live)
    if let name = refreshed.setAside {
      Diagnostics.message("The index was damaged; it is made anew, and the old one kept as \(name).")
    }
    for id in refreshed.recovered {
      Diagnostics.message("The session \(id) was interrupted; it is closed now, with all that was recorded.")
    }
    for problem in refreshed.problems { Diagnostics.report(problem) }
  }

  /// Adds `annotations` to the session `id`, and the index learns of them.
  func annotate(_ id: SessionID, _ annotations: [Annotation]) async throws(RecorderError) {
    for annotation in annotations { try reader.annotate(id, annotation) }
    try await index.reindex(id, labelsOnly: true)
  }
}
