internal import CFFmpeg
internal import SessionModel

/// The sole owner of an FFmpeg codec: an encoder or a decoder.
struct CodecContext: ~Copyable {
  let pointer: UnsafeMutablePointer<AVCodecContext>

  /// Makes an unopened one.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  init(_ codec: UnsafePointer<AVCodec>) throws(RecorderError) {
    guard let pointer = avcodec_alloc_context3(codec) else { throw outOfMemory("a codec") }
    self.pointer = pointer
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = pointer
    avcodec_free_context(&pointer)
  }

  /// Gives `frame` (nil: the end) to an encoder and takes all packets that it has ready, their times in nanoseconds.
  /// - Parameter received: an empty packet to receive into.
  func encode(
    _ frame: UnsafeMutablePointer<AVFrame>?, received: borrowing Packet, emit: (consuming Packet) -> Void
  ) throws(RecorderError) {
    var status = avcodec_send_frame(pointer, frame)
    while status >= 0 {
      status = avcodec_receive_packet(pointer, received.pointer)
      if status >= 0 { emit(try Packet(taking: received.pointer, timeBase: pointer.pointee.time_base)) }
    }
    guard status == recorder_averror_again || status == recorder_averror_eof else {
      let name = pointer.pointee.codec.map { String(cString: $0.pointee.name) } ?? "of the codec"
      throw RecorderError(.systemCall, "The encoder \(name) failed: \(words(forStatus: status)).")
    }
  }
}

extension CodecContext {
  /// Opens a decoder of `stream`.
  /// - Throws: `RecorderError`: unavailable when FFmpeg has none, damagedData when it refuses the stream's header.
  static func decoder(of stream: StreamDescription) throws(RecorderError) -> CodecContext {
    _ = ffmpegIsSilent
    guard let codec = avcodec_find_decoder(stream.parameters.pointee.codec_id) else {
      throw RecorderError(.unavailable, "FFmpeg has no decoder for \(stream.codecName.printable) here.")
    }
    let context = try CodecContext(codec)
    var status = avcodec_parameters_to_context(context.pointer, stream.parameters)
    if status >= 0 {
      context.pointer.pointee.pkt_timebase = nanosecondTicks
      // Threads within a picture: each picture comes out as soon as its packet is in.
      context.pointer.pointee.thread_type = FF_THREAD_SLICE
      context.pointer.pointee.thread_count = 0
      context.pointer.pointee.max_pixels = Int64(PixelSize.largestSide) * Int64(PixelSize.largestSide)
      status = avcodec_open2(context.pointer, codec, nil)
    }
    guard status >= 0 else {
      throw RecorderError(
        .damagedData, "The \(stream.codecName.printable) stream cannot be decoded: \(words(forStatus: status)).")
    }
    return context
  }

  /// Gives `packet` (nil: the end) to a decoder.
  /// - Throws: `RecorderError` (damagedData) when it cannot be decoded.
  func send(_ packet: UnsafePointer<AVPacket>?) throws(RecorderError) {
    let status = avcodec_send_packet(pointer, packet)
    // A second end says that the first one was taken.
    guard status >= 0 || status == recorder_averror_eof else { throw Self.undecodable(status) }
  }

  /// The next frame that a decoder has ready, its time in nanoseconds; nil when it wants more packets or has ended.
  /// - Throws: `RecorderError` (damagedData).
  func receive() throws(RecorderError) -> Picture? {
    guard let frame = av_frame_alloc() else { throw outOfMemory("a decoded frame") }
    let picture = Picture(taking: frame)
    let status = avcodec_receive_frame(pointer, frame)
    if status == recorder_averror_again || status == recorder_averror_eof { return nil }
    guard status >= 0 else { throw Self.undecodable(status) }
    frame.pointee.pts = frame.pointee.best_effort_timestamp
    return picture
  }

  private static func undecodable(_ status: Int32) -> RecorderError {
    RecorderError(.damagedData, "A part of the media file cannot be decoded: \(words(forStatus: status)).")
  }
}
