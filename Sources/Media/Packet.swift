internal import CFFmpeg
package import SessionModel

/// One encoded picture or block of sound: the sole owner of its times, which are nanoseconds of the session, and an owner
/// of its bytes, which nobody changes.
package struct Packet: ~Copyable, Sendable {
  // Safe to hand on: it cannot be copied, so that one thread has it at a time; FFmpeg counts the bytes' owners atomically.
  nonisolated(unsafe) let pointer: UnsafeMutablePointer<AVPacket>

  /// Makes a packet without bytes.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  init() throws(RecorderError) {
    guard let pointer = av_packet_alloc() else { throw outOfMemory("a packet") }
    pointer.pointee.time_base = nanosecondTicks
    self.pointer = pointer
  }

  /// Takes the bytes of `source`, whose times are of `timeBase`, and leaves `source` empty.
  init(taking source: UnsafeMutablePointer<AVPacket>, timeBase: AVRational) throws(RecorderError) {
    try self.init()
    av_packet_move_ref(pointer, source)
    av_packet_rescale_ts(pointer, timeBase, nanosecondTicks)
    pointer.pointee.time_base = nanosecondTicks
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&pointer)
  }

  /// Another packet of the same bytes and times; the bytes are not copied.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  package borrowing func share() throws(RecorderError) -> Packet {
    let packet = try Packet()
    guard av_packet_ref(packet.pointer, pointer) >= 0 else { throw outOfMemory("a packet") }
    packet.pointer.pointee.time_base = nanosecondTicks
    return packet
  }

  /// The stream it belongs to, from 0 in the order of the container.
  package var stream: Int {
    get { Int(pointer.pointee.stream_index) }
    set { pointer.pointee.stream_index = Int32(clamping: newValue) }
  }
  /// When it is shown or heard.
  package var pts: Timestamp {
    get { Timestamp(nanoseconds: pointer.pointee.pts) }
    set { pointer.pointee.pts = newValue.nanoseconds }
  }
  /// When it must be decoded; never after `pts`, and the same without B-frames.
  package var dts: Timestamp {
    get { Timestamp(nanoseconds: pointer.pointee.dts) }
    set { pointer.pointee.dts = newValue.nanoseconds }
  }
  /// How long it lasts, in nanoseconds; 0 when that is not known.
  package var duration: Int64 {
    get { pointer.pointee.duration }
    set { pointer.pointee.duration = newValue }
  }
  /// Whether decoding can begin here.
  package var isKeyframe: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
  /// Bytes of encoded data.
  package var byteCount: Int { Int(pointer.pointee.size) }

  /// Calls `body` with the encoded bytes, valid during the call.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(start: pointer.pointee.data, count: pointer.pointee.data == nil ? 0 : byteCount))
  }
}
