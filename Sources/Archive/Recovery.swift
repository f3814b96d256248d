import FoundationEssentials
import Glibc
package import SessionModel

/// What recovery found a session to be.
package enum Recovery: Hashable, Sendable {
  /// A process records it; it was left alone.
  case live(Manifest)
  /// It was closed before; nothing was changed.
  case closed(Manifest)
  /// Its recorder was killed; it is closed now.
  case recovered(Manifest)
  /// It cannot be read, for the reason given; nothing was changed.
  case damaged(RecorderError)
}

extension ArchiveReader {
  /// Closes the session `id` if its recorder was killed: cuts off the parts of lines and blocks that were being written,
  /// finds its length (the later of the last `alive` event and the last block) and says so in its manifest. All that is
  /// whole stays. A second call changes nothing.
  /// - Throws: `RecorderError` (sessionNotFound), or when the disk does not take the changes.
  package func recover(_ id: SessionID) throws(RecorderError) -> Recovery {
    let session = try session(id)
    var manifest: Manifest
    do { manifest = try session.manifest() } catch { return .damaged(error) }
    guard manifest.state == .recording else { return .closed(manifest) }
    let lock = try session.folder.openOrCreateFile(ArchiveLocation.Name.lock)
    guard try lock.lock(waiting: false) else { return .live(manifest) }
    defer { lock.unlock() }
    // Another may have closed it between the look and the lock.
    do { manifest = try session.manifest() } catch { return .damaged(error) }
    guard manifest.state == .recording else { return .closed(manifest) }
    try session.close(&manifest)
    return .recovered(manifest)
  }
}

extension SessionReader {
  /// Brings the files of a session whose recorder was killed into order, and `manifest` with them; holds its lock.
  fileprivate func close(_ manifest: inout Manifest) throws(RecorderError) {
    // What the recorder kept free pays for what follows.
    try folder.removeFile(ArchiveLocation.Name.reserve)
    let (lastAlive, stop, splits) = try tolerating((.zero, nil, [:])) { () throws(RecorderError) in try cutEvents() }
    let sealed = Set(
      try tolerating([]) { () throws(RecorderError) in try chain().links.filter { $0.kind == .segment }.map(\.file) })
    var lastBlock = Timestamp.zero
    let paths = try segmentPaths()
    for path in paths {
      let end = path == paths.last ? lastAlive : nil
      lastBlock = try tolerating(lastBlock) { () throws(RecorderError) in
        try complete(
          path, after: max(lastBlock, splits[path.number] ?? .zero), until: end, isSealed: sealed.contains(path.file),
          &manifest)
      }
    }
    let end = max(lastAlive, lastBlock, .zero)
    if let last = manifest.segments.indices.last { manifest.segments[last].end = end }
    manifest.state = .interrupted
    // A recorder that gave the disk up has said why, if the disk took that.
    manifest.end = Manifest.End(
      reason: manifest.end?.reason ?? .killed, time: end,
      message: manifest.end?.message ?? reason(manifest, end: end, stop: stop))
    manifest.check = Manifest.Check(findings: shortFindings(manifest))
    try seal(&manifest)
  }

  /// Seals all that the recorder had not sealed, and puts `manifest` in place.
  private func seal(_ manifest: inout Manifest) throws(RecorderError) {
    var seal = try SessionSeal(id: id, folder: folder, sealer: .recovery)
    for segment in manifest.segments {
      try tolerating(()) { () throws(RecorderError) in try seal.seal(segment) }
    }
    try seal.sealRest(at: manifest.duration, of: segmentPaths())
    try tolerating(()) { () throws(RecorderError) in
      guard let events = try folder.file(ArchiveLocation.Name.events) else { return }
      try seal.seal(events: events, to: events.size(), cause: .end)
    }
    try seal.seal(&manifest)
  }

  /// Cuts half a line off the events.
  /// - Returns: the time of the last event that shows the recorder at work, the words of the last `stop`, and when each
  ///   media file but the first began, by its number.
  private func cutEvents() throws(RecorderError) -> (last: Timestamp, stop: String?, splits: [Int: Timestamp]) {
    guard let file = try folder.file(ArchiveLocation.Name.events, writing: true) else { return (.zero, nil, [:]) }
    let decoder = JSONDecoder()
    var (last, stop, splits) = (Timestamp.zero, String?.none, [Int: Timestamp]())
    let whole = try Line.forEach(in: file) { (line) throws(RecorderError) in
      guard let event = try? decoder.decode(Event.self, from: line), event.isPlausible else { return }
      if event.kind == .alive || event.kind == .stop { last = max(last, event.time) }
      if event.kind == .stop { stop = event.text ?? "" }
      if event.kind == .split, let number = event.text.flatMap({ Int($0) }) { splits[number] = event.time }
    }
    if whole < (try file.size()) {
      try file.truncate(to: whole)
      try file.synchronize()
    }
    return (last, stop, splits)
  }

  /// Brings the media file at `path` into order, and the manifest's segments to what is there.
  /// - Parameters:
  ///   - last: the session's time at the end of the file before it, which this one begins at when the manifest has not
  ///     heard of it.
  ///   - end: the session's time up to which the recorder was at work, when it is the last file.
  ///   - isSealed: the recorder had closed it, so that it is left as it is.
  /// - Returns: the session's time at its last block.
  private func complete(
    _ path: SegmentPath, after last: Timestamp, until end: Timestamp?, isSealed: Bool, _ manifest: inout Manifest
  ) throws(RecorderError) -> Timestamp {
    let index = manifest.segments.firstIndex { $0.file == path.file } ?? manifest.segments.count
    if index == manifest.segments.count {
      if index > 0 { manifest.segments[index - 1].end = last }
      manifest.segments.append(Manifest.Segment(file: path.file, start: last))
    }
    let segment = manifest.segments[index]
    if isSealed, let end = segment.end, segment.bytes != nil { return max(last, end) }
    let known = max(segment.end ?? .zero, end ?? .zero) - segment.start
    guard let found = try completeFile(path, duration: { block in max(block, known) }) else { return last }
    guard let time = found.lastTime else {
      // Begun and never written to: it stays, and the session is played without it.
      if index > 0 { manifest.segments.remove(at: index) } else { manifest.segments[index].bytes = found.bytes }
      return last
    }
    let (sum, overflow) = segment.start.nanoseconds.addingReportingOverflow(time)
    let claimed = Timestamp(nanoseconds: sum)
    let lastBlock = max(last, overflow || !claimed.isPlausible ? segment.start : claimed)
    manifest.segments[index].bytes = found.bytes
    manifest.segments[index].end = segment.end ?? lastBlock
    return lastBlock
  }

  /// One sentence that says why the recorder ended, as far as it can be seen now.
  private func reason(_ manifest: Manifest, end: Timestamp, stop: String?) -> String {
    if let stop {
      return "The recording had ended\(stop.isEmpty ? "" : " (\(stop))") when the recorder was killed."
    }
    var (now, name) = (timespec(), [CChar](repeating: 0, count: 256))
    clock_gettime(CLOCK_MONOTONIC, &now)
    let monotonic = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    let isNamed = gethostname(&name, name.count - 1) == 0
    let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // That clock begins at 0 with the machine.
    if isNamed && host == manifest.host.name && monotonic < manifest.clock.monotonic &+ end.nanoseconds {
      return "The machine was restarted while it recorded."
    }
    return folder.bytesFree == 0 ? "The recorder was killed; the disk is full." : "The recorder was killed."
  }
}
