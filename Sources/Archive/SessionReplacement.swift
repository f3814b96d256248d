import FoundationEssentials
import Glibc
package import SessionModel

/// A session made a second time, without a stretch of what is in it, beside the one that it takes the place of in one step.
/// Whatever ends the process, the archive has the one or the other whole; the next command takes the other away
/// (`endRedaction`). What was begun goes away with this value when it is not put in place.
package struct SessionReplacement: ~Copyable {
  /// The session as it is.
  package let session: SessionReader
  /// What is taken out, and the session's times of it: to the end of the files when it reaches to the session's.
  private let redaction: Redaction
  private let taken: Range<Timestamp>
  private let archive: ArchiveReader
  private let root: Folder
  private let day: Folder
  private let folder: Folder
  private let media: Folder
  /// The session's lock: nobody deletes it meanwhile.
  private let lock: FileDescriptor
  /// The lock that says that the second session is being made.
  private let mark: FileDescriptor
  private var isPlaced = false

  /// Begins to make the session `id` of `archive` without what `redaction` says.
  /// - Throws: `RecorderError`: sessionNotFound, busy when it is recorded or worked on, permission when it is protected,
  ///   damagedData, cannotCreate, writeFailed.
  package init(of id: SessionID, in archive: ArchiveReader, without redaction: Redaction) throws(RecorderError) {
    let session = try archive.session(id)
    try session.checkFormat()
    let lock = try session.folder.openOrCreateFile(ArchiveLocation.Name.lock)
    guard try lock.lock(waiting: false), let root = try archive.root(), let day = try root.day(of: id),
      let mark = try archive.lockMark(of: id, makes: true)
    else { throw .isWorkedOn(id) }
    let duration = try session.manifest().duration
    let taken = redaction.from..<(redaction.to < duration ? redaction.to : Timestamp(nanoseconds: .max))
    let temporary = ArchiveLocation.Name.newPrefix + id.description
    try day.removeTree(temporary)
    let folder = try day.createNewFolder(temporary, shownAs: id.description)
    let media = try folder.createNewFolder(ArchiveLocation.Name.media)
    (self.session, self.redaction, self.taken, self.archive) = (session, redaction, taken, archive)
    (self.root, self.day, self.folder, self.media) = (root, day, folder, media)
    self.lock = lock
    self.mark = mark
  }

  deinit {
    if isPlaced { return }
    // What cannot be taken away now is by the next command: it stays marked.
    do throws(RecorderError) {
      try day.removeTree(ArchiveLocation.Name.newPrefix + session.id.description)
      try archive.settleRedacted(session.id)
    } catch {}
  }

  /// Takes the media file of `segment` over as it is; one that is missing stays missing.
  /// - Throws: `RecorderError` (writeFailed, damagedData).
  package func keep(_ segment: Manifest.Segment) throws(RecorderError) {
    guard let path = SegmentPath(file: segment.file),
      let source = try session.folder.folder(ArchiveLocation.Name.media), let file = try source.file(path.name)
    else { return }
    // A closed file is never written again, so that two folders can have the same.
    if linkat(source.descriptor, path.name, media.descriptor, path.name, 0) == 0 { return }
    let copy = try media.createFile(path.name)
    var (buffer, offset) = ([UInt8](repeating: 0, count: Self.copyChunk), Int64(0))
    while true {
      let count = try file.read(into: &buffer, at: offset)
      if count == 0 { break }
      try copy.write(Array(buffer[..<count]))
      offset += Int64(count)
    }
    try copy.synchronize()
  }

  /// Bytes copied at a time on a file system without links.
  private static let copyChunk = 1 << 20

  /// Makes the media file that stands for that of `segment`, empty.
  /// - Returns: its descriptor, open for reading and writing, which the caller closes.
  /// - Throws: `RecorderError` (cannotCreate, writeFailed, damagedData).
  package func makeFile(for segment: Manifest.Segment) throws(RecorderError) -> Int32 {
    guard let path = SegmentPath(file: segment.file) else {
      throw RecorderError(
        .damagedData, "The manifest of session \(session.id) names a file that is none of a session's.")
    }
    return try media.createFile(path.name).take()
  }

  /// Makes a file for what is on the way, which has no name any more and goes with its descriptor.
  /// - Returns: its descriptor, open for reading and writing, which the caller closes.
  /// - Throws: `RecorderError` (cannotCreate, writeFailed).
  package func makeScratch() throws(RecorderError) -> Int32 {
    let name = "scratch"
    let file = try folder.createFile(name)
    try folder.removeFile(name)
    return file.take()
  }

  /// Writes the rest of the second session, seals it and puts it in the place of the first, which is then deleted.
  /// - Parameter manifest: the session's, its media files with the bytes that they have now.
  /// - Returns: the manifest as it is on disk.
  /// - Throws: `RecorderError` (writeFailed, damagedData); the session is as it was then.
  package mutating func place(_ manifest: Manifest) throws(RecorderError) -> Manifest {
    // Held until the first one is out of the way: who waits for it sees that then, and adds to the second.
    let annotations = try session.folder.openOrCreateFile(ArchiveLocation.Name.annotations, appending: true)
    _ = try annotations.lock(waiting: true)
    try writeEvents()
    try writeAnnotations()
    try writeLog()
    let manifest = try seal(manifest)
    try media.synchronize()
    try folder.synchronize()
    var entry = AuditEntry(.redact, session.id, reason: redaction.reason, head: redaction.head)
    (entry.at, entry.by, entry.from, entry.to) = (redaction.at, redaction.by, redaction.from, redaction.to)
    let (day, root, folder, id) = (day, root, folder, session.id)
    var isPlaced = false
    // From then on what is beside is not this one's to take away, and the index has to hear of it.
    defer { self.isPlaced = isPlaced }
    try archive.audited(entry) { () throws(RecorderError) in
      defer {
        let now = try? day.folder(id.description)
        isPlaced = now?.isSame(as: folder) ?? true
      }
      try day.replaceSession(id, root: root)
    }
    try day.synchronize()
    try archive.removeReplaced(id, root: root)
    return manifest
  }

  private func seal(_ manifest: Manifest) throws(RecorderError) -> Manifest {
    var manifest = manifest
    manifest.redactions = (manifest.redactions ?? []) + [redaction]
    // The window as it was found at the start.
    if redaction.from == .zero { manifest.source.window?.hideTitle() }
    manifest.statistics?.bytes = manifest.segments.reduce(0) { $0 + ($1.bytes ?? 0) }
    let replaced = SessionReader(id: session.id, folder: folder)
    manifest.check = Manifest.Check(findings: replaced.shortFindings(manifest))
    var seal = try SessionSeal(id: session.id, folder: folder, sealer: .redaction)
    for redaction in manifest.redactions ?? [] { try seal.seal(redaction) }
    for segment in manifest.segments { try seal.seal(segment) }
    if let events = try folder.file(ArchiveLocation.Name.events) {
      try seal.seal(events: events, to: events.size(), cause: .end)
    }
    try seal.seal(&manifest)
    return manifest
  }

  /// The events, but for the words of those that are taken out; what tells how the recording went stays.
  private func writeEvents() throws(RecorderError) {
    guard let source = try session.folder.file(ArchiveLocation.Name.events) else { return }
    let file = try folder.createFile(ArchiveLocation.Name.events, appending: true)
    var isTold = false
    func tell() throws(RecorderError) {
      if !isTold { try file.append(line: encode(redaction.event) + [Line.end]) }
      isTold = true
    }
    let decoder = JSONDecoder()
    _ = try Line.forEach(in: source) { (line) throws(RecorderError) in
      // A line that is no event may be of any time, so that it is left out.
      guard var event = try? decoder.decode(Event.self, from: line), event.isPlausible else { return }
      if event.time >= redaction.from { try tell() }
      guard taken.contains(event.time) else {
        return try file.append(line: Array(line) + [Line.end])
      }
      guard event.kind.isOfRecording else { return }
      event.window = nil
      try file.append(line: encode(event) + [Line.end])
    }
    try tell()
    try file.synchronize()
  }

  private func writeAnnotations() throws(RecorderError) {
    for annotation in try session.annotations() {
      if let time = annotation.time, taken.contains(time) { continue }
      try folder.append(annotation, to: ArchiveLocation.Name.annotations)
    }
  }

  private func writeLog() throws(RecorderError) {
    guard let source = try session.folder.file(ArchiveLocation.Name.log) else { return }
    let file = try folder.createFile(ArchiveLocation.Name.log, appending: true)
    let decoder = JSONDecoder()
    _ = try Line.forEach(in: source) { (line) throws(RecorderError) in
      guard let entry = try? decoder.decode(LogEntry.self, from: line) else { return }
      if !taken.contains(entry.time) { try file.append(line: Array(line) + [Line.end]) }
    }
    try file.synchronize()
  }
}

extension Event.Kind {
  /// Whether an event of it tells how the recording went, in the recorder's own words.
  fileprivate var isOfRecording: Bool {
    [.start, .stop, .alive, .gap, .split, .pause, .resume, .mute, .unmute, .gain, .clock, .redacted].contains(self)
  }
}

extension WindowInfo {
  /// Takes its title away.
  fileprivate mutating func hideTitle() { (title, titleBytes) = ("", nil) }
}
