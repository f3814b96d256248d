import Glibc
package import SessionModel
import Synchronization

/// Writes one session into the archive while it is recorded, and holds its lock until then: a session whose lock is free
/// is recorded by nobody.
package final class SessionWriter: Sendable {
  /// What is open until the session is closed.
  private struct Open: ~Copyable, Sendable {
    let lock: FileDescriptor
    let events: FileDescriptor
  }

  /// The session's name.
  package let id: SessionID
  private let folder: Folder
  private let media: Folder
  private let open: Mutex<Open?>

  private init(id: SessionID, folder: Folder, media: Folder, open: consuming Open) {
    (self.id, self.folder, self.media) = (id, folder, media)
    self.open = Mutex(open)
  }

  /// Makes a session that begins at `time`, under a name that no other session has.
  /// - Parameter manifest: makes its manifest, given its name.
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed).
  package static func create(
    in location: ArchiveLocation, at time: WallTime, manifest: (SessionID) -> Manifest
  ) throws(RecorderError) -> SessionWriter {
    var generator = SystemRandomNumberGenerator()
    // A second's names are a million: sixteen draws that are all taken are no accident.
    for _ in 0..<15 {
      let id = SessionID(time, using: &generator)
      if let root = try? Folder.open(path: location.path), (try? root.session(id)) != nil { continue }
      return try create(in: location, id: id, manifest: manifest(id))
    }
    let id = SessionID(time, using: &generator)
    return try create(in: location, id: id, manifest: manifest(id))
  }

  /// Makes the session `id`. It is listed in `pending/` before anything else, and its folder appears whole: locked, with
  /// its manifest.
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed); nothing is left behind then.
  package static func create(
    in location: ArchiveLocation, id: SessionID, manifest: Manifest
  ) throws(RecorderError) -> SessionWriter {
    let root = try Folder.create(path: location.path)
    let pending = try root.createFolder(ArchiveLocation.Name.pending)
    var day = try root.createFolder(ArchiveLocation.Name.sessions)
    for name in id.dateComponents { day = try day.createFolder(name) }
    guard !day.exists(id.description) else {
      throw RecorderError(.cannotCreate, "The session \(id) exists already.")
    }
    _ = try pending.createFile(id.description)
    do {
      let writer = try create(in: day, id: id, manifest: manifest)
      try day.synchronize()
      return writer
    } catch {
      try? day.removeTree(ArchiveLocation.Name.newPrefix + id.description)
      try? pending.removeFile(id.description)
      throw error
    }
  }

  private static func create(
    in day: Folder, id: SessionID, manifest: Manifest
  ) throws(RecorderError) -> SessionWriter {
    var manifest = manifest
    manifest.id = id
    let temporary = ArchiveLocation.Name.newPrefix + id.description
    let folder = try day.createNewFolder(temporary)
    let lock = try folder.createFile(ArchiveLocation.Name.lock)
    guard try lock.lock(waiting: false) else {
      throw RecorderError(.busy, "The session \(id) is locked by another process.")
    }
    let media = try folder.createNewFolder(ArchiveLocation.Name.media)
    let events = try folder.createFile(ArchiveLocation.Name.events, appending: true)
    try folder.replaceManifest(manifest)
    try day.rename(temporary, to: id.description)
    return SessionWriter(id: id, folder: folder, media: media, open: Open(lock: lock, events: events))
  }

  /// Makes the media file `number` (1 … 999,999), empty.
  /// - Returns: its descriptor, open for reading and writing, which the caller closes, and its path relative to the
  ///   session (`media/000001.mkv`).
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed).
  package func createSegment(_ number: Int) throws(RecorderError) -> (fileDescriptor: Int32, file: String) {
    guard let path = SegmentPath(number: number) else {
      throw RecorderError(.cannotCreate, "A session holds at most \(SegmentPath.numbers.upperBound) media files.")
    }
    return (try media.createFile(path.name).take(), path.file)
  }

  /// Writes `event` as one line, from any thread.
  /// - Throws: `RecorderError` (writeFailed); the lines before it stay whole.
  package func append(_ event: Event) throws(RecorderError) {
    let line = try encode(event) + [Line.end]
    try open.withLock { (open) throws(RecorderError) in
      guard open != nil else { throw Self.closed(id) }
      try open?.events.append(line: line)
    }
  }

  /// Writes `annotation` to the session, on disk when it returns; from any thread.
  /// - Throws: `RecorderError` (writeFailed).
  package func annotate(_ annotation: Annotation) throws(RecorderError) { try folder.append(annotation) }

  /// Puts `manifest` in the place of the session's, on disk when it returns; from any thread.
  /// - Throws: `RecorderError` (writeFailed); the manifest before it stays.
  package func replaceManifest(_ manifest: Manifest) throws(RecorderError) {
    try open.withLock { (open) throws(RecorderError) in
      guard open != nil else { throw Self.closed(id) }
      try open?.events.synchronize()
      try folder.replaceManifest(manifest)
    }
  }

  /// Lets the session go; it stays in `pending/` until the index has it. Later calls do nothing.
  package func close() {
    open.withLock { open in
      open?.lock.unlock()
      open = nil
    }
  }

  private static func closed(_ id: SessionID) -> RecorderError {
    RecorderError(.brokenInvariant, "The session \(id) is closed already.")
  }
}
