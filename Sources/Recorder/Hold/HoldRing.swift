internal import CLinux
import Glibc
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The ring of a held capture as its threads share it: the mux thread and those that tell of events fill it, those that
/// save look into it. Packets are encoded once and never copied: who saves has his own hold on the same bytes.
final class HoldRing: Sendable {
  /// A part of what is held, as a session is made of it.
  struct Span: Sendable {
    /// On the capture's time line.
    let start: Timestamp, end: Timestamp
    /// The packets of all streams, in order; closed.
    let packets: BoundedQueue<MuxItem>
    /// The events, on the session's time line.
    let events: [Event]
    /// What was in force at its beginning.
    let state: StateInForce
    /// The first picture's.
    let format: PictureFormat?
    let pictures: Int
    /// The packets' own bytes.
    let bytes: Int64
  }

  private struct Waiter {
    /// Until where the stretch is to reach.
    let time: Timestamp
    /// The first picture at that time or later, once it is there.
    var end: Timestamp?
    let answer: BoundedQueue<Timestamp>
  }

  private struct Content: ~Copyable {
    var ring: CaptureRing<MuxItem>
    /// How many frames had been left out at each keyframe.
    var drops = RingBuffer<(time: Timestamp, count: Int)>()
    var waiters: [Waiter] = []
    var isClosed = false
    var hasWarned = false
  }

  /// What the ring was asked to hold.
  let options: HoldOptions
  private let control: PipelineControl
  private let streamCount: Int
  private let content: Mutex<Content>

  /// Bytes that a packet is reckoned to cost beside its own: FFmpeg's three structures, their malloc headers, the encoder's
  /// side data and the ring's entry. An estimate; with it a process grows by a little less than what its ring counts.
  private static let packetOverhead = 512

  /// Bytes from which a block has pages of its own, which go back to the system when it is freed: glibc's own measure
  /// grows with each freed block up to 32 MiB, and packets of ever other sizes then leave holes in the heap, which came to
  /// an eighth of the ring. Below it a heap that is full of holes costs little.
  private static let ownPagesFrom = 32 << 10
  /// Bytes that allocators put around a packet: FFmpeg's padding and alignment of 64 each, and malloc's header.
  private static let blockOverhead = 64 + 64 + 16

  /// Bytes of the system's that a packet of `bytes` takes.
  static func cost(ofPacket bytes: Int) -> Int {
    let block = bytes + blockOverhead
    guard block >= ownPagesFrom else { return bytes + packetOverhead }
    let page = sysconf(Int32(_SC_PAGESIZE))
    return (block + page - 1) / page * page + packetOverhead
  }

  /// An empty ring; the process's large blocks get pages of their own from now on.
  init(_ options: HoldOptions, streams: Int, control: PipelineControl) {
    mallopt(M_MMAP_THRESHOLD, Int32(Self.ownPagesFrom))
    (self.options, streamCount, self.control) = (options, streams, control)
    content = Mutex(Content(ring: CaptureRing(streams: streams, span: options.span, limit: Int(options.memory))))
  }

  /// Adds a packet, on the mux thread.
  func add(_ item: consuming MuxItem) {
    let stream = item.stream
    var taken = Optional(item)
    content.withLock { content in
      guard let item = taken.take() else { return }
      let (time, isKeyframe) = (item.packet.pts, item.packet.isKeyframe)
      let end = time + (stream == 0 ? 0 : item.packet.duration)
      let bytes = Self.cost(ofPacket: item.packet.byteCount)
      content.ring.append(item, stream: stream, time: time, end: end, isKeyframe: isKeyframe, bytes: bytes)
      if stream == 0, isKeyframe { Self.noteDrops(&content, at: time, control.droppedFrames.load(ordering: .relaxed)) }
      control.heldSince.store(content.ring.keptSince.nanoseconds, ordering: .relaxed)
      if content.ring.wishesKeyframe() { control.requestKeyframe() }
      if !content.waiters.isEmpty { Self.tellWaiters(&content, stream == 0 ? time : nil) }
    }
  }

  private static func noteDrops(_ content: inout Content, at time: Timestamp, _ count: Int) {
    content.drops.append((time, count))
    while content.drops.count > 1, content.drops[1].time <= content.ring.start ?? .zero {
      _ = content.drops.removeFirst()
    }
  }

  private static func tellWaiters(_ content: inout Content, _ picture: Timestamp?) {
    for index in content.waiters.indices.reversed() {
      if content.waiters[index].end == nil, let picture, picture >= content.waiters[index].time {
        content.waiters[index].end = picture
      }
      guard let end = content.waiters[index].end, content.ring.hasSound(to: end) else { continue }
      _ = content.waiters[index].answer.tryPush(end)
      content.waiters.remove(at: index)
    }
  }

  /// Adds an event.
  func add(_ event: Event) { content.withLock { $0.ring.append(event) } }

  /// Waits until a picture of `time` or later is there, and all sound up to it.
  /// - Parameter deadline: monotonic ns at which it is not waited for any longer.
  /// - Returns: the picture's time; nil when it did not come.
  func wait(for time: Timestamp, until deadline: Int64) -> Timestamp? {
    let answer = BoundedQueue<Timestamp>(capacity: 1)
    content.withLock { content in
      if content.isClosed { answer.close() } else { content.waiters.append(Waiter(time: time, answer: answer)) }
    }
    if case .element(let end) = answer.pop(until: deadline) { return end }
    content.withLock { content in content.waiters.removeAll { $0.answer === answer } }
    return nil
  }

  /// Lets nobody wait any longer: no more packets come.
  func close() {
    content.withLock { content in
      content.isClosed = true
      for waiter in content.waiters { waiter.answer.close() }
      content.waiters = []
    }
  }

  /// Frames that the encoder was too busy for from the keyframe at `time` until now.
  func droppedFrames(since time: Timestamp) -> Int {
    content.withLock { content in
      var before = 0
      for index in 0..<content.drops.count where content.drops[index].time <= time {
        before = content.drops[index].count
      }
      return control.droppedFrames.load(ordering: .relaxed) - before
    }
  }

  /// Keeps all from the keyframe at or before `time` on, until it is unpinned.
  /// - Returns: nil when nothing is held.
  func pin(at time: Timestamp) -> CaptureRing<MuxItem>.Pin? { content.withLock { $0.ring.pin(at: time) } }

  /// Lets that be given up again.
  func unpin(_ pin: CaptureRing<MuxItem>.Pin) { content.withLock { $0.ring.unpin(pin) } }

  /// The stretch from the keyframe at or before `start` to `end`; the ring stays as it is.
  /// - Parameter open: gaps that have not ended yet.
  /// - Returns: nil when nothing is held.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  func span(from start: Timestamp, to end: Timestamp, open: [Gap]) throws(RecorderError) -> Span? {
    try content.withLock { (content) throws(RecorderError) -> Span? in
      guard let cut = content.ring.cut(at: start), cut <= end else { return nil }
      var (count, pictures, bytes, format) = (0, 0, Int64(0), PictureFormat?.none)
      content.ring.forEach(from: cut, to: end) { stream, item in
        count += 1
        if stream == 0 { pictures += 1 }
        format = format ?? item.format
        bytes += Int64(item.packet.byteCount)
      }
      let packets = BoundedQueue<MuxItem>(capacity: count)
      try content.ring.forEach(from: cut, to: end) { (_, item) throws(RecorderError) in
        _ = packets.tryPush(try item.share())
      }
      packets.close()
      return Span(
        start: cut, end: end, packets: packets,
        events: content.ring.events.session(from: cut, to: end, open: open),
        state: content.ring.events.state(at: cut), format: format, pictures: pictures, bytes: bytes)
    }
  }

  /// Nanoseconds and bytes that are held now, and whether the bytes are too few for the span that was asked for.
  var held: (span: Int64, bytes: Int, isShort: Bool) {
    content.withLock { content in
      let span = content.ring.start.map { max(0, content.ring.end - $0) } ?? 0
      return (span, content.ring.bytes, content.ring.isShort && span < options.span)
    }
  }

  /// What is held: from its first picture to its newest packet; nil when it is nothing.
  var extent: (start: Timestamp, end: Timestamp)? {
    content.withLock { content in content.ring.start.map { ($0, content.ring.end) } }
  }

  /// What the person is to be told: once, until the span was whole again.
  func warning() -> String? {
    let (span, _, isShort) = held
    let isNew = content.withLock { content in
      defer { content.hasWarned = isShort || content.hasWarned && span < options.span }
      return isShort && !content.hasWarned
    }
    guard isNew else { return nil }
    return
      "\(options.memory / 1_000_000) MB hold only \(Timestamp(nanoseconds: span)) of the \(Timestamp(nanoseconds: options.span)) that were asked for; give --memory more."
  }
}

/// What a publication takes out of the ring.
extension HoldRing {
  /// What was in force at the keyframe `start`, the picture there, and what had been counted before it.
  func beginning(at start: Timestamp) -> (state: StateInForce, format: PictureFormat?, before: OpenSession.Counts) {
    let (state, format, pictures) = content.withLock { content in
      var (pictures, format) = (0, PictureFormat?.none)
      content.ring.forEach(from: start, to: content.ring.end) { stream, item in
        pictures += stream == 0 ? 1 : 0
        format = format ?? item.format
      }
      return (content.ring.events.state(at: start), format, pictures)
    }
    let dropped = control.droppedFrames.load(ordering: .relaxed) - droppedFrames(since: start)
    let frames = max(0, control.frames.load(ordering: .relaxed) - pictures)
    return (state, format, OpenSession.Counts(frames: frames, dropped: dropped))
  }

  /// How many events the ring had been given at a moment.
  struct EventMark: Sendable { fileprivate let count: Int }

  /// The events of a session that begins at `start`, on its time line, and where those that come later begin.
  func events(from start: Timestamp) -> (events: [Event], mark: EventMark) {
    content.withLock { content in
      let events = content.ring.events.session(from: start, to: Timestamp(nanoseconds: .max), open: [])
      return (events, EventMark(count: content.ring.events.total))
    }
  }

  /// The events that were given since `mark`, on the time line of the session that begins at `start`.
  func events(after mark: EventMark, from start: Timestamp) -> [Event] {
    content.withLock { $0.ring.events.added(after: mark.count).compactMap { event in event.moved(to: start) } }
  }

  /// Gives up what lies before `time`.
  func drop(before time: Timestamp) { content.withLock { $0.ring.drop(before: time) } }

  /// Takes the earliest packet; nil when all were taken.
  func takePacket() -> MuxItem? {
    content.withLock { content in
      guard let taken = content.ring.removeFirst() else { return nil }
      return taken.take()
    }
  }

  /// Whether more can be put in without growing past the bound.
  var hasRoom: Bool { content.withLock { $0.ring.bytes < Int(options.memory) } }
}
