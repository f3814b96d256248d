import SessionModel

/// The newest stretch of a capture, bounded in time and in bytes: the packets of all its streams and the events beside
/// them. Pure, so that it is tested without a codec; `Payload` is the packet.
///
/// It begins with a keyframe of the picture, which is stream 0, and gives up whole groups from the beginning: a keyframe
/// and all that lies before the next one. So whatever it holds can be decoded.
struct CaptureRing<Payload: ~Copyable>: ~Copyable {
  /// One packet.
  struct Entry: ~Copyable {
    /// When it is shown or heard, on the capture's time line.
    let time: Timestamp
    /// What it counts for.
    let bytes: Int
    /// The packet.
    let payload: Payload

    /// Gives the packet away.
    consuming func take() -> Payload { payload }
  }

  /// A packet that was taken out.
  struct Taken: ~Copyable {
    let stream: Int
    let payload: Payload

    /// Gives the packet away.
    consuming func take() -> Payload { payload }
  }

  /// Nanoseconds that are to be held: at least so long, and at most a group longer.
  private let span: Int64
  /// Bytes that may be held.
  private let limit: Int
  private var streams: RingBuffer<RingBuffer<Entry>>
  private var keyframes = RingBuffer<Timestamp>()
  /// Where each stream's newest packet ends.
  private var ends: [Timestamp]
  /// The events, and what was in force where they begin.
  private(set) var events = HeldEvents()
  private var packetBytes = 0
  /// What the packets after the newest keyframe count for, and whether the next one was asked for already.
  private var groupBytes = 0
  private var hasWished = false
  private var newest = Timestamp.zero
  /// The bytes were too few for the span when a group was last given up.
  private(set) var isShort = false
  /// What lies at one of these times and later is not given up, whatever it counts for.
  private var pins: [Int: Timestamp] = [:]
  private var lastPin = 0

  /// Makes an empty ring.
  /// - Parameters:
  ///   - streams: the picture, which is the first, and the sound's tracks.
  ///   - span: nanoseconds to hold.
  ///   - limit: bytes to hold at most.
  init(streams count: Int, span: Int64, limit: Int) {
    (self.span, self.limit) = (span, limit)
    streams = RingBuffer(capacity: count)
    for _ in 0..<count { streams.append(RingBuffer()) }
    ends = Array(repeating: .zero, count: count)
  }

  /// What is held counts for so many bytes.
  var bytes: Int { packetBytes + events.bytes }
  /// The first picture's time; nil when nothing is held.
  var start: Timestamp? { keyframes.count > 0 ? keyframes[0] : nil }
  /// Since when something is held, or somebody still counts on it.
  var keptSince: Timestamp { min(start ?? newest, pins.values.min() ?? newest) }
  /// Where the newest packet of any stream begins.
  var end: Timestamp { newest }
  /// Where the newest picture is; nil when nothing is held.
  var lastPicture: Timestamp? { keyframes.count > 0 ? ends[0] : nil }

  /// Whether the newest group has become so large that the next one should begin; said once a group.
  mutating func wishesKeyframe() -> Bool {
    // An eighth of all that may be held: giving a group up does not cost much of the span then.
    guard !hasWished, groupBytes > limit / 8 else { return false }
    hasWished = true
    return true
  }

  /// Whether every stream but the picture has come as far as `time`.
  func hasSound(to time: Timestamp) -> Bool { ends.dropFirst().allSatisfy { $0 >= time } }

  /// Adds a packet; a picture that cannot be decoded by what is held is left out.
  /// - Parameters:
  ///   - time: never before the last one's of its stream.
  ///   - end: where it ends; a picture's own time.
  ///   - bytes: what it counts for.
  mutating func append(
    _ payload: consuming Payload, stream: Int, time: Timestamp, end: Timestamp, isKeyframe: Bool, bytes: Int
  ) {
    ends[stream] = end
    newest = max(newest, time)
    if stream == 0 {
      if isKeyframe {
        if keyframes.count == 0 { drop(before: time) }
        keyframes.append(time)
        (groupBytes, hasWished) = (-bytes, false)
      } else if keyframes.count == 0 {
        return
      }
    }
    streams[stream].append(Entry(time: time, bytes: bytes, payload: payload))
    packetBytes += bytes
    groupBytes += bytes
    giveUp()
  }

  /// Adds an event.
  mutating func append(_ event: Event) {
    events.append(event)
    giveUp()
  }

  /// A promise that nothing from a keyframe on is given up.
  struct Pin: Hashable {
    /// The keyframe's time.
    let start: Timestamp
    fileprivate let number: Int
  }

  /// Keeps all from the keyframe at or before `time` on, until it is unpinned.
  /// - Returns: nil when nothing is held.
  mutating func pin(at time: Timestamp) -> Pin? {
    guard let start = cut(at: time) else { return nil }
    lastPin += 1
    pins[lastPin] = start
    return Pin(start: start, number: lastPin)
  }

  /// Takes the promise back.
  mutating func unpin(_ pin: Pin) {
    pins[pin.number] = nil
    giveUp()
  }

  /// The last keyframe at or before `time`, else the first one; nil when nothing is held.
  func cut(at time: Timestamp) -> Timestamp? {
    var index = keyframes.count - 1
    while index > 0, keyframes[index] > time { index -= 1 }
    return index < 0 ? nil : keyframes[index]
  }

  /// Calls `body` with each packet from `start` to `end`, all streams in the order of their times.
  func forEach<Failure: Error>(
    from start: Timestamp, to end: Timestamp, _ body: (Int, borrowing Payload) throws(Failure) -> Void
  ) throws(Failure) {
    var places = Array(repeating: 0, count: streams.count)
    for stream in places.indices {
      while places[stream] < streams[stream].count, streams[stream][places[stream]].time < start { places[stream] += 1 }
    }
    while let stream = earliest(at: places), streams[stream][places[stream]].time <= end {
      try body(stream, streams[stream][places[stream]].payload)
      places[stream] += 1
    }
  }

  /// Takes the earliest packet out of the ring; nil when none is held.
  mutating func removeFirst() -> Taken? {
    guard let stream = earliest(at: Array(repeating: 0, count: streams.count)),
      let entry = streams[stream].removeFirst()
    else { return nil }
    packetBytes -= entry.bytes
    // Nothing can be cut where the picture is gone.
    if stream == 0, keyframes.count > 0, keyframes[0] <= entry.time { _ = keyframes.removeFirst() }
    return Taken(stream: stream, payload: entry.take())
  }

  /// Gives up all that lies before `time`.
  mutating func drop(before time: Timestamp) {
    while keyframes.count > 0, keyframes[0] < time { _ = keyframes.removeFirst() }
    for stream in 0..<streams.count {
      while streams[stream].count > 0, streams[stream][0].time < time {
        packetBytes -= streams[stream][0].bytes
        _ = streams[stream].removeFirst()
      }
    }
    events.drop(before: time)
  }

  /// The stream whose packet at its place is the earliest; nil when all are at their ends.
  private func earliest(at places: [Int]) -> Int? {
    var found: Int?
    for stream in places.indices where places[stream] < streams[stream].count {
      let time = streams[stream][places[stream]].time
      if let other = found, streams[other][places[other]].time <= time { continue }
      found = stream
    }
    return found
  }

  private mutating func giveUp() {
    let pinned = pins.values.min()
    while keyframes.count > 1, pinned.map({ keyframes[1] <= $0 }) ?? true {
      let isOld = newest - keyframes[1] >= span
      guard isOld || bytes > limit else { return }
      isShort = !isOld
      drop(before: keyframes[1])
    }
    // One group that is larger than the bound cannot be kept in part: the ring begins anew with the next keyframe.
    if bytes > limit, pinned == nil, keyframes.count <= 1 {
      isShort = true
      drop(before: newest + 1)
    }
  }
}
