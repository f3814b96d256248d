import Glibc
import Media
import SessionModel
import TestSupport
import Testing

@Suite struct SoundTests {
  /// A sine of `frequency` Hz at half of full scale, the same on each channel; silence where `sounds` says so.
  private func tone(
    _ audio: AudioFormat, frames: Int, frequency: Double = 1000, sounds: (Int) -> Bool = { _ in true }
  ) -> [Float] {
    (0..<frames).flatMap { frame -> [Float] in
      let value = sounds(frame) ? 0.5 * sin(2 * .pi * frequency * Double(frame) / Double(audio.sampleRate)) : 0
      return [Float](repeating: Float(value), count: audio.channels)
    }
  }

  /// The level of `samples` in dB of full scale, as the root of the mean square.
  private func level(_ samples: some Collection<Float>) -> Double {
    let square = samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
    return 10 * log10(max(square, 1e-12))
  }

  /// Decoded sound: the first channel's samples and the time of each in seconds.
  private struct Heard {
    var samples: [Float] = []
    var times: [Double] = []
  }

  /// Encodes `blocks`, writes them to `path` and decodes the file again.
  private func throughFile(
    _ blocks: [(samples: [Float], index: Int64)], _ audio: AudioFormat, _ container: ContainerWriter.Format,
    codec: String = "aac"
  ) throws -> Heard {
    let folder = try TemporaryFolder()
    var encoder = try AudioEncoder(audio, bitRate: 160_000, codec: codec)
    var writer = try ContainerWriter(
      format: container, fileDescriptor: openFile(folder.file("a"), O_RDWR | O_CREAT), streams: [encoder.stream],
      metadata: [:])
    var failures = 0
    for block in blocks {
      try block.samples.withUnsafeBufferPointer { samples in
        try encoder.encode(samples, at: block.index) { packet in
          if (try? writer.write(packet, stream: 0)) == nil { failures += 1 }
        }
      }
    }
    try encoder.finish { packet in if (try? writer.write(packet, stream: 0)) == nil { failures += 1 } }
    _ = try writer.finish()
    #expect(failures == 0)
    var reader = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
    let streams = reader.streams
    #expect(streams.count == 1 && streams[0].sampleRate == audio.sampleRate && streams[0].channels == audio.channels)
    var decoder = try AudioDecoder(streams[0])
    var heard = Heard()
    func take(_ block: UnsafeBufferPointer<Float>, _ time: Timestamp) {
      for frame in 0..<block.count / audio.channels {
        heard.samples.append(block[frame * audio.channels])
        heard.times.append(time.seconds + Double(frame) / Double(audio.sampleRate))
      }
    }
    while let packet = try reader.next() { try decoder.decode(packet) { take($0, $1) } }
    try decoder.finish { take($0, $1) }
    return heard
  }

  @Test(
    arguments: ContainerWriter.Format.allCases,
    ["aac", "libopus"].flatMap { codec in [0, 480, 100_000].map { (codec, $0) } } as [(String, Int64)])
  func aToneKeepsItsLevelAndItsTime(_ container: ContainerWriter.Format, _ sound: (codec: String, start: Int64)) throws
  {
    let (codec, start) = sound
    // A second of silence, then a second of sound.
    let samples = tone(.mix, frames: 96_000) { $0 >= 48_000 }
    let heard = try throughFile([(samples, start)], .mix, container, codec: codec)
    let begin = Double(start) / 48_000
    let onset = try #require(heard.samples.firstIndex { abs($0) > 0.25 })
    // The sine passes half of its height a twelfth of a millisecond after it begins.
    #expect(abs(heard.times[onset] - (begin + 1 + 1.0 / 12_000)) < 0.001)
    let steady = zip(heard.samples, heard.times).filter { $0.1 > begin + 1.1 && $0.1 < begin + 1.9 }.map(\.0)
    #expect(steady.count > 38_000)
    #expect(abs(level(steady) - 20 * log10(0.5 / 2.0.squareRoot())) < 1)
    let quiet = zip(heard.samples, heard.times).filter { $0.1 < begin + 0.9 }.map(\.0)
    #expect(level(quiet) < -60)
    // No frame overlaps the next or leaves a gap, although Matroska's times are in milliseconds.
    let steps = zip(heard.times, heard.times.dropFirst()).map { ($1 - $0) * 48_000 }
    #expect(steps.allSatisfy { abs($0 - 1) < 0.01 })
    // Every frame is there: to its end, and from its beginning or Matroska's first millisecond.
    #expect(try #require(heard.times.last) >= begin + 2 - 0.001)
    #expect(try #require(heard.times.first) <= begin + 0.001)
  }

  @Test func missingFramesBecomeSilenceAndRepeatedOnesAreLeftOut() throws {
    let whole = tone(.mix, frames: 48_000)
    let blocks: [(samples: [Float], index: Int64)] = [
      (Array(whole[..<(2 * 12_000)]), 0),
      // A quarter of a second is missing; then 1000 frames come twice.
      (Array(whole[(2 * 24_000)..<(2 * 36_000)]), 24_000), (Array(whole[(2 * 35_000)...]), 35_000),
      (Array(whole[..<20]), 10),
    ]
    let heard = try throughFile(blocks, .mix, .matroska, codec: "flac")
    #expect(heard.samples.count == 48_000)
    for frame in 0..<heard.samples.count {
      let expected = (12_000..<24_000).contains(frame) ? 0 : whole[2 * frame]
      // FLAC is given 16 bits here.
      guard abs(heard.samples[frame] - expected) <= 1.0 / 32_000 else {
        Issue.record("frame \(frame): \(heard.samples[frame]) for \(expected)")
        return
      }
    }
  }

  @Test(arguments: [AudioFormat(sampleRate: 44_100, channels: 1), AudioFormat(sampleRate: 48_000, channels: 6)])
  func otherFormatsAreEncoded(_ audio: AudioFormat) throws {
    let heard = try throughFile([(tone(audio, frames: audio.sampleRate), 0)], audio, .matroska)
    let steady = zip(heard.samples, heard.times).filter { $0.1 > 0.1 && $0.1 < 0.9 }.map(\.0)
    #expect(abs(level(steady) - 20 * log10(0.5 / 2.0.squareRoot())) < 1)
  }

  @Test func whatCannotBeEncodedIsNamed() {
    let missing = #expect(throws: RecorderError.self) { _ = try AudioEncoder(.mix, bitRate: 1, codec: "libx264") }
    #expect(missing?.code == .unavailable && missing?.message.contains("\"libx264\"") == true)
    let rate = #expect(throws: RecorderError.self) {
      _ = try AudioEncoder(AudioFormat(sampleRate: 12_345, channels: 2), bitRate: 96_000)
    }
    #expect(rate?.code == .usage && rate?.message.contains("12345 Hz") == true)
    let none = #expect(throws: RecorderError.self) {
      _ = try AudioEncoder(AudioFormat(sampleRate: 48_000, channels: 0), bitRate: 96_000)
    }
    #expect(none?.code == .usage)
  }

  /// Runs `samples` through `resampler` in blocks of 441 frames.
  private func resample(
    _ samples: [Float], _ resampler: inout Resampler, channels: Int, outputChannels: Int
  ) throws -> [Float] {
    var result: [Float] = []
    var room = [Float](repeating: 0, count: 8192)
    for start in stride(from: 0, to: samples.count, by: 441 * channels) {
      let block = Array(samples[start..<min(samples.count, start + 441 * channels)])
      let capacity = resampler.outputCapacity(for: block.count / channels)
      let frames = try block.withUnsafeBufferPointer { block in
        try room.withUnsafeMutableBufferPointer { try resampler.convert(block, into: $0) }
      }
      #expect(frames <= capacity)
      result += room[..<(frames * outputChannels)]
    }
    while case let frames = try room.withUnsafeMutableBufferPointer({ try resampler.finish(into: $0) }), frames > 0 {
      result += room[..<(frames * outputChannels)]
    }
    return result
  }

  @Test func fortyFourBecomesFortyEight() throws {
    let cd = AudioFormat(sampleRate: 44_100, channels: 1)
    var resampler = try Resampler(from: cd, to: .mix)
    let result = try resample(tone(cd, frames: 44_100), &resampler, channels: 1, outputChannels: 2)
    #expect(abs(result.count / 2 - 48_000) <= 1)
    let (left, right) = (stride(from: 0, to: result.count, by: 2), stride(from: 1, to: result.count, by: 2))
    #expect(left.map { result[$0] } == right.map { result[$0] })
    // The same sine at the new rate, away from the ends, to -60 dB of it; mono keeps its level on both sides.
    let expected = tone(.mix, frames: 48_000)
    let error = (4800..<43_200).map { result[2 * $0] - expected[2 * $0] }
    #expect(level(error) < -60 - 9)
  }

  @Test(arguments: [480, -480])
  func compensationStretches(_ frames: Int) throws {
    let mono = AudioFormat(sampleRate: 48_000, channels: 1)
    var resampler = try Resampler(from: mono, to: mono)
    try resampler.compensate(frames: frames, over: 48_000)
    let result = try resample(tone(mono, frames: 96_000), &resampler, channels: 1, outputChannels: 1)
    // One hundredth more or less over the first second of the output, the rest as it was.
    #expect(abs(result.count - (96_000 + frames)) <= 2)
    #expect(abs(level(result[4800..<90_000]) - 20 * log10(0.5 / 2.0.squareRoot())) < 0.1)
  }

  @Test func resamplersThatCannotBeAreRefused() {
    let none = AudioFormat(sampleRate: 0, channels: 2)
    let error = #expect(throws: RecorderError.self) { _ = try Resampler(from: none, to: .mix) }
    #expect(error?.code == .usage)
  }
}
