import FoundationEssentials
import SessionModel

/// Seals the pieces of one session: adds a line to `chain.ndjson` for each that is closed. The recorder's, while it
/// records, and recovery's after that use the same.
struct SessionSeal: ~Copyable, Sendable {
  private let id: SessionID
  private let folder: Folder
  private let file: FileDescriptor
  private let sealer: ChainLink.Sealer
  private var last: String
  private var count: Int
  /// Bytes of the chain that survive a power cut, as far as that is known.
  private var bytesOnDisk: Int64 = 0
  /// Bytes of the events that are sealed.
  private(set) var eventBytes: Int64
  /// The session's time up to which events are sealed.
  private var eventTime: Timestamp
  /// The media files that are sealed: nothing in them is changed any more.
  private(set) var files: Set<String>

  /// Opens the chain of the session in `folder`, making it when it is missing; half a line at its end is cut off.
  init(id: SessionID, folder: Folder, sealer: ChainLink.Sealer) throws(RecorderError) {
    let file = try folder.openOrCreateFile(ArchiveLocation.Name.chain, appending: true)
    let record = try ChainRecord(id: id, file: folder.file(ArchiveLocation.Name.chain))
    if record.wholeBytes < (try file.size()) { try file.truncate(to: record.wholeBytes) }
    (self.id, self.folder, self.sealer) = (id, folder, sealer)
    (last, count) = (record.lastHash, record.links.count)
    let events = record.links.last { $0.kind == .events }
    (eventBytes, eventTime) = (events.map { $0.offset + $0.bytes } ?? 0, events?.end ?? .zero)
    files = Set(record.links.filter { $0.kind == .segment }.map(\.file))
    self.file = file
  }

  private mutating func append(_ link: ChainLink) throws(RecorderError) {
    let (link, line) = try Chain.close(link, after: last)
    try file.append(line: line + [Line.end])
    (last, count) = (link.hash, count + 1)
  }

  /// Begins the chain of what is left of a session with what there is to say of the chain before.
  mutating func seal(_ redaction: Redaction) throws(RecorderError) {
    try append(
      ChainLink(
        kind: .redaction, file: ArchiveLocation.Name.manifest, offset: 0, bytes: 0,
        digest: redaction.head ?? ChainLink.noHash, start: redaction.from, end: redaction.to, sealedBy: sealer))
  }

  /// Seals the lines of `events` from where the last block ends to byte `end`; nothing when there are none.
  mutating func seal(events: borrowing FileDescriptor, to end: Int64, cause: ChainLink.Cause) throws(RecorderError) {
    let count = end - eventBytes
    guard count > 0, let digest = try events.digest(from: eventBytes, count: count) else { return }
    let time = max(eventTime, try events.lastEvent(before: end, from: eventBytes)?.time ?? eventTime)
    try append(
      ChainLink(
        kind: .events, file: ArchiveLocation.Name.events, offset: eventBytes, bytes: count, digest: digest,
        start: eventTime, end: time, cause: cause, sealedBy: sealer))
    (eventBytes, eventTime) = (end, time)
  }

  /// Seals the media file of `segment`, which is closed, unless it is sealed already.
  mutating func seal(_ segment: Manifest.Segment) throws(RecorderError) {
    guard !files.contains(segment.file), let path = SegmentPath(file: segment.file),
      let media = try folder.folder(ArchiveLocation.Name.media), let file = try media.file(path.name)
    else { return }
    let size = try file.size()
    guard let digest = try file.digest(count: size) else { return }
    try append(
      ChainLink(
        kind: .segment, file: segment.file, offset: 0, bytes: size, digest: digest, start: segment.start,
        end: max(segment.start, segment.end ?? segment.start), sealedBy: sealer))
    files.insert(segment.file)
  }

  /// Seals the media files of `paths` that are not sealed: those that were begun and never written to.
  mutating func sealRest(at time: Timestamp, of paths: [SegmentPath]) throws(RecorderError) {
    for path in paths where !files.contains(path.file) {
      let segment = Manifest.Segment(file: path.file, start: time)
      // What is no file, or leads elsewhere, is nobody's to seal.
      do { try seal(segment) } catch { if error.code != .damagedData { throw error } }
    }
  }

  /// Seals `manifest`, the last piece, and puts it in place with the chain's head in it.
  mutating func seal(_ manifest: inout Manifest) throws(RecorderError) {
    manifest.chain = Manifest.Chain(head: ChainLink.noHash, links: count + 1, sealedBy: sealer.rawValue)
    let bytes = try encode(manifest, pretty: true)
    let link = ChainLink(
      kind: .manifest, file: ArchiveLocation.Name.manifest, offset: 0, bytes: Int64(bytes.count),
      digest: Digest.of(bytes), start: .zero, end: manifest.duration, sealedBy: sealer)
    try append(link)
    try file.synchronize()
    manifest.chain?.head = last
    try folder.replaceManifest(manifest)
  }

  /// Makes the lines that were added survive a power cut.
  mutating func synchronize() throws(RecorderError) { try file.synchronizeGrowth(since: &bytesOnDisk) }
}

extension FileDescriptor {
  /// The last event in the whole lines before byte `end`, found without reading those before it.
  /// - Parameter start: where to stop looking.
  func lastEvent(before end: Int64, from start: Int64 = 0) throws(RecorderError) -> Event? {
    // Enough for a second's events; one that is longer than this is passed over.
    var tail = [UInt8](repeating: 0, count: Int(max(0, min(end - start, 1 << 16))))
    let count = try read(into: &tail, at: end - Int64(tail.count))
    let decoder = JSONDecoder()
    for line in tail[..<count].split(separator: Line.end).reversed() {
      if let event = try? decoder.decode(Event.self, from: Data(line)), event.isPlausible { return event }
    }
    return nil
  }
}
