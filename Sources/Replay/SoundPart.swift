import Media
import SessionModel

/// The sound of a part, encoded as it goes.
struct SoundPart: ~Copyable {
  private var cursor: SoundCursor
  private var encoder: AudioEncoder
  private let span: ExportSpan
  private var written: Int64 = 0
  private let samples = UnsafeMutableBufferPointer<Float>.allocate(
    capacity: Self.block * AudioFormat.mix.channels)

  /// Frames that are encoded at a time: AAC's packet.
  private static let block = 1024

  /// Opens the encoder and goes to the part's beginning.
  init(_ timeline: Timeline, _ span: ExportSpan) throws(RecorderError) {
    var cursor = SoundCursor(timeline)
    try cursor.seek(to: span.start)
    encoder = try AudioEncoder(.mix, bitRate: timeline.manifest.options.audio.bitRate)
    self.cursor = cursor
    self.span = span
  }

  deinit { samples.deallocate() }

  /// What a container has to know of the encoded stream.
  var stream: StreamDescription { encoder.stream }

  /// Encodes what is heard before `time`.
  mutating func write(until time: Timestamp, to writer: inout ExportWriter) throws(RecorderError) {
    let end = (time - span.start) * Int64(AudioFormat.mix.sampleRate) / 1_000_000_000
    while written < end {
      let frames = Int(min(Int64(Self.block), end - written))
      let part = UnsafeMutableBufferPointer(rebasing: samples[..<(frames * AudioFormat.mix.channels)])
      let count = try cursor.read(into: part)
      guard count > 0 else { return }
      let filled = UnsafeBufferPointer(rebasing: part[..<(count * AudioFormat.mix.channels)])
      try encoder.encode(filled, at: written) { packet in
        writer.write(packet, stream: 1)
      }
      try writer.check()
      written += Int64(count)
    }
  }

  /// Encodes what does not fill a packet.
  mutating func finish(to writer: inout ExportWriter) throws(RecorderError) {
    try encoder.finish { packet in
      writer.write(packet, stream: 1)
    }
    try writer.check()
  }
}
