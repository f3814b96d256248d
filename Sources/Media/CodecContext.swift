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
