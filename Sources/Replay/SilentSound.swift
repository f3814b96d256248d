import Media
import SessionModel
import Threading

/// A packet of silence in the place of any other of a sound stream.
final class SilentSound {
  /// How long it lasts, in ns.
  let duration: Int64
  private let packet: Packet

  /// Packets after which the encoder has forgotten how it began: AAC's overlap one another by one.
  private static let settled = 4

  /// Encodes silence as `stream`, which was recorded with `options`, has its sound.
  /// - Throws: `RecorderError`: unavailable when FFmpeg lacks the encoder, damagedData when the stream is none that is
  ///   recorded so.
  init(_ stream: StreamDescription, _ options: AudioOptions) throws(RecorderError) {
    let format = AudioFormat(sampleRate: stream.sampleRate, channels: stream.channels)
    var encoder = try AudioEncoder(format, bitRate: options.bitRate, codec: options.codec.encoder)
    guard encoder.stream.codecName == stream.codecName else {
      throw RecorderError(
        .damagedData,
        "A media file has sound of \(stream.codecName.printable), and the manifest says \(options.codec.rawValue)."
      )
    }
    let packets = BoundedQueue<Packet>(capacity: 2 * Self.settled)
    let silence = [Float](repeating: 0, count: encoder.frameSize * format.channels)
    for number in 0..<Self.settled {
      try silence.withUnsafeBufferPointer { (samples) throws(RecorderError) in
        try encoder.encode(samples, at: Int64(number * encoder.frameSize)) { _ = packets.tryPush($0) }
      }
    }
    try encoder.finish { _ = packets.tryPush($0) }
    for _ in 0..<Self.settled - 2 { _ = packets.tryPop() }
    guard let packet = packets.tryPop() else {
      throw RecorderError(.systemCall, "The encoder \(options.codec.encoder) gave no silence.")
    }
    self.packet = packet
    duration = Int64(encoder.frameSize) * 1_000_000_000 / Int64(max(1, format.sampleRate))
  }

  /// Silence as long and at the time as `other`.
  func packet(like other: borrowing Packet) throws(RecorderError) -> Packet {
    var silent = try packet.share()
    (silent.pts, silent.dts, silent.duration) = (other.pts, other.dts, other.duration)
    return silent
  }
}
