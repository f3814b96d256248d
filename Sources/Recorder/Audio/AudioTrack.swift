internal import Media
import SessionModel

/// The mix or one input as it is measured and, when it is a track of the file, encoded, on the mix thread.
final class AudioTrack {
  /// `mix`, or the input's.
  let name: String
  /// What the file's header has to know; nil when it is no track of the file.
  let stream: StreamDescription?
  /// Frames in a packet.
  let frameSize: Int
  private var encoder: AudioEncoder?
  private var meter: LoudnessMeter
  /// What was heard of it.
  let heard: HeardSound
  /// Frames written so far.
  private var position: Int64 = 0

  /// Opens the meter and, when it is a track, the encoder.
  /// - Throws: `RecorderError` (unavailable, usage) when there is no such encoder or it refuses its settings.
  init(_ name: String, _ options: AudioOptions, isTrack: Bool) throws(RecorderError) {
    meter = try LoudnessMeter()
    self.name = name
    heard = HeardSound(name)
    guard isTrack else {
      encoder = nil
      (stream, frameSize) = (nil, 0)
      return
    }
    let opened = try AudioEncoder(.mix, bitRate: options.bitRate, codec: options.codec.encoder)
    (stream, frameSize) = (opened.stream, opened.frameSize)
    encoder = consume opened
  }

  /// Measures and encodes `samples`, which follow the ones before.
  /// - Parameter start: since when a held capture is held; nil when all is kept.
  /// - Throws: `RecorderError` when the encoder fails.
  func write(
    _ samples: UnsafeBufferPointer<Float>, heldSince start: Timestamp?, emit: (consuming Packet) -> Void
  ) throws(RecorderError) {
    meter.add(samples) { block in heard.add(block, heldSince: start) }
    try encoder?.encode(samples, at: position, emit: emit)
    position += Int64(samples.count / AudioFormat.mix.channels)
  }

  /// Measures and encodes what does not fill a block or a packet.
  /// - Throws: `RecorderError` when the encoder fails.
  func finish(heldSince start: Timestamp?, emit: (consuming Packet) -> Void) throws(RecorderError) {
    meter.finish { block in heard.add(block, heldSince: start) }
    try encoder?.finish(emit: emit)
  }
}
