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
    /// Why the block of events that is being written is to be closed soon; nil when there is no reason.
    var cause: ChainLink.Cause?
  }

  /// What the thread that looks after the disk works on.
  private struct Kept: ~Copyable, Sendable {
    var seal: SessionSeal
    /// The events once more: hashing and syncing them keeps nobody from adding to them.
    let events: FileDescriptor
    /// Bytes of the events that survive a power cut.
    var eventsOnDisk: Int64 = 0
  }

  /// The media files that are not sealed yet.
  private struct Media: Sendable {
    /// Those that are being written, by their path in the session.
    var written: [String: OpenFile] = [:]
    /// Bytes of those that survive a power cut.
    var onDisk: [String: Int64] = [:]
    /// Those that are closed.
    var closed: [Manifest.Segment] = []
  }

  /// The session's name.
  package let id: SessionID
  let folder: Folder
  private let media: Folder
  private let open: Mutex<Open?>
  private let kept: Mutex<Kept>
  private let files = Mutex(Media())
  private let closed = Mutex<@Sendable () -> Void>({})
  /// Held while the manifest is replaced; what is open stays open then. Taken before `open`, never within it.
  private let replacing = Mutex(())

  private init(id: SessionID, folder: Folder, media: Folder, open: consuming Open, kept: consuming Kept) {
    (self.id, self.folder, self.media) = (id, folder, media)
    self.open = Mutex(open)
    self.kept = Mutex(kept)
  }

  /// Makes a session that begins at `time`, under a name that no other session has; of those of the same second it is the
  /// last.
  /// - Parameter manifest: makes its manifest, given its name.
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed).
  package static func create(
    in location: ArchiveLocation, at time: WallTime, manifest: (SessionID) -> Manifest
  ) throws(RecorderError) -> SessionWriter {
    var generator = SystemRandomNumberGenerator()
    func draw() -> SessionID {
      var ids = try? ArchiveReader(location).sessionIDs(prefix: SessionID.prefix(of: time))
      return SessionID(time, after: ids?.next(), using: &generator)
    }
    // A second's names are a million: sixteen draws that are all taken are no accident.
    for _ in 0..<15 {
      let id = draw()
      if let root = try? Folder.open(path: location.path), (try? root.session(id)) != nil { continue }
      return try create(in: location, id: id, manifest: manifest(id))
    }
    let id = draw()
    return try create(in: location, id: id, manifest: manifest(id))
  }

  /// Makes the session `id`. It is listed in `pending/` before anything else, and its folder appears whole: locked, with
  /// its manifest.
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed); nothing is left behind then.
  package static func create(
    in location: ArchiveLocation, id: SessionID, manifest: Manifest
  ) throws(RecorderError) -> SessionWriter {
    let root = try Folder.create(path: location.path)
    try root.requireSpace(manifest.options.storage)
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
    let folder = try day.createNewFolder(temporary, shownAs: id.description)
    let lock = try folder.createFile(ArchiveLocation.Name.lock)
    guard try lock.lock(waiting: false) else {
      throw RecorderError(.busy, "The session \(id) is locked by another process.")
    }
    let media = try folder.createNewFolder(ArchiveLocation.Name.media)
    let events = try folder.createFile(ArchiveLocation.Name.events, appending: true)
    try folder.createReserve()
    try folder.replaceManifest(manifest)
    guard let again = try folder.file(ArchiveLocation.Name.events, writing: true) else {
      throw RecorderError(.create, "\(folder.path)/\(ArchiveLocation.Name.events)", errno: ENOENT)
    }
    let kept = Kept(seal: try SessionSeal(id: id, folder: folder, sealer: .recorder), events: again)
    try day.rename(temporary, to: id.description)
    return SessionWriter(
      id: id, folder: folder, media: media, open: Open(lock: lock, events: events), kept: kept)
  }

  /// Makes the media file `number` (1 … 999,999), empty.
  /// - Returns: its descriptor, open for reading and writing, which the caller closes, and its path relative to the
  ///   session (`media/000001.mkv`).
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed).
  package func createSegment(_ number: Int) throws(RecorderError) -> (fileDescriptor: Int32, file: String) {
    guard let path = SegmentPath(number: number) else {
      throw RecorderError(.cannotCreate, "A session holds at most \(SegmentPath.numbers.upperBound) media files.")
    }
    let file = try media.createFile(path.name)
    let again = OpenFile(try file.again())
    files.withLock { files in files.written[path.file] = again }
    return (file.take(), path.file)
  }

  /// Writes `event` as one line, from any thread.
  /// - Throws: `RecorderError` (writeFailed); the lines before it stay whole.
  package func append(_ event: Event) throws(RecorderError) {
    let line = try encode(event) + [Line.end]
    let cause = ChainLink.Cause(closing: event.kind)
    try open.withLock { (open) throws(RecorderError) in
      guard open != nil else { throw Self.closed(id) }
      try open?.events.append(line: line)
      if let cause { open?.cause = cause }
    }
    if cause != nil { closed.withLock { $0 }() }
  }

  /// Has `body` called, from any thread, whenever there is something for `sealClosed`.
  package func whenClosed(_ body: @escaping @Sendable () -> Void) { closed.withLock { $0 = body } }

  /// Writes `annotation` to the session, on disk when it returns; from any thread.
  /// - Throws: `RecorderError` (writeFailed).
  package func annotate(_ annotation: Annotation) throws(RecorderError) {
    try folder.append(annotation, to: ArchiveLocation.Name.annotations)
  }

  /// Puts `manifest` in the place of the session's, on disk when it returns; from any thread.
  /// - Throws: `RecorderError` (writeFailed); the manifest before it stays.
  package func replaceManifest(_ manifest: Manifest) throws(RecorderError) {
    try replacing.withLock { (_) throws(RecorderError) in
      // The disk is waited for outside the events' lock: who has an event to write does not wait for it too.
      guard let events = open.withLock({ open in open?.events.raw }) else { throw Self.closed(id) }
      guard retrying({ fsync(events) }) == 0 else {
        throw RecorderError(.write, "\(folder.path)/\(ArchiveLocation.Name.events)", errno: errno)
      }
      try folder.replaceManifest(manifest)
    }
    let isClosing = files.withLock { files in
      for segment in manifest.segments where segment.bytes != nil && files.written[segment.file] != nil {
        files.written[segment.file] = nil
        files.onDisk[segment.file] = nil
        files.closed.append(segment)
      }
      return !files.closed.isEmpty
    }
    if isClosing { closed.withLock { $0 }() }
  }

  /// Seals the pieces that were closed since the last call: media files that the manifest gives a size, and the events
  /// up to now when a gap or a pause is among them, or when `isDue`. For the thread that looks after the disk: it reads
  /// what it seals.
  /// - Throws: `RecorderError` (writeFailed).
  package func sealClosed(isDue: Bool) throws(RecorderError) {
    let (cause, end) = try open.withLock { (open) throws(RecorderError) -> (ChainLink.Cause?, Int64) in
      let found = (open?.cause ?? (isDue ? .interval : nil), try open?.events.size() ?? 0)
      open?.cause = nil
      return found
    }
    let closed = files.withLock { files in
      defer { files.closed = [] }
      return files.closed
    }
    try kept.withLock { (kept) throws(RecorderError) in
      do throws(RecorderError) {
        for segment in closed { try kept.seal.seal(segment) }
        if let cause { try kept.seal.seal(events: kept.events, to: end, cause: cause) }
      } catch {
        throw error.whileWriting
      }
    }
  }

  /// Waits until the disk has what the system has of this session: of what is appended to, when it grew since the last call.
  /// - Throws: `RecorderError` (writeFailed).
  package func synchronize() throws(RecorderError) {
    for (name, file) in files.withLock({ $0.written }) {
      var bytes = files.withLock { $0.onDisk[name] } ?? 0
      try file.descriptor.synchronizeGrowth(since: &bytes)
      files.withLock { files in if files.written[name] != nil { files.onDisk[name] = bytes } }
    }
    try kept.withLock { (kept) throws(RecorderError) in
      try kept.events.synchronizeGrowth(since: &kept.eventsOnDisk)
      try kept.seal.synchronize()
    }
  }

  /// Waits until the disk has all of the media files, in which lengths and an index were changed at their end.
  /// - Throws: `RecorderError` (writeFailed).
  package func synchronizeMedia() throws(RecorderError) {
    for file in files.withLock({ files in Array(files.written.values) }) { try file.descriptor.synchronizeData() }
  }

  /// The bytes that a media file can have at most; nil when only the disk's room bounds it.
  package var largestFile: Int64? { media.largestFile }

  /// The bytes that are left for this user on the session's disk; nil when that is not known.
  package var bytesFree: Int64? { folder.bytesFree }

  /// Ends the session: frees its reserve, writes `stop`, brings a media file whose writing failed into order, looks at
  /// what there is, seals all of it, and puts `manifest` in place. Each step is tried, whatever the one before did.
  /// - Returns: the manifest as it is on disk, and the first thing that went wrong.
  package func finish(_ manifest: Manifest, _ stop: Event) -> (manifest: Manifest, error: RecorderError?) {
    var (manifest, first) = (manifest, RecorderError?.none)
    func attempt(_ body: () throws(RecorderError) -> Void) {
      do throws(RecorderError) { try body() } catch { first = first ?? error.whileWriting }
    }
    let session = SessionReader(id: id, folder: folder)
    attempt { () throws(RecorderError) in try folder.removeFile(ArchiveLocation.Name.reserve) }
    attempt { () throws(RecorderError) in try append(stop) }
    for index in manifest.segments.indices where manifest.segments[index].bytes == nil {
      attempt { () throws(RecorderError) in
        let segment = manifest.segments[index]
        manifest.segments[index].bytes = try session.completeSegment(
          segment, duration: (segment.end ?? manifest.duration) - segment.start)
      }
    }
    // One that was begun and never written to is left out.
    while manifest.segments.count > 1, let last = manifest.segments.last, last.bytes == nil {
      manifest.segments.removeLast()
      manifest.segments[manifest.segments.count - 1].end = last.end
    }
    manifest.statistics?.bytes = manifest.segments.reduce(0) { $0 + ($1.bytes ?? 0) }
    manifest.check = Manifest.Check(findings: session.shortFindings(manifest))
    kept.withLock { kept in
      attempt { () throws(RecorderError) in
        try kept.events.synchronize()
        for segment in manifest.segments { try kept.seal.seal(segment) }
        try kept.seal.sealRest(at: manifest.duration, of: session.segmentPaths())
        try kept.seal.seal(events: kept.events, to: kept.events.size(), cause: .end)
        try kept.seal.seal(&manifest)
      }
    }
    // A session without a seal is better than one that says it still records.
    if first != nil, (try? session.manifest())?.state != manifest.state {
      manifest.chain = nil
      attempt { () throws(RecorderError) in try folder.replaceManifest(manifest) }
    }
    return (manifest, first)
  }

  /// Says how the session ended when its files cannot be brought into order, since the disk hangs: writes `stop` and
  /// `manifest`, as one that is still to be recovered. Each step is tried, whatever the one before did.
  /// - Returns: the manifest.
  package func suspend(_ manifest: Manifest, _ stop: Event) -> Manifest {
    var manifest = manifest
    manifest.state = .recording
    do throws(RecorderError) { try append(stop) } catch {}
    do throws(RecorderError) { try folder.replaceManifest(manifest) } catch {}
    return manifest
  }

  /// Lets the session go; it stays in `pending/` until the index has it. Later calls do nothing.
  package func close() {
    replacing.withLock { _ in
      open.withLock { open in
        open?.lock.unlock()
        open = nil
      }
    }
  }

  private static func closed(_ id: SessionID) -> RecorderError {
    RecorderError(.brokenInvariant, "The session \(id) is closed already.")
  }
}
