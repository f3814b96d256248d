import Media
import SessionModel

/// An export that copies packets: possible when the part begins at a keyframe.
struct PacketCopy {
  private let timeline: Timeline
  private let span: ExportSpan
  /// The places of the files that hold the part.
  private let places: ClosedRange<Int>
  /// What is copied: the picture and, where there is one, the sound; and their numbers in the files.
  private let streams: [StreamDescription]
  private let numbers: [Int]
  /// When the last picture of the part appears.
  private let lastPicture: Timestamp

  /// How long, in ns, the last picture of a Matroska file may stand past what players show of it; a second is what a
  /// killed recorder may lose too.
  private static let longestTail: Int64 = 1_000_000_000

  /// Finds out whether `span` can be copied into a file of `format`.
  /// - Returns: nil when it must be encoded again: it begins between keyframes, its files differ in their streams, its
  ///   last picture stands longer than copied packets can say, or what plays the format does not take the codecs.
  /// - Throws: `RecorderError` (damagedData) when a file cannot be read.
  init?(_ timeline: Timeline, _ span: ExportSpan, format: ContainerWriter.Format) throws(RecorderError) {
    places = timeline.segment(at: span.start)...timeline.segment(at: span.end + -1)
    var first = try SegmentFile(timeline, places.lowerBound)
    guard let video = first.video else { return nil }
    numbers = [video] + (first.audio.map { [$0] } ?? [])
    streams = numbers.map { first.stream($0) }
    guard format != .mp4 || Self.playsInBrowsers(streams, timeline) else { return nil }
    for place in places.dropFirst() {
      let other = try SegmentFile(timeline, place)
      let otherNumbers = [other.video, other.audio].compactMap(\.self)
      guard otherNumbers == numbers,
        zip(numbers, streams).allSatisfy({ other.stream($0).continues(as: $1) })
      else { return nil }
    }
    var start = span.start
    // The session's start needs no keyframe: nothing is before its first picture.
    if start > .zero {
      try first.seek(to: start + timeline.frameInterval / 2, stream: video)
      guard let keyframe = try first.next(of: video)?.pts, abs(keyframe - start) <= timeline.frameInterval / 2 else {
        return nil
      }
      start = keyframe
    }
    guard let last = try Self.lastPicture(timeline, places, before: span.end), last >= start else { return nil }
    // MPEG-4 says how long a picture stands; Matroska leaves it to the sound, or to the next picture, which the encoder
    // must make.
    guard format == .mp4 || streams.count > 1 || span.end - last <= Self.longestTail else { return nil }
    (self.timeline, lastPicture) = (timeline, last)
    self.span = ExportSpan(start: start, end: span.end)
  }

  /// Whether browsers play the streams in an MP4 file: H.264 in 4:2:0 and AAC are what all of them take.
  private static func playsInBrowsers(_ streams: [StreamDescription], _ timeline: Timeline) -> Bool {
    let options = timeline.manifest.options.video
    let settings = VideoEncoderSettings(options, picture: streams[0].size)
    return streams[0].codecName == "h264" && settings.pixelFormat == .yuv420p && !settings.lossless
      && streams.dropFirst().allSatisfy { $0.codecName == "aac" }
  }

  /// When the last picture before `end` appears; nil when there is none.
  private static func lastPicture(
    _ timeline: Timeline, _ places: ClosedRange<Int>, before end: Timestamp
  ) throws(RecorderError) -> Timestamp? {
    for place in places.reversed() {
      var file = try SegmentFile(timeline, place)
      var last: Timestamp?
      guard let video = file.video else { continue }
      try file.seek(to: end, stream: video)
      while let time = try file.next(of: video)?.pts, time < end { last = max(last ?? time, time) }
      if let last { return last }
    }
    return nil
  }

  /// Writes the file.
  /// - Returns: false when `proceed` said to stop.
  func write(_ request: ExportRequest, proceed: (Double) -> Bool) throws(RecorderError) -> Bool {
    var isFirst = true
    var writer = try ExportWriter(request, of: timeline, streams: streams, start: span.start)
    for place in places {
      var file = try SegmentFile(timeline, place)
      if span.start > .zero, place == places.lowerBound { try file.seek(to: span.start, stream: numbers[0]) }
      while var packet = try file.next() {
        guard let stream = numbers.firstIndex(of: packet.stream) else { continue }
        // Streams are interleaved within a second: past that nothing of the part follows.
        if packet.pts > span.end + 1_000_000_000 { break }
        guard isPart(packet, isSound: stream == 1) else { continue }
        guard proceed(span.progress(at: packet.pts)) else { return false }
        // The last picture stands until the end.
        let duration = stream == 0 && packet.pts == lastPicture ? span.end - lastPicture : nil
        packet.pts = Timestamp(nanoseconds: packet.pts - span.start)
        packet.dts = Timestamp(nanoseconds: packet.dts - span.start)
        // The first picture is what is shown before it, too: an MPEG-4 file would else be shorter by that.
        if stream == 0, isFirst { (packet.pts, packet.dts, isFirst) = (.zero, .zero, false) }
        writer.write(packet, stream: stream, lasting: duration)
        try writer.check()
      }
    }
    try writer.finish()
    return true
  }

  private func isPart(_ packet: borrowing Packet, isSound: Bool) -> Bool {
    guard packet.pts >= span.start || span.start == .zero else { return false }
    // A packet of sound that passes the part's end would make the file longer; at the session's end it is all there is.
    return packet.pts + (isSound && span.end < timeline.duration ? packet.duration : 0) < span.end
  }
}
