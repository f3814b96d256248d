import SessionModel

/// What is whole in a Matroska file whose writer was killed.
struct MatroskaTail: Equatable {
  /// Bytes up to the end of the last whole block; what follows is a part of something.
  var end: Int64
  /// The file's time at its last whole block, in ns; nil when there is none.
  var lastTime: Int64?
  /// The size field of the last cluster, where it says more than is there, and what it is to be.
  var repair: (offset: Int64, bytes: [UInt8])?

  static func == (left: MatroskaTail, right: MatroskaTail) -> Bool {
    left.end == right.end && left.lastTime == right.lastTime && left.repair?.offset == right.repair?.offset
      && left.repair?.bytes == right.repair?.bytes
  }
}

/// Walks a Matroska file from element to element. It reads the heads of clusters alone and looks into the last ones, and
/// it believes nothing: sizes are checked against the file, and rubbish in the middle is passed over to the next cluster.
struct MatroskaWalker: ~Copyable {
  var window: FileWindow
  /// Nanoseconds a tick: 1 ms unless the file says otherwise (RFC 9559, TimestampScale).
  private(set) var scale: Int64 = 1_000_000
  /// The last cluster that was passed over without a look into it.
  private var passed: MatroskaElement?

  /// Walks `file`, whose owner it becomes.
  init(_ file: consuming FileDescriptor) throws(RecorderError) { window = try FileWindow(file) }

  /// Gives the file back.
  consuming func close() -> FileDescriptor { window.close() }

  /// What is whole of the file; nil when it has not even the head of a segment.
  mutating func tail() throws(RecorderError) -> MatroskaTail? {
    guard let header = try window.element(at: 0), header.id == MatroskaElement.ID.header, let end = header.end,
      let segment = try window.element(at: end), segment.id == MatroskaElement.ID.segment
    else { return nil }
    var tail = MatroskaTail(end: segment.content)
    var position = segment.content
    while position < window.size {
      guard let element = try window.element(at: position), let next = try step(over: element, at: position, &tail)
      else {
        // A part of an element, or rubbish: unless a cluster follows, the file ends here.
        guard let cluster = try nextCluster(after: position) else { break }
        (position, tail.repair) = (cluster, nil)
        continue
      }
      (position, tail.end) = (next, next)
    }
    if tail.lastTime == nil, let passed { tail.lastTime = try blocks(of: passed, limit: passed.end ?? 0).lastTime }
    return tail
  }

  /// Passes over `element` of the segment.
  /// - Returns: where the next one begins; nil when this one is not whole.
  private mutating func step(
    over element: MatroskaElement, at position: Int64, _ tail: inout MatroskaTail
  ) throws(RecorderError) -> Int64? {
    if element.id == MatroskaElement.ID.cluster { return try step(overCluster: element, at: position, &tail) }
    guard MatroskaElement.ID.inSegment.contains(element.id), let end = element.end, end <= window.size else {
      return nil
    }
    if element.id == MatroskaElement.ID.info { try readScale(in: element, end: end) }
    return end
  }

  private mutating func step(
    overCluster cluster: MatroskaElement, at position: Int64, _ tail: inout MatroskaTail
  ) throws(RecorderError) -> Int64? {
    // A cluster that something sane follows is as good as its size says.
    if let end = cluster.end, end < window.size, let next = try window.element(at: end),
      next.id == MatroskaElement.ID.cluster || MatroskaElement.ID.inSegment.contains(next.id)
    {
      (passed, tail.lastTime) = (cluster, nil)
      return end
    }
    let whole = try blocks(of: cluster, limit: cluster.end ?? window.size)
    guard let time = whole.lastTime else { return nil }
    tail.lastTime = time
    if whole.end != cluster.end, cluster.end != nil {
      tail.end = whole.end
      tail.repair = (
        cluster.sizeOffset, Self.sizeField(UInt64(whole.end - cluster.content), length: cluster.sizeLength)
      )
      return nil
    }
    return whole.end
  }

  /// The whole elements at the beginning of `cluster`, up to byte `limit`: where they end, and the time of the last
  /// block in ns (nil when there is none).
  private mutating func blocks(
    of cluster: MatroskaElement, limit: Int64
  ) throws(RecorderError) -> (end: Int64, lastTime: Int64?) {
    var (position, last) = (cluster.content, Int64?.none)
    var clusterTime: Int64?
    while position < limit, let element = try window.element(at: position),
      MatroskaElement.ID.inCluster.contains(element.id), let end = element.end, end <= min(limit, window.size)
    {
      switch element.id {
      case MatroskaElement.ID.timestamp:
        clusterTime = try number(in: element, end: end)
      case MatroskaElement.ID.simpleBlock:
        if let time = try blockTime(at: element.content, clusterTime) { last = max(last ?? time, time) }
      case MatroskaElement.ID.blockGroup:
        if let time = try groupTime(in: element, end: end, clusterTime) { last = max(last ?? time, time) }
      default: break
      }
      position = end
    }
    return (position, last)
  }

  /// The time at the end of a BlockGroup, in ns.
  private mutating func groupTime(
    in group: MatroskaElement, end: Int64, _ clusterTime: Int64?
  ) throws(RecorderError) -> Int64? {
    var (position, time, duration) = (group.content, Int64?.none, Int64(0))
    while position < end, let element = try window.element(at: position), let next = element.end, next <= end {
      if element.id == MatroskaElement.ID.block { time = try blockTime(at: element.content, clusterTime) }
      if element.id == MatroskaElement.ID.blockDuration {
        duration = try number(in: element, end: next).flatMap { scaled($0) } ?? 0
      }
      position = next
    }
    guard let time else { return nil }
    let (sum, overflow) = time.addingReportingOverflow(duration)
    return overflow ? time : sum
  }

  /// The time of the block whose content begins at `offset`, in ns: the cluster's, and 16 bits with a sign after the
  /// track's number.
  private mutating func blockTime(at offset: Int64, _ clusterTime: Int64?) throws(RecorderError) -> Int64? {
    guard let clusterTime, let first = try window.byte(at: offset), first != 0,
      let relative = try window.number(at: offset + Int64(first.leadingZeroBitCount) + 1, count: 2)
    else { return nil }
    let (ticks, overflow) = clusterTime.addingReportingOverflow(Int64(Int16(truncatingIfNeeded: relative)))
    return overflow ? nil : scaled(max(0, ticks))
  }

  private func scaled(_ ticks: Int64) -> Int64? {
    let (time, overflow) = ticks.multipliedReportingOverflow(by: scale)
    return overflow ? nil : time
  }

  /// The unsigned number that `element` holds; nil when 63 bits do not hold it.
  mutating func number(in element: MatroskaElement, end: Int64) throws(RecorderError) -> Int64? {
    guard (1...8).contains(end - element.content) else { return nil }
    return try window.number(at: element.content, count: Int(end - element.content)).flatMap { Int64(exactly: $0) }
  }

  mutating func readScale(in info: MatroskaElement, end: Int64) throws(RecorderError) {
    var position = info.content
    while position < end, let element = try window.element(at: position), let next = element.end, next <= end {
      if element.id == MatroskaElement.ID.timestampScale, let value = try number(in: element, end: next), value > 0 {
        scale = value
      }
      position = next
    }
  }

  /// Where the next cluster after `position` begins that has a block of its own.
  private mutating func nextCluster(after position: Int64) throws(RecorderError) -> Int64? {
    var (offset, seen) = (position + 1, UInt32(0))
    while let byte = try window.byte(at: offset) {
      seen = seen << 8 | UInt32(byte)
      offset += 1
      guard seen == MatroskaElement.ID.cluster, offset - 4 > position else { continue }
      if let cluster = try window.element(at: offset - 4),
        try blocks(of: cluster, limit: cluster.end ?? window.size).lastTime != nil
      {
        return offset - 4
      }
    }
    return nil
  }

  /// `value` as a size field of `length` bytes; it is less than what the field held before, so it fits.
  private static func sizeField(_ value: UInt64, length: Int) -> [UInt8] {
    let marked = value | UInt64(1) << UInt64(7 * length)
    return (0..<length).reversed().map { UInt8(truncatingIfNeeded: marked >> UInt64(8 * $0)) }
  }
}
