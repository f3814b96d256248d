package import Archive
package import SessionModel

/// One recording in the archive.
public struct CapturedSession: Hashable, Sendable {
  /// How a recording ended.
  public struct End: Hashable, Sendable {
    /// How long the recording is.
    public let duration: Duration
    /// Why it ended, as the session's manifest says it: `stopped`, `duration`, `windowClosed` …
    public let reason: String
    /// What went wrong; nil when all went as asked. What was recorded is kept all the same.
    public let error: CaptureError?
  }

  /// Its name: what `recorder show` takes.
  public let id: String
  /// The folder that holds all of it.
  public let folder: String
  /// How it ended; nil while it is recorded.
  public let end: End?

  package init(_ id: SessionID, in archive: ArchiveLocation, outcome: RecordingSession.Outcome? = nil) {
    self.id = id.description
    folder = archive.folder(of: id)
    end = outcome.map { outcome in
      End(
        duration: .nanoseconds(outcome.end.time.nanoseconds), reason: outcome.end.reason.rawValue,
        error: outcome.error.map(CaptureError.init))
    }
  }
}
