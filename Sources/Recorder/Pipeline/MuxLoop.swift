internal import Archive
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The mux thread's work: writes packets to the media file as they come, hands everything on to the kernel at least once
/// a second, and notes in the event track that the recorder lives.
///
/// Packets of picture and sound come within a fraction of a second of each other, which Matroska's clusters allow, so
/// they are written in the order they come and none waits for a stream that is silent.
struct MuxLoop: ~Copyable {
  var files: MediaFiles
  let writer: SessionWriter
  let control: PipelineControl
  let packets: BoundedQueue<MuxItem>
  /// Takes events that are for the person too.
  let report: @Sendable (Event) -> Void
  private var mayBeBlack = true
  private var unflushed = false
  private var nextFlush: Int64 = 0
  private var nextAlive: Int64 = 0
  private var hasStarted = false

  /// Nanoseconds between two flushes: half of the second that may be lost, so that a flush and the wait before it fit.
  private static var flushInterval: Int64 { 500_000_000 }
  /// Nanoseconds between two `alive` events (DESIGN section 4: one a second).
  private static var aliveInterval: Int64 { 1_000_000_000 }
  /// A screen may be black for so many ns, between a log-in and its first window say, before the person is told.
  private static var blackTolerance: Int64 { 5_000_000_000 }
  /// A grab thread unheard of for so many ns is not attested: two heartbeats and some.
  private static var heartbeatTolerance: Int64 { 2_500_000_000 }

  init(
    files: consuming MediaFiles, writer: SessionWriter, control: PipelineControl,
    packets: BoundedQueue<MuxItem>, report: @escaping @Sendable (Event) -> Void
  ) {
    self.files = files
    (self.writer, self.control, self.packets, self.report) = (writer, control, packets, report)
  }

  /// Writes until the queue is closed and empty, then finishes the files.
  /// - Returns: the bytes of all files, and of the last one.
  /// - Throws: `RecorderError` (writeFailed) when the disk takes no more; what was written before stays.
  mutating func run() throws(RecorderError) -> (all: Int64, last: Int64) {
    nextFlush = MonotonicClock.now() + Self.flushInterval
    nextAlive = MonotonicClock.now() + Self.aliveInterval
    while true {
      switch packets.pop(until: min(nextAlive, unflushed ? nextFlush : .max)) {
      case .element(let item):
        control.writingSince.store(MonotonicClock.now(), ordering: .relaxed)
        let frame = item.stream == VideoEncodeLoop.stream ? item.packet.pts.nanoseconds : nil
        try files.write(item)
        if let frame { control.lastWritten.store(frame, ordering: .relaxed) }
        unflushed = true
        if !hasStarted { try start() }
      case .timedOut: break
      case .closed: return try files.finish()
      }
      try keepUp(at: MonotonicClock.now())
      control.writingSince.store(0, ordering: .relaxed)
    }
  }

  /// The recording counts as started when its first packet is on disk.
  private mutating func start() throws(RecorderError) {
    try flush()
    hasStarted = true
    _ = control.started.tryPush(true)
  }

  private mutating func keepUp(at now: Int64) throws(RecorderError) {
    if unflushed, now >= nextFlush || now >= nextAlive {
      try flush()
      nextFlush = now + Self.flushInterval
    }
    guard now >= nextAlive else { return }
    nextAlive = now + Self.aliveInterval
    // Attests only what the grab thread saw: a screen it cannot look at is not called still.
    let seen = control.heartbeat.load(ordering: .relaxed)
    let time = Timestamp(nanoseconds: now - control.epoch)
    guard hasStarted, now - seen < Self.heartbeatTolerance else { return }
    try writer.append(Event(time: time, kind: .alive))
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
    try files.flush()
    unflushed = false
  }
}
