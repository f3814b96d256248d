package import Archive
package import Control
package import SessionModel

/// What a hook is told of an event, as JSON on its standard input: `schemas/hook.schema.json`.
package struct HookMessage: Encodable, Sendable {
  /// The version of this form.
  let version = 1
  /// What happened.
  package let event: Hook.Event
  /// When it was told.
  let utc: WallTime
  /// The archive's folder.
  let archive: String
  /// The session it is about; nil when what is recorded is in no session.
  package let session: SessionID?
  /// That session's folder.
  let folder: String?
  /// When it happened on the time line of what is recorded.
  package var time: Timestamp?
  /// What the recording is doing.
  package var state: RecordingState?
  /// Why it ended.
  package var reason: Manifest.Reason?
  /// The stretch in which a track had nothing.
  package var gap: Gap?
  /// One sentence about it.
  package var message: String?
  /// What the recorder ends with, when it ended because something failed.
  package var exitCode: Int32?
  /// How many messages of the same event were left out before this one, since they came faster than the hooks ended.
  var omitted: Int?

  /// Makes the message that `event` happened to `session`, or to what is in no session, of `archive`; set what is known.
  package init(_ event: Hook.Event, _ session: SessionID?, in archive: ArchiveLocation) {
    (self.event, self.session, self.archive) = (event, session, archive.path)
    utc = .now()
    folder = session.map { archive.folder(of: $0) }
  }
}
