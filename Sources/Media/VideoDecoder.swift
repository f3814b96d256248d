internal import CFFmpeg
package import SessionModel

/// Decodes the packets of one video stream, from a keyframe on.
package struct VideoDecoder: ~Copyable {
  private let context: CodecContext

  /// Opens a decoder.
  /// - Throws: `RecorderError`: unavailable when FFmpeg has none for the codec, damagedData when the stream's header is bad.
  package init(_ stream: StreamDescription) throws(RecorderError) { context = try CodecContext.decoder(of: stream) }

  /// Decodes `packet`; `emit` takes each picture that is ready, in the order in which they are shown.
  /// - Throws: `RecorderError` (damagedData) for a packet that cannot be decoded; the next one can be tried.
  package mutating func decode(
    _ packet: borrowing Packet, emit: (consuming Picture) -> Void
  ) throws(RecorderError) {
    try context.send(packet.pointer)
    while let picture = try context.receive() { emit(picture) }
  }

  /// Takes the pictures that the decoder still holds; none of the streams that this program records has any. `reset`
  /// must follow before anything else is decoded.
  /// - Throws: `RecorderError` (damagedData).
  package mutating func finish(emit: (consuming Picture) -> Void) throws(RecorderError) {
    try context.send(nil)
    while let picture = try context.receive() { emit(picture) }
  }

  /// Forgets all packets before, after a seek.
  package mutating func reset() { avcodec_flush_buffers(context.pointer) }
}
