import SessionModel

/// Where the parts of a Matroska file are that say how long it is and where its keyframes are.
struct MatroskaOutline: Equatable {
  /// A keyframe of the picture.
  struct Keyframe: Equatable {
    /// Its time, in ticks.
    var time: UInt64
    /// Where its cluster begins, from the segment's content on.
    var cluster: UInt64
  }

  /// Where the segment's size is, if it is one of 8 bytes that says "unknown".
  var unknownSize: Int64?
  /// Where the segment's content begins.
  var content: Int64
  /// Bytes that the muxer kept for an index of the parts.
  var seekHeadRoom: Range<Int64>?
  /// Bytes that it kept for the length.
  var durationRoom: Range<Int64>?
  /// Where Info and Tracks begin.
  var info: Int64?, tracks: Int64?
  /// Nanoseconds a tick.
  var scale: Int64 = 1_000_000
  /// Whether it has an index of keyframes.
  var hasCues = false
  /// The picture's keyframes.
  var keyframes: [Keyframe] = []
}

extension MatroskaWalker {
  /// The outline of the file's first `size` bytes, which are whole; nil when it has no segment.
  /// - Parameter track: Matroska's number of the picture's track.
  mutating func outline(size: Int64, track: UInt64) throws(RecorderError) -> MatroskaOutline? {
    guard let header = try window.element(at: 0), header.id == MatroskaElement.ID.header, let end = header.end,
      let segment = try window.element(at: end), segment.id == MatroskaElement.ID.segment
    else { return nil }
    var outline = MatroskaOutline(content: segment.content)
    if segment.end == nil, segment.sizeLength == 8 { outline.unknownSize = segment.sizeOffset }
    var position = segment.content
    while position < size, let element = try window.element(at: position) {
      let end = min(element.end ?? size, size)
      switch element.id {
      case MatroskaElement.ID.cluster:
        outline.keyframes += try keyframes(of: element, end: end, track).map { time in
          MatroskaOutline.Keyframe(time: time, cluster: UInt64(position - segment.content))
        }
      case MatroskaElement.ID.void:
        if position == segment.content { outline.seekHeadRoom = position..<end }
      case MatroskaElement.ID.info:
        outline.info = position
        try look(into: element, end: end, &outline)
      case MatroskaElement.ID.tracks: outline.tracks = position
      case MatroskaElement.ID.cues: outline.hasCues = true
      default: break
      }
      guard end > position else { break }
      position = end
    }
    outline.scale = scale
    return outline
  }

  private mutating func look(
    into info: MatroskaElement, end: Int64, _ outline: inout MatroskaOutline
  ) throws(RecorderError) {
    try readScale(in: info, end: end)
    var position = info.content
    while position < end, let element = try window.element(at: position), let next = element.end, next <= end {
      if element.id == MatroskaElement.ID.void, next - position == MatroskaCompletion.durationLength {
        outline.durationRoom = position..<next
      }
      position = next
    }
  }

  /// The times of the keyframes of `track` in `cluster`, in ticks.
  private mutating func keyframes(
    of cluster: MatroskaElement, end: Int64, _ track: UInt64
  ) throws(RecorderError) -> [UInt64] {
    var (position, clusterTime, times) = (cluster.content, Int64?.none, [UInt64]())
    while position < end, let element = try window.element(at: position), let next = element.end, next <= end {
      if element.id == MatroskaElement.ID.timestamp { clusterTime = try number(in: element, end: next) }
      if element.id == MatroskaElement.ID.simpleBlock, let clusterTime,
        let first = try window.byte(at: element.content), first.leadingZeroBitCount < 8
      {
        // Track number, 16 bits of time, flags of which the highest says keyframe (RFC 9559, SimpleBlock).
        let length = first.leadingZeroBitCount + 1
        let mask = UInt64(1) << UInt64(7 * length) - 1
        if let number = try window.number(at: element.content, count: length), number & mask == track,
          let rest = try window.number(at: element.content + Int64(length), count: 3), rest & 0x80 != 0
        {
          let (sum, overflow) = clusterTime.addingReportingOverflow(
            Int64(Int16(truncatingIfNeeded: rest >> 8)))
          if !overflow { times.append(UInt64(max(0, sum))) }
        }
      }
      position = next
    }
    return times
  }
}
