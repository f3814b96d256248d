import Archive
import Glibc
import Media
import SessionModel
import Threading

/// The pictures of a media file that are not copied when a stretch of it goes: black in its place, and those after it up to
/// the next keyframe, encoded again; all of them when this encoder's packets do not go with the file's header. They are
/// written to a file of their own first: only what was read from one has the form that another takes. Times are the file's.
struct RewrittenPictures: ~Copyable {
  /// Whether all pictures of the file are among them.
  let isWhole: Bool
  /// What a file says of them.
  let stream: StreamDescription
  private var reader: ContainerReader
  private var waiting: Packet?

  /// Encodes them.
  /// - Parameters:
  ///   - plan: which pictures of the file at `place` of the manifest's segments go.
  ///   - scratch: an empty file open for reading and writing; owned from now on, also when this throws.
  ///   - proceed: says whether to go on.
  /// - Returns: nil when `proceed` said to stop.
  /// - Throws: `RecorderError`: damagedData, writeFailed, unavailable when FFmpeg lacks the encoder.
  static func make(
    _ timeline: Timeline, _ place: Int, _ plan: PicturePlan, scratch: Int32, proceed: () -> Bool
  ) throws(RecorderError) -> RewrittenPictures? {
    defer { close(scratch) }
    var rewriter = try PictureRewriter(timeline, place, plan)
    // One black picture shows what the header is going to be.
    try rewriter.begin(dup(scratch))
    try rewriter.black(at: .zero, isKeyframe: true)
    try rewriter.finish()
    let isWhole = try !ContainerReader(fileDescriptor: dup(scratch)).streams[0].continues(as: rewriter.source)
    guard ftruncate(scratch, 0) == 0 else {
      throw RecorderError(.writeFailed, "A media file cannot be begun: \(String(cString: strerror(errno))).")
    }
    try rewriter.begin(dup(scratch))
    guard try rewriter.run(isWhole: isWhole, proceed: proceed) else { return nil }
    try rewriter.finish()
    return try RewrittenPictures(reader: ContainerReader(fileDescriptor: dup(scratch), isGapless: false), isWhole)
  }

  private init(reader: consuming ContainerReader, _ isWhole: Bool) throws(RecorderError) {
    stream = reader.streams[0]
    waiting = try reader.next()
    self.isWhole = isWhole
    self.reader = reader
  }

  /// The next of them that appears at or before `time`; nil when there is none.
  mutating func next(until time: Timestamp) throws(RecorderError) -> Packet? {
    guard let packet = waiting.take() else { return nil }
    guard packet.pts <= time else {
      waiting = consume packet
      return nil
    }
    waiting = try reader.next()
    return packet
  }
}

/// Decodes a media file and encodes what of it cannot be copied.
private struct PictureRewriter: PacketTarget, ~Copyable {
  /// What the file says of its pictures.
  let source: StreamDescription
  private let plan: PicturePlan
  private let size: PixelSize?
  private let options: VideoOptions
  private var reader: ContainerReader
  private var decoder: VideoDecoder
  private var encoder: PictureEncoder?
  private var container: ContainerWriter?
  private var failure: RecorderError?
  /// What the decoder just gave. H.264 keeps back at most 16; twice that is never full.
  private let ready = BoundedQueue<Frame>(capacity: 32)
  /// Whether the next picture is the first after black, or the first of all.
  private var isAfterBreak = true

  init(_ timeline: Timeline, _ place: Int, _ plan: PicturePlan) throws(RecorderError) {
    let reader = try ContainerReader(
      fileDescriptor: timeline.session.openSegment(timeline.manifest.segments[place]), isGapless: false)
    decoder = try VideoDecoder(reader.streams[0])
    source = reader.streams[0]
    self.reader = reader
    (self.plan, size, options) = (plan, timeline.pictureSize(at: place), timeline.manifest.options.video)
  }

  /// Begins the file that is written, owning its descriptor.
  mutating func begin(_ fileDescriptor: Int32) throws(RecorderError) {
    let encoder = try PictureEncoder(options, size: size ?? source.size)
    container = try ContainerWriter(
      format: .matroska, fileDescriptor: fileDescriptor, streams: [encoder.stream], metadata: [:])
    self.encoder = consume encoder
  }

  mutating func finish() throws(RecorderError) { _ = try container?.finish(isKept: false) }

  mutating func write(_ packet: consuming Packet, stream: Int, lasting duration: Int64?) {
    guard failure == nil else { return }
    do throws(RecorderError) { try container?.write(packet, stream: stream) } catch { failure = error }
  }

  func check() throws(RecorderError) {
    if let failure { throw failure }
  }

  /// Writes black to be shown from `time` on.
  mutating func black(at time: Timestamp, isKeyframe: Bool) throws(RecorderError) {
    guard var encoder = encoder.take() else { return }
    try encoder.writeBlack(at: time, isKeyframe: isKeyframe, to: &self)
    self.encoder = consume encoder
    isAfterBreak = true
  }

  /// - Returns: false when `proceed` said to stop.
  mutating func run(isWhole: Bool, proceed: () -> Bool) throws(RecorderError) -> Bool {
    var number = 0
    while let packet = try reader.next() {
      guard packet.stream == 0 else { continue }
      guard proceed() else { return false }
      let time = packet.pts
      if isWhole || plan.decoded.contains(number) { try decode(packet, isWhole: isWhole) }
      if number == plan.taken.lowerBound {
        try black(at: time, isKeyframe: true)
      } else if number == plan.taken.upperBound - 1, plan.isAtEnd {
        // So that the file is as long as it was.
        try black(at: time, isKeyframe: false)
      }
      number += 1
    }
    try decode(nil, isWhole: isWhole)
    return true
  }

  /// Gives the decoder `packet`, or takes what it holds after the last one, nil; and encodes what stays of it.
  private mutating func decode(_ packet: consuming Packet?, isWhole: Bool) throws(RecorderError) {
    let (ready, size) = (ready, size)
    let keep: (consuming Picture) -> Void = { picture in
      let (time, size) = (picture.time, size ?? picture.size)
      _ = ready.tryPush(Frame(picture: picture, size: size, time: time))
    }
    do throws(RecorderError) {
      if let packet { try decoder.decode(packet, emit: keep) } else { try decoder.finish(emit: keep) }
    } catch {
      // The next packet can be tried, unless the disk fails.
      guard error.code == .damagedData else { throw error }
    }
    while let frame = ready.tryPop() {
      guard plan.keeps(frame.time, isWhole: isWhole), var encoder = encoder.take() else { continue }
      let isKeyframe = isAfterBreak || plan.keyframes.contains(frame.time)
      try encoder.write(frame, at: frame.time, isKeyframe: isKeyframe, to: &self)
      isAfterBreak = false
      self.encoder = consume encoder
    }
  }
}
