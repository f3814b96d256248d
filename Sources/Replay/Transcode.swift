import Media
import SessionModel

/// An export that encodes again: it begins at the very picture and sample. Where the files of the part have pictures of
/// several sizes, its own holds the largest sides of them: each is in the middle of it as large as it is.
struct Transcode {
  private let timeline: Timeline
  private let span: ExportSpan

  /// The longest time between two keyframes, in ns, as the recorder keeps it: a seek never decodes more than that.
  private static let keyframeInterval: Int64 = 5_000_000_000

  /// Exports `span` of `timeline`.
  init(_ timeline: Timeline, _ span: ExportSpan) { (self.timeline, self.span) = (timeline, span) }

  /// Writes the file.
  /// - Returns: false when `proceed` said to stop.
  func write(_ request: ExportRequest, proceed: (Double) -> Bool) throws(RecorderError) -> Bool {
    var cursor = VideoCursor(timeline)
    var moment = try cursor.moment(at: span.start)
    let places = timeline.segment(at: span.start)...timeline.segment(at: span.end + -1)
    let size = places.reduce(moment.current.size) { size, place in
      timeline.pictureSize(at: place).map(size.union) ?? size
    }
    var pictures = try PictureEncoder(options(for: request.format), size: size)
    var sound: SoundPart?
    if timeline.audioTrack != nil { sound = try SoundPart(timeline, span) }
    let soundStream = sound?.stream
    var writer = try ExportWriter(
      request, of: timeline, streams: [pictures.stream] + (soundStream.map { [$0] } ?? []), start: span.start)
    var keyframe: Timestamp?
    // The first picture is what is shown before it, too.
    var time = span.start
    while true {
      guard proceed(span.progress(at: time)) else { return false }
      try sound?.write(until: time, to: &writer)
      let isKeyframe = keyframe.map { time - $0 >= Self.keyframeInterval } ?? true
      if isKeyframe { keyframe = time }
      try pictures.write(
        moment.current, at: Timestamp(nanoseconds: time - span.start), isKeyframe: isKeyframe, to: &writer)
      guard let next = moment.next?.time, next < span.end, try moment.advance(cursor: &cursor) else { break }
      time = next
    }
    // Once more where it ends, so that every player shows it to the end.
    // At the earliest a millisecond, the encoder's tick, after the one before.
    time = max(span.end + -timeline.frameInterval, time + 1_000_000)
    try sound?.write(until: time, to: &writer)
    if time < span.end {
      try pictures.write(
        moment.current, at: Timestamp(nanoseconds: time - span.start), isKeyframe: false,
        lasting: span.end - time, to: &writer)
    }
    try sound?.write(until: span.end, to: &writer)
    try sound?.finish(to: &writer)
    try writer.finish()
    return true
  }

  /// As it was recorded; in MP4 what browsers play: H.264 in 4:2:0.
  private func options(for format: ContainerWriter.Format) -> VideoOptions {
    var options = timeline.manifest.options.video
    guard format == .mp4 else { return options }
    (options.codec, options.pixelFormat) = ("libx264", .yuv420p)
    if options.lossless { options.take(.balanced) }
    return options
  }
}
