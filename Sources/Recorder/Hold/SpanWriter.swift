internal import Archive
internal import Media
import SessionModel
internal import Threading

/// Makes a session of the archive of a stretch that was held, through the same writers as a recording.
struct SpanWriter: Sendable {
  let recipe: SessionRecipe
  /// What was noticed; the session gets the lines of its time.
  let log: RecorderLog?

  /// Writes `span` as a session that has ended, on the calling thread; it is complete when this returns.
  /// - Parameters:
  ///   - title: its title; nil is the one of the options.
  ///   - tags: its tags beside those of the options.
  ///   - end: why it ended; its time is the span's.
  ///   - droppedFrames: frames that the encoder was too busy for in it.
  ///   - sound: what was heard in it; nil without sound.
  ///   - keepsPart: whether it is the capture's last: a part is kept when the disk does not take all, since there is no
  ///     second try.
  /// - Returns: the session's manifest as it is on disk, and what went wrong when only a part was kept.
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed); nothing is left in the archive then.
  func write(
    _ span: HoldRing.Span, title: String? = nil, tags: [String] = [], _ reason: Manifest.Reason,
    message: String? = nil, droppedFrames: Int, sound: [Manifest.Sound]?, keepsPart: Bool = false
  ) throws(RecorderError) -> (manifest: Manifest, error: RecorderError?) {
    if !keepsPart { try requireRoom(span.bytes) }
    let new = try recipe.makeSession(at: span.start, format: span.format, state: span.state, title: title, tags: tags)
    let session = new.session
    let end = Timestamp(nanoseconds: span.end - span.start)
    var (lastBytes, failure) = (Int64?.none, RecorderError?.none)
    do throws(RecorderError) { lastBytes = try writePackets(span, into: new, isLast: keepsPart) } catch {
      failure = error
    }
    // With the files that were begun meanwhile.
    var manifest = session.manifest.value
    manifest.state = .finished
    manifest.end = Manifest.End(reason: reason, time: end, message: failure?.message ?? message)
    manifest.segments[manifest.segments.count - 1].end = end
    manifest.segments[manifest.segments.count - 1].bytes = lastBytes
    manifest.statistics = Manifest.Statistics(frames: span.pictures, droppedFrames: droppedFrames, bytes: 0)
    manifest.statistics?.sound = sound
    if failure == nil || keepsPart {
      let (finished, error) = session.writer.finish(manifest, Event(time: end, kind: .stop, text: reason.rawValue))
      manifest = finished
      failure = failure ?? error
    }
    if let failure, !keepsPart {
      session.discard(in: recipe.archive)
      throw failure
    }
    session.writer.close()
    return (manifest, failure)
  }

  /// - Parameter isLast: whether the log's later lines are this session's, too.
  /// - Returns: the last file's bytes.
  private func writePackets(
    _ span: HoldRing.Span, into new: NewSession, isLast: Bool
  ) throws(RecorderError) -> Int64 {
    let control = try PipelineControl(epoch: recipe.epoch + span.start.nanoseconds)
    var files = try MediaFiles(new, control: control)
    for event in span.events { try new.session.writer.append(event) }
    while let item = span.packets.pop() { try files.write(item) }
    let (start, end) = (control.epoch, recipe.epoch + span.end.nanoseconds)
    if let lines = log?.entries(from: start, to: end, epoch: start) {
      let file = try new.session.writer.makeLog()
      _ = try file.append(lines)
      if isLast { log?.goOn(in: file, epoch: start) }
    }
    return try files.finish().last
  }

  /// Refuses what the disk has surely no room for.
  private func requireRoom(_ bytes: Int64) throws(RecorderError) {
    guard let free = try ArchiveReader(recipe.archive).bytesFree() else { return }
    let left = free - recipe.plan.options.storage.endBelow
    guard left < bytes else { return }
    throw RecorderError(
      .writeFailed,
      "The disk has room for \(max(0, left) / 1_000_000) MB, and what is to be saved has \(bytes / 1_000_000).",
      hint: "Free some space and save again; it is still held.")
  }
}
