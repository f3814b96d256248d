import Archive
import Media
import SessionModel

/// One media file of a session, being read; its packets come with the session's times. The sole owner of its reader.
struct SegmentFile: ~Copyable {
  /// The number of the first picture stream; nil without one.
  let video: Int?
  /// The numbers of the sound streams, in their order: the mix is the first.
  let sounds: [Int]
  private var reader: ContainerReader
  /// The session's time at the file's time 0.
  private let start: Timestamp
  /// Where the next file takes over; nil in the last one.
  private let end: Timestamp?

  /// Opens the file at `place` of the manifest's segments.
  /// - Throws: `RecorderError` (damagedData) when it is missing or cannot be read.
  init(_ timeline: Timeline, _ place: Int) throws(RecorderError) {
    let segments = timeline.manifest.segments
    guard segments.indices.contains(place) else {
      throw RecorderError(.damagedData, "The session \(timeline.session.id) has no media file \(place + 1).")
    }
    let reader = try ContainerReader(fileDescriptor: timeline.session.openSegment(segments[place]))
    video = reader.streams.firstIndex { $0.kind == .video }
    sounds = reader.streams.indices.filter { reader.streams[$0].kind == .audio }
    start = segments[place].start
    end = place + 1 < segments.count ? segments[place + 1].start : nil
    self.reader = reader
  }

  /// The number of the first sound stream; nil without one.
  var audio: Int? { sounds.first }

  /// What the file says of stream `number`.
  func stream(_ number: Int) -> StreamDescription { reader.streams[number] }

  /// Goes to the last keyframe of `stream` at or before `time`, or to the first one.
  /// - Throws: `RecorderError` (damagedData) when there is none.
  mutating func seek(to time: Timestamp, stream: Int) throws(RecorderError) {
    try reader.seek(to: Timestamp(nanoseconds: max(0, time - start)), stream: stream)
  }

  /// The next packet, in the file's order; nil at the end. What the next file has instead is left out.
  /// - Throws: `RecorderError` (systemCall) when the disk fails.
  mutating func next() throws(RecorderError) -> Packet? {
    while var packet = try reader.next() {
      // The file is outside data: a time that no session has belongs to no picture.
      let times = -Timeline.possible.upperBound...Timeline.possible.upperBound
      guard times.contains(packet.pts.nanoseconds), times.contains(packet.dts.nanoseconds) else { continue }
      packet.pts = start + packet.pts.nanoseconds
      packet.dts = start + packet.dts.nanoseconds
      if let end, packet.pts >= end { continue }
      return packet
    }
    return nil
  }

  /// The next packet of `stream`; nil at the end.
  /// - Throws: `RecorderError` (systemCall) when the disk fails.
  mutating func next(of stream: Int) throws(RecorderError) -> Packet? {
    while let packet = try next() {
      if packet.stream == stream { return packet }
    }
    return nil
  }
}
