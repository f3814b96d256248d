import Archive
import Media
import SessionModel
import Threading

/// A decoded picture and the session's time from which on it is shown.
struct Frame: ~Copyable {
  /// The pixels, with what pads them.
  let picture: Picture
  /// The true size in its left top corner, in pixels.
  let size: PixelSize
  /// When it appears.
  let time: Timestamp
}

/// What is on the screen at a moment, and what comes after it.
struct Moment: ~Copyable {
  /// The picture on the screen.
  var current: Frame
  /// The one that replaces it; nil when it stands until the session's end.
  var next: Frame?

  /// Takes the next picture for the current one, and its follower from `cursor`.
  /// - Returns: false when there is none.
  mutating func advance(cursor: inout VideoCursor) throws(RecorderError) -> Bool {
    guard let frame = next.take() else { return false }
    current = frame
    next = try cursor.next()
    return true
  }
}

/// Goes through the pictures of a session in their order, from any moment on, file by file. One thread uses it.
struct VideoCursor: ~Copyable {
  /// One media file that is being decoded.
  private struct Open: ~Copyable {
    var file: SegmentFile
    var decoder: VideoDecoder
    let stream: Int
  }

  private let timeline: Timeline
  private var index = 0
  private var open: Open?
  /// Pictures that the decoder gave at once. H.264 keeps back at most 16; twice that is never full.
  private let ready = BoundedQueue<Frame>(capacity: 32)

  /// Stands before the first picture of `timeline`.
  init(_ timeline: Timeline) { self.timeline = timeline }

  /// Finds the picture at `time`: the last one that appeared at or before it, or the first of all; and the one after it.
  /// `next` goes on behind both.
  /// - Throws: `RecorderError` (damagedData) when the file that holds `time` cannot be read, or holds no picture.
  mutating func moment(at time: Timestamp) throws(RecorderError) -> Moment {
    var segment = timeline.segment(at: time)
    while true {
      try seek(to: time, segment: segment)
      var current: Frame?
      while let frame = try next() {
        guard frame.time > time else {
          current = consume frame
          continue
        }
        if let current = current.take() { return Moment(current: current, next: frame) }
        // The file's first picture is later than the moment: what stood there is at the end of the file before.
        guard segment > 0 else { return Moment(current: frame, next: try next()) }
        break
      }
      if let current = current.take() { return Moment(current: current, next: nil) }
      guard segment > 0 else {
        throw RecorderError(.damagedData, "The session \(timeline.session.id) holds no picture that can be decoded.")
      }
      segment -= 1
    }
  }

  /// Goes to the last keyframe of the file `segment` at or before `time`.
  private mutating func seek(to time: Timestamp, segment: Int) throws(RecorderError) {
    open = nil
    while ready.tryPop() != nil {}
    index = segment
    try openSegment()
    guard let stream = open?.stream else { return }
    try open?.file.seek(to: time, stream: stream)
  }

  /// The next picture; nil after the last one. What cannot be decoded is left out, and so is a file that cannot be read.
  /// - Throws: `RecorderError` (systemCall) when the disk fails.
  mutating func next() throws(RecorderError) -> Frame? {
    while true {
      if let frame = ready.tryPop() { return frame }
      if open == nil {
        guard timeline.manifest.segments.indices.contains(index) else { return nil }
        do throws(RecorderError) { try openSegment() } catch {
          guard error.code == .damagedData else { throw error }
          index += 1
          continue
        }
      }
      try decodeNext()
    }
  }

  private mutating func openSegment() throws(RecorderError) {
    let file = try SegmentFile(timeline, index)
    guard let stream = file.video else {
      throw RecorderError(.damagedData, "A media file of session \(timeline.session.id) holds no picture.")
    }
    let decoder = try VideoDecoder(file.stream(stream))
    open = Open(file: file, decoder: decoder, stream: stream)
  }

  /// Gives the decoder one more packet, or takes what it holds after the last one.
  private mutating func decodeNext() throws(RecorderError) {
    guard var open = open.take() else { return }
    let (ready, size) = (ready, timeline.pictureSize(at: index))
    let keep: (consuming Picture) -> Void = { picture in
      let (time, size) = (picture.time, size ?? picture.size)
      _ = ready.tryPush(Frame(picture: picture, size: size, time: time))
    }
    var isAtEnd = false
    do throws(RecorderError) {
      if let packet = try open.file.next(of: open.stream) {
        try open.decoder.decode(packet, emit: keep)
      } else {
        isAtEnd = true
        try open.decoder.finish(emit: keep)
      }
    } catch {
      // The next packet can be tried, unless the disk fails.
      guard error.code == .damagedData else { throw error }
    }
    if isAtEnd { index += 1 } else { self.open = consume open }
  }
}
