import SessionModel

/// Gives a Matroska file whose writer could not end it what a finished one has: its length and an index of its
/// keyframes, so that players know and find every moment. Nothing that is in the file moves: the muxer kept room for the
/// length and for an index of parts at the file's beginning, and the keyframes come after the last cluster.
struct MatroskaCompletion {
  /// What was there, for the first `size` bytes.
  let outline: MatroskaOutline
  let size: Int64

  /// The bytes of a Duration element with its head: 2 of id, 1 of size, a 64-bit number (RFC 9559, Duration).
  static let durationLength: Int64 = 11

  /// Completes `file`. On a disk that does not take the index the file stays as it was, playable, and so it does
  /// when a step is not possible.
  /// - Parameter duration: the file's length in ns.
  /// - Returns: the file's size.
  func complete(_ file: borrowing FileDescriptor, duration: Int64) throws(RecorderError) -> Int64 {
    if let room = outline.durationRoom {
      let ticks = Double(duration) / Double(outline.scale)
      try file.overwrite(
        Self.element(MatroskaElement.ID.duration, Self.number(ticks.bitPattern, 8)), at: room.lowerBound)
    }
    guard !outline.hasCues, !outline.keyframes.isEmpty, let room = outline.seekHeadRoom else { return size }
    let cues = cues()
    let parts: [(id: UInt32, offset: Int64?)] = [
      (MatroskaElement.ID.info, outline.info), (MatroskaElement.ID.tracks, outline.tracks),
      (MatroskaElement.ID.cues, size),
    ]
    let seeks = parts.flatMap { part in part.offset.map { seek(part.id, $0) } ?? [] }
    let head = Self.element(MatroskaElement.ID.seekHead, seeks)
    guard let rest = Self.void(Int(room.count) - head.count) else { return size }
    do {
      try file.overwrite(cues, at: size)
    } catch {
      try file.truncate(to: size)
      return size
    }
    // The keyframes first: an index of parts never names what is not there.
    try file.synchronize()
    try file.overwrite(head + rest, at: room.lowerBound)
    let end = size + Int64(cues.count)
    if let offset = outline.unknownSize {
      try file.overwrite([1] + Self.number(UInt64(end - outline.content), 7), at: offset)
    }
    return end
  }

  private func cues() -> [UInt8] {
    Self.element(
      MatroskaElement.ID.cues,
      outline.keyframes.flatMap { keyframe in
        Self.element(
          MatroskaElement.ID.cuePoint,
          Self.element(MatroskaElement.ID.cueTime, Self.number(keyframe.time, 8))
            + Self.element(
              MatroskaElement.ID.cueTrackPositions,
              Self.element(MatroskaElement.ID.cueTrack, [1])
                + Self.element(MatroskaElement.ID.cueClusterPosition, Self.number(keyframe.cluster, 8))))
      })
  }

  private func seek(_ id: UInt32, _ offset: Int64) -> [UInt8] {
    Self.element(
      MatroskaElement.ID.seek,
      Self.element(MatroskaElement.ID.seekID, Self.number(UInt64(id), 4))
        + Self.element(MatroskaElement.ID.seekPosition, Self.number(UInt64(offset - outline.content), 8)))
  }

  /// An element with its head; the size in as few bytes as hold it.
  private static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] {
    // All ones would say "unknown".
    let length = (1...8).first { content.count < 1 << (7 * $0) - 1 } ?? 8
    return number(UInt64(id), 4).drop { $0 == 0 } + number(UInt64(content.count) | 1 << UInt64(7 * length), length)
      + content
  }

  /// An element of `count` bytes that holds nothing; nil when there is none of that length.
  private static func void(_ count: Int) -> [UInt8]? {
    if count == 0 { return [] }
    // One byte of id, eight of size.
    guard count >= 9 else { return nil }
    return [UInt8(MatroskaElement.ID.void), 1] + number(UInt64(count - 9), 7) + [UInt8](repeating: 0, count: count - 9)
  }

  private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }
}

extension SessionReader {
  /// Brings a media file whose writing was broken off into order: cuts the part of a block at its end, and completes it.
  /// - Parameters:
  ///   - path: which file.
  ///   - duration: its length in ns, given the time of its last whole block.
  /// - Returns: its size, and the time of its last whole block in ns, nil when it has none; nil when there is no such file.
  func completeFile(
    _ path: SegmentPath, duration: (Int64) -> Int64
  ) throws(RecorderError) -> (bytes: Int64, lastTime: Int64?)? {
    guard let media = try folder.folder(ArchiveLocation.Name.media),
      let file = try media.file(path.name, writing: true)
    else { return nil }
    var walker = try MatroskaWalker(file)
    let tail = try walker.tail()
    let outline = try walker.outline(size: tail?.end ?? 0, track: 1)
    let whole = walker.close()
    guard let tail, let outline else { return (try whole.size(), nil) }
    let last = tail.lastTime ?? 0
    if tail.end < (try whole.size()) {
      try whole.truncate(to: tail.end)
      if let repair = tail.repair { try whole.overwrite(repair.bytes, at: repair.offset) }
      try whole.synchronize()
    }
    let bytes = try MatroskaCompletion(outline: outline, size: tail.end).complete(whole, duration: duration(last))
    try whole.synchronize()
    return (bytes, tail.lastTime)
  }

  /// Completes the media file of `segment`, whose length is known.
  /// - Returns: its size; nil when nothing is in it.
  func completeSegment(_ segment: Manifest.Segment, duration: Int64) throws(RecorderError) -> Int64? {
    guard let path = SegmentPath(file: segment.file),
      let found = try completeFile(path, duration: { last in max(last, duration) }), found.lastTime != nil
    else { return nil }
    return found.bytes
  }
}
