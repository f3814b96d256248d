import Glibc
import Media
import SessionModel
import TestSupport
import Testing

@Suite struct SoundTests {
  @Test(arguments: [ContainerWriter.Format.matroska, .mp4], [0, 480, 100_000] as [Int64])
  func toneSurvives(_ format: ContainerWriter.Format, start: Int64) throws {
    let folder = try TemporaryFolder()
    let audio = AudioFormat.mix
    var encoder = try AudioEncoder(audio, bitRate: 160_000)
    print(encoder.frameSize, encoder.stream.initialPadding)
    var writer = try ContainerWriter(
      format: format, fileDescriptor: openFile(folder.file("a"), O_RDWR | O_CREAT), streams: [encoder.stream],
      metadata: [:])
    // A second of silence, then one of 1 kHz at half of full scale.
    let samples: [Float] = (0..<96_000).flatMap { index -> [Float] in
      let value = index < 48_000 ? 0 : 0.5 * sinf(2 * .pi * 1000 * Float(index) / 48_000)
      return [value, value]
    }
    var first: Timestamp?
    try samples.withUnsafeBufferPointer { samples in
      try encoder.encode(samples, at: start) { packet in
        if first == nil { first = packet.pts }
        do { try writer.write(packet, stream: 0) } catch { print(error) }
      }
    }
    try encoder.finish { packet in do { try writer.write(packet, stream: 0) } catch { print(error) } }
    _ = try writer.finish()
    print("first", first!.nanoseconds)
    var reader = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
    print(reader.streams[0].initialPadding, reader.duration ?? -1)
    var decoder = try AudioDecoder(reader.streams[0])
    var n = 0
    var onset: Double?
    while let packet = try reader.next() {
      if n < 3 { print("pkt", packet.pts.nanoseconds, packet.duration) }
      try decoder.decode(packet) { block, time in
        if n < 3 { print("  block", time.nanoseconds, block.count / 2) }
        if onset == nil, let at = stride(from: 0, to: block.count, by: 2).first(where: { abs(block[$0]) > 0.1 }) {
          onset = time.seconds + Double(at / 2) / 48000
        }
      }
      n += 1
    }
    print(n, onset! - Double(start) / 48000)
  }
}
