internal import CFFmpeg
package import SessionModel

/// A video encoder that gives back each picture as one packet before it takes the next: no look-ahead, no B-frames,
/// threads within a picture only.
package struct VideoEncoder: ~Copyable {
  /// What a container has to know of the encoded stream.
  package let stream: StreamDescription
  private let context: CodecContext
  private let received: Packet
  private let settings: VideoEncoderSettings
  private var lastTick = Int64.min

  /// Milliseconds: the ticks of Matroska, so that what the encoder says of a time is what the file says.
  static let ticks = AVRational(num: 1, den: 1000)

  /// Opens an encoder. Nothing is recorded yet: this is also how a missing or unfit one is found beforehand.
  /// - Throws: `RecorderError`: unavailable when FFmpeg has no such encoder, usage when it refuses a setting.
  package init(_ settings: VideoEncoderSettings) throws(RecorderError) {
    let context = try EncoderOpening.open(settings)
    let received = try Packet()
    stream = try StreamDescription(encoder: context.pointer)
    self.context = context
    self.received = received
    self.settings = settings
  }

  /// Makes a picture that `FrameCanvas` can render into and this encoder takes.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  package func makePicture() throws(RecorderError) -> Picture {
    try Picture(format: settings.pixelFormat.ffmpeg, size: settings.size)
  }

  /// Encodes `picture`. After the call nothing refers to its pixels: it can be rendered into again.
  /// - Parameters:
  ///   - time: when it is shown; rounded to milliseconds, at least one after the last picture's.
  ///   - keyframe: whether decoding must be able to begin here.
  ///   - emit: takes the packet. How long a picture stays is not known yet, so that it says one frame interval.
  /// - Throws: `RecorderError` (systemCall) when the encoder fails.
  package mutating func encode(
    _ picture: borrowing Picture, at time: Timestamp, keyframe: Bool, emit: (consuming Packet) -> Void
  ) throws(RecorderError) {
    let frame = picture.frame
    guard picture.size == settings.size, frame.pointee.format == settings.pixelFormat.ffmpeg.rawValue else {
      throw RecorderError(
        .brokenInvariant, "A picture of \(picture.size) pixels was given to an encoder of \(settings.size).")
    }
    let wasFree = av_frame_is_writable(frame) != 0
    let tick = rescale(time.nanoseconds, from: nanosecondTicks, to: Self.ticks)
    lastTick = lastTick == .min ? tick : max(tick, lastTick + 1)
    frame.pointee.pts = lastTick
    frame.pointee.pict_type = keyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    try encode(frame, emit)
    // x264 has copied the pixels. From an encoder that keeps them, the picture is given its own.
    if wasFree, av_frame_is_writable(frame) == 0, av_frame_make_writable(frame) < 0 {
      throw outOfMemory("a picture of \(settings.size) pixels")
    }
  }

  /// Takes the packets that the encoder still holds: none from x264. Nothing can be encoded afterwards.
  /// - Throws: `RecorderError` (systemCall) when the encoder fails.
  package mutating func finish(emit: (consuming Packet) -> Void) throws(RecorderError) {
    try encode(nil, emit)
  }

  private func encode(
    _ frame: UnsafeMutablePointer<AVFrame>?, _ emit: (consuming Packet) -> Void
  ) throws(RecorderError) {
    let duration = 1_000_000_000 / Int64(max(1, settings.framesPerSecond))
    try context.encode(frame, received: received) { packet in
      var packet = packet
      packet.duration = duration
      emit(packet)
    }
  }
}
