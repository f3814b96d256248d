import Archive
import Media
package import SessionModel

/// The media files of a session without what was on the screen and what was heard in a stretch of it.
///
/// Every picture that stood on the screen at a moment of the stretch goes whole, from when it appeared: black is there until
/// the first one that appeared after. What is recorded after that and cannot be decoded without what is gone is encoded
/// again, up to the next keyframe; all else is copied, packet for packet, at its time.
package struct RedactedMedia: Sendable {
  private let timeline: Timeline
  /// The stretch; to the end of the files when it reaches to the session's.
  private let from: Timestamp, to: Timestamp
  /// When the picture appeared that was on the screen at `from`.
  private let black: Timestamp

  /// Nanoseconds that a packet of sound may hold of what the one after it sounds like: AAC's overlap by one of 1024 frames,
  /// Opus's by less.
  private static let soundOverlap: Int64 = 25_000_000
  /// Nanoseconds that the longest packet of sound lasts: FLAC's of 4608 frames, rounded up.
  private static let longestSound: Int64 = 100_000_000

  /// Looks for what is to go from `timeline`.
  /// - Throws: `RecorderError`: usage when the stretch is empty or not in the session, damagedData.
  package init(_ timeline: Timeline, from: Timestamp, to: Timestamp) throws(RecorderError) {
    guard from >= .zero, from < to, to <= timeline.duration else {
      throw RecorderError(
        .usage, "There is nothing from \(from) to \(to): the session is \(timeline.duration) long.",
        hint: "Name a beginning before the end, both within the session.")
    }
    (self.timeline, self.from) = (timeline, from)
    self.to = to < timeline.duration ? to : Timestamp(nanoseconds: Timeline.possible.upperBound)
    black = try Self.appearance(timeline, at: from)
  }

  /// When the picture appeared that is on the screen at `time`; `time` itself when there is none yet.
  private static func appearance(_ timeline: Timeline, at time: Timestamp) throws(RecorderError) -> Timestamp {
    for place in (0...timeline.segment(at: time)).reversed() {
      var file = try SegmentFile(timeline, place)
      guard let video = file.video else { continue }
      try file.seek(to: time, stream: video)
      var last: Timestamp?
      while let picture = try file.next(of: video)?.pts, picture <= time { last = picture }
      if let last { return last }
    }
    return time
  }

  /// Whether the file at `place` of the manifest's segments has something that is to go; else it stays as it is.
  package func touches(_ place: Int) -> Bool {
    let segments = timeline.manifest.segments
    guard segments[place].start < to, place + 1 < segments.count else { return segments[place].start < to }
    return segments[place + 1].start + Self.longestSound + Self.soundOverlap > black
  }

  /// Writes the file at `place` of the manifest's segments without it.
  /// - Parameters:
  ///   - fileDescriptor: an empty file open for reading and writing; owned from now on, also when this throws.
  ///   - scratch: another one, for what is on the way.
  ///   - proceed: says whether to go on.
  /// - Returns: the file's size in bytes; nil when `proceed` said to stop.
  /// - Throws: `RecorderError`: damagedData, writeFailed, unavailable when FFmpeg lacks an encoder.
  package func write(
    _ place: Int, to fileDescriptor: Int32, scratch: Int32, proceed: () -> Bool
  ) throws(RecorderError) -> Int64? {
    let (segment, stretch) = (timeline.manifest.segments[place], stretch(of: place))
    let plan = try PicturePlan(timeline.session.openSegment(segment), taking: stretch.pictures)
    var pictures: RewrittenPictures?
    if !plan.taken.isEmpty {
      pictures = try RewrittenPictures.make(timeline, place, plan, scratch: scratch, proceed: proceed)
      if pictures == nil { return nil }
    }
    var file = try RedactedFile(timeline, place, stretch, plan, pictures, fileDescriptor)
    return try file.write(proceed: proceed)
  }

  private func stretch(of place: Int) -> Stretch {
    let start = timeline.manifest.segments[place].start
    return Stretch(
      pictures: Timestamp(nanoseconds: black - start)..<Timestamp(nanoseconds: to - start),
      sound: Timestamp(nanoseconds: from - start - Self.soundOverlap)..<Timestamp(nanoseconds: to - start))
  }
}

/// What goes of a media file: pictures that appear, and packets of sound that last into it. Times are the file's.
private struct Stretch {
  let pictures: Range<Timestamp>
  let sound: Range<Timestamp>
}

/// One media file that is written again without a stretch of it. Times are the file's.
private struct RedactedFile: ~Copyable {
  private let options: AudioOptions
  private let stretch: Stretch
  private let plan: PicturePlan
  private var reader: ContainerReader
  private var container: ContainerWriter
  /// nil when no picture goes.
  private var pictures: RewrittenPictures?
  private var silences: [Int: SilentSound] = [:]

  init(
    _ timeline: Timeline, _ place: Int, _ stretch: Stretch, _ plan: PicturePlan,
    _ pictures: consuming RewrittenPictures?, _ fileDescriptor: Int32
  ) throws(RecorderError) {
    let reader = try ContainerReader(
      fileDescriptor: timeline.session.openSegment(timeline.manifest.segments[place]), isGapless: false)
    var streams = reader.streams
    if pictures?.isWhole == true, let stream = pictures?.stream { streams[0] = stream }
    container = try ContainerWriter(
      format: .matroska, fileDescriptor: fileDescriptor, streams: streams, metadata: timeline.manifest.mediaMetadata)
    self.pictures = pictures
    self.reader = reader
    (options, self.stretch, self.plan) = (timeline.manifest.options.audio, stretch, plan)
  }

  /// Writes all of it.
  /// - Returns: its size in bytes; nil when `proceed` said to stop.
  mutating func write(proceed: () -> Bool) throws(RecorderError) -> Int64? {
    let isWhole = pictures?.isWhole ?? false
    var number = 0
    while let packet = try reader.next() {
      guard proceed() else { return nil }
      let (stream, time) = (packet.stream, packet.pts)
      if stream > 0 {
        try container.write(silenced(packet), stream: stream)
        continue
      }
      while let picture = try pictures?.next(until: time) { try container.write(picture, stream: 0) }
      if !isWhole, !plan.taken.contains(number), !plan.encoded.contains(number) {
        try container.write(packet, stream: 0)
      }
      number += 1
    }
    return try container.finish()
  }

  /// `packet` of sound, or silence in its place.
  private mutating func silenced(_ packet: consuming Packet) throws(RecorderError) -> Packet {
    let stream = packet.stream
    let silence: SilentSound
    if let made = silences[stream] {
      silence = made
    } else {
      silence = try SilentSound(reader.streams[stream], options)
      silences[stream] = silence
    }
    let end = packet.pts + max(packet.duration, silence.duration)
    guard packet.pts < stretch.sound.upperBound, end > stretch.sound.lowerBound else { return packet }
    return try silence.packet(like: packet)
  }
}
