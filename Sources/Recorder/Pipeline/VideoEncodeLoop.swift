internal import Media
import SessionModel
import Synchronization
internal import Threading

/// One packet on its way to the file.
struct MuxItem: ~Copyable {
  /// The encoded packet.
  let packet: Packet
  /// The stream it belongs to: its place in the file, from 0.
  let stream: Int
  /// Of a picture, what its file has to know of it: another one begins another file.
  var format: PictureFormat?
  /// Whether it is the first of a new file.
  var startsSegment = false

  /// Gives the packet away.
  consuming func takePacket() -> Packet { packet }

  /// The same once more, of the same bytes; it begins no file by itself.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  borrowing func share() throws(RecorderError) -> MuxItem {
    MuxItem(packet: try packet.share(), stream: stream, format: format)
  }
}

/// The encode thread's work: frames in, packets out. It keeps the last picture back, to repeat it at the end. A picture of
/// another size goes to another encoder, which was opened when the size was wished for.
struct VideoEncodeLoop: ~Copyable {
  /// An encoder and what it is for.
  struct Encoding: ~Copyable {
    var encoder: VideoEncoder
    let format: PictureFormat

    /// Opens an encoder of pictures of `size` pixels, whose stream a media file takes.
    /// - Throws: `RecorderError` (unavailable, usage) when there is no such encoder or it refuses its settings.
    init(_ settings: VideoEncoderSettings, size: PixelSize) throws(RecorderError) {
      let encoder = try VideoEncoder(settings.sized(for: size))
      try ContainerWriter.check(.matroska, takes: encoder.stream)
      format = PictureFormat(size: size, stream: encoder.stream)
      self.encoder = encoder
    }
  }

  private var encoding: Encoding
  /// The encoder of the size that comes next.
  private var next: Encoding?
  private let settings: VideoEncoderSettings
  private let sizes: PictureSizes
  let control: PipelineControl
  let free: BoundedQueue<Picture>
  let filled: BoundedQueue<EncodeJob>
  let packets: BoundedQueue<MuxItem>
  private var last: EncodeJob?
  private var lastKeyframe = Timestamp.zero

  /// Pictures in flight: one being filled, one waiting, and one being encoded, or kept back once it is.
  static var pictures: Int { 3 }
  /// The video's place in the file.
  static var stream: Int { 0 }

  init(
    _ encoding: consuming Encoding, _ settings: VideoEncoderSettings, sizes: PictureSizes, control: PipelineControl,
    free: BoundedQueue<Picture>, filled: BoundedQueue<EncodeJob>, packets: BoundedQueue<MuxItem>
  ) {
    self.encoding = encoding
    (self.settings, self.sizes) = (settings, sizes)
    (self.control, self.free, self.filled, self.packets) = (control, free, filled, packets)
  }

  /// Encodes until the queue of frames is closed and empty; then repeats the last picture at the time of the stop, so
  /// that the file lasts as long as the recording did, and flushes the encoder.
  /// - Throws: `RecorderError` when the encoder fails.
  mutating func run() throws(RecorderError) {
    loop: while true {
      if let size = sizes.takeWish() { prepare(size) }
      switch filled.pop(until: refreshDue) {
      case .element(let job):
        control.encodingSince.store(MonotonicClock.now(), ordering: .relaxed)
        if job.size != encoding.format.size { try change(at: job.time) }
        // This one is kept back from here on, so that the one before can be filled while it is encoded.
        if let previous = last.take() { _ = free.tryPush(previous.picture) }
        try encode(job.picture, at: job.time, keyframe: job.keyframe, startsSegment: job.startsSegment)
        control.encodingSince.store(0, ordering: .relaxed)
        control.lastEncoded.store(job.time.nanoseconds, ordering: .relaxed)
        last = consume job
      case .timedOut: try refresh()
      case .closed: break loop
      }
    }
    control.encodingSince.store(MonotonicClock.now(), ordering: .relaxed)
    defer { control.encodingSince.store(0, ordering: .relaxed) }
    if let job = last.take() {
      let end = Timestamp(nanoseconds: (control.stopRequested ?? MonotonicClock.now()) - control.epoch)
      if end - job.time >= VideoTiming.tick { try encode(job.picture, at: end, keyframe: false) }
    }
    try finishEncoder()
  }

  /// Opens the encoder of pictures of `size` pixels, so that it is there when they come.
  private mutating func prepare(_ size: PixelSize) {
    do throws(RecorderError) {
      next = try Encoding(settings, size: size)
      sizes.accept(size)
      control.wake.notify()
    } catch {
      sizes.refuse(size, error)
    }
  }

  /// Goes on with the encoder that was prepared, from `time` on. Up to there the last picture stands in its own size.
  private mutating func change(at time: Timestamp) throws(RecorderError) {
    guard let next = next.take() else {
      throw RecorderError(.brokenInvariant, "A picture came for which no encoder was opened.")
    }
    if let job = last.take() {
      let end = time + -VideoTiming.tick
      if end - job.time >= VideoTiming.tick { try encode(job.picture, at: end, keyframe: false) }
      _ = free.tryPush(job.picture)
    }
    try finishEncoder()
    encoding = next
  }

  private mutating func finishEncoder() throws(RecorderError) {
    let (packets, format) = (packets, encoding.format)
    try encoding.encoder.finish { packet in
      _ = packets.push(MuxItem(packet: packet, stream: Self.stream, format: format))
    }
  }

  /// When the last picture is to be encoded once more, in monotonic ns.
  private var refreshDue: Int64 {
    guard last != nil else { return .max }
    let interval = control.refreshInterval.load(ordering: .relaxed)
    let regular = interval == .max ? .max : control.epoch + lastKeyframe.nanoseconds + interval
    let due = min(regular, control.refreshTime.load(ordering: .relaxed))
    // Where pictures come, the next one does it: it is waited for.
    return due == .max ? .max : due + Self.refreshPatience
  }

  /// Nanoseconds that the next picture is waited for: six at 30 a second.
  private static var refreshPatience: Int64 { 200_000_000 }

  /// Encodes the last picture once more, whole, when that is due.
  private mutating func refresh() throws(RecorderError) {
    let now = MonotonicClock.now()
    guard now >= refreshDue, control.stopRequested == nil, let job = last.take() else { return }
    try encode(job.picture, at: Timestamp(nanoseconds: now - control.epoch), keyframe: true)
    last = consume job
  }

  private mutating func encode(
    _ picture: borrowing Picture, at time: Timestamp, keyframe: Bool, startsSegment: Bool = false
  ) throws(RecorderError) {
    let (packets, format) = (packets, encoding.format)
    let keyframe = keyframe || time - lastKeyframe >= control.refreshInterval.load(ordering: .relaxed)
    if keyframe { lastKeyframe = time }
    let wish = control.refreshTime.load(ordering: .relaxed)
    if control.epoch + time.nanoseconds >= wish {
      // A later wish stays.
      _ = control.refreshTime.compareExchange(expected: wish, desired: .max, ordering: .relaxed)
    }
    try encoding.encoder.encode(picture, at: time, keyframe: keyframe) { packet in
      var packet = packet
      // How long it stays is not known yet, and the file must not last longer than the recording.
      packet.duration = 0
      _ = packets.push(MuxItem(packet: packet, stream: Self.stream, format: format, startsSegment: startsSegment))
    }
  }
}

/// Constants of the video's times, in ns.
enum VideoTiming {
  /// The container counts milliseconds: two frames are at least one apart.
  static let tick: Int64 = 1_000_000
  /// After so long a frame is made a keyframe where fewer than `VideoOptions.keyframeDistance` came: what a player decodes
  /// from when a keyframe was damaged lies no further back.
  static let keyframeInterval: Int64 = 10_000_000_000
  /// The same while the capture is held, where it is also how exactly a stretch can be cut, and what a still screen costs:
  /// a whole picture each time.
  static let heldKeyframeInterval: Int64 = 2_000_000_000
  /// Between two signs of life of the grab thread on a still screen; `alive` events rest on them, and so does the health
  /// of the stage: a third of the time after which it counts as hanging.
  static let heartbeatInterval: Int64 = 500_000_000
  /// The same once a screen counts as still: late enough to cost little, and half a second before it would be missed.
  static let stillHeartbeatInterval: Int64 = 1_000_000_000
  /// After so long a sign of life is late, and who looks after the threads is woken: the server's answer and a busy machine
  /// take less.
  static let latestHeartbeat: Int64 = stillHeartbeatInterval + 50_000_000
}
