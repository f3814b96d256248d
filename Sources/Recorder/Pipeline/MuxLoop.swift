internal import Archive
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The mux thread's work: writes packets to the media file as they come, hands everything on to the kernel at least once
/// a second, and notes in the event track that the recorder lives. While the capture is held, packets go into its ring.
///
/// Packets of picture and sound come within a fraction of a second of each other, which Matroska's clusters allow, so
/// they are written in the order they come and none waits for a stream that is silent.
struct MuxLoop: ~Copyable {
  /// Nil while the capture is held.
  private var files: MediaFiles?
  private let sink: CaptureSink
  private let control: PipelineControl
  private let packets: BoundedQueue<MuxItem>
  /// Takes events that are for the person too.
  private let report: @Sendable (Event) -> Void
  private var mayBeBlack = true
  private var unflushed = false
  private var nextFlush: Int64 = 0
  private var nextAlive: Int64 = 0
  private var hasStarted = false

  /// Nanoseconds between two flushes. Of the second that may be lost the mix takes 100 ms, waits for a late input 500 at
  /// most, and a frame of AAC is 21; what this leaves is for a busy machine.
  private static var flushInterval: Int64 { 250_000_000 }
  /// Nanoseconds between two `alive` events: on a still screen what was recorded since the last one is lost, and the
  /// 400 ms up to the second are left to a busy machine.
  private static var aliveInterval: Int64 { 600_000_000 }
  /// A screen may be black for so many ns, between a log-in and its first window say, before the person is told.
  private static var blackTolerance: Int64 { 5_000_000_000 }
  /// A grab thread unheard of for so many ns is not attested: two heartbeats and some.
  private static var heartbeatTolerance: Int64 { 2_500_000_000 }

  /// - Parameter new: the session to write into; nil holds what comes in the sink's ring.
  /// - Throws: `RecorderError` when the file cannot be begun.
  init(
    _ new: NewSession?, sink: CaptureSink, control: PipelineControl, packets: BoundedQueue<MuxItem>,
    report: @escaping @Sendable (Event) -> Void
  ) throws(RecorderError) {
    if let new { files = try MediaFiles(new, control: control) }
    (self.sink, self.control, self.packets, self.report) = (sink, control, packets, report)
  }

  /// Works until the queue is closed and empty, then finishes the files.
  /// - Returns: the bytes of all files, and of the last one; of none when nothing was kept.
  /// - Throws: `RecorderError` (writeFailed) when the disk takes no more; what was written before stays.
  mutating func run() throws(RecorderError) -> (all: Int64, last: Int64) {
    nextFlush = MonotonicClock.now() + Self.flushInterval
    nextAlive = MonotonicClock.now() + Self.aliveInterval
    while true {
      switch packets.pop(until: min(nextAlive, unflushed ? nextFlush : .max)) {
      case .element(let item): try take(item)
      case .timedOut: break
      case .closed:
        if let publication = sink.closeOffers() { try publish(publication) }
        guard var files = files.take() else { return (0, 0) }
        isAtWork()
        defer { control.writingSince.store(0, ordering: .relaxed) }
        return try files.finish()
      }
      if let publication = sink.takeOffer() { try publish(publication) }
      try keepUp(at: MonotonicClock.now())
      control.writingSince.store(0, ordering: .relaxed)
    }
  }

  /// Notes that another call on the disk begins.
  private func isAtWork() { control.writingSince.store(MonotonicClock.now(), ordering: .relaxed) }

  private mutating func take(_ item: consuming MuxItem) throws(RecorderError) {
    isAtWork()
    let frame = item.stream == VideoEncodeLoop.stream ? item.packet.pts.nanoseconds : nil
    defer { if let frame { control.lastWritten.store(frame, ordering: .relaxed) } }
    if var files = files.take() {
      try files.write(item)
      self.files = consume files
      unflushed = true
    } else {
      sink.ring?.add(item)
    }
    if !hasStarted { try start() }
  }

  /// The recording counts as started when its first packet is on disk, or held.
  private mutating func start() throws(RecorderError) {
    try flush()
    hasStarted = true
    _ = control.started.tryPush(true)
  }

  /// Goes on in a session, which first gets what is held from its beginning on. What is captured meanwhile is put behind
  /// that, so that a slow disk keeps nobody from capturing until the ring is full.
  private mutating func publish(_ publication: CaptureSink.Publication) throws(RecorderError) {
    defer { sink.didAnswer() }
    guard files == nil, let ring = sink.ring else { return }
    do throws(RecorderError) {
      isAtWork()
      let begun = try MediaFiles(publication.new, control: control)
      let (events, mark) = ring.events(from: publication.new.session.origin)
      for event in events {
        isAtWork()
        try publication.new.session.writer.append(event)
      }
      sink.publish(publication, after: mark)
      files = consume begun
    } catch {
      // The capture is held as before.
      return publication.answer(error)
    }
    control.refreshInterval.store(.max, ordering: .relaxed)
    do throws(RecorderError) {
      while let item = ring.takePacket() {
        try take(item)
        while ring.hasRoom, let next = packets.tryPop() { ring.add(next) }
        try keepUp(at: MonotonicClock.now())
      }
      try flush()
    } catch {
      publication.answer(error)
      throw error
    }
    publication.answer(nil)
  }

  private mutating func keepUp(at now: Int64) throws(RecorderError) {
    if unflushed, now >= nextFlush || now >= nextAlive {
      try flush()
      nextFlush = now + Self.flushInterval
    }
    guard now >= nextAlive else { return }
    nextAlive = now + Self.aliveInterval
    control.lookAfterOthers(at: now)
    let time = Timestamp(nanoseconds: now - control.epoch)
    if files == nil, let text = sink.ring?.warning() { report(Event(time: time, kind: .warning, text: text)) }
    // Attests only what the grab thread saw: a screen it cannot look at is not called still.
    let seen = control.heartbeat.load(ordering: .relaxed)
    guard hasStarted, now - seen < Self.heartbeatTolerance else { return }
    let alive = Event(time: time, kind: .alive)
    if var files = files.take() {
      isAtWork()
      files.attest(alive, report)
      self.files = consume files
    } else {
      sink.append(alive)
    }
    lookForBlackness(at: time)
  }

  /// A picture that stays black is most likely one that the server does not give away.
  private mutating func lookForBlackness(at time: Timestamp) {
    guard mayBeBlack, time.nanoseconds >= Self.blackTolerance else { return }
    mayBeBlack = false
    guard !control.sawPicture.load(ordering: .relaxed) else { return }
    report(
      Event(
        time: time, kind: .warning,
        text: "The picture has been wholly black from the start: see whether this is the display you mean, and whether "
          + "its screen is on. Under Wayland only X11 windows can be recorded (window:…)."))
  }

  private mutating func flush() throws(RecorderError) {
    guard var files = files.take() else { return }
    isAtWork()
    try files.flush()
    self.files = consume files
    unflushed = false
  }
}
