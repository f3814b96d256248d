import Glibc
import Media
import SessionModel
import TestSupport
import Testing

@Suite struct ContainerTests {
  private let size = PixelSize(width: 64, height: 48)

  private func nextFacts(_ reader: inout ContainerReader) throws -> PacketFacts? {
    guard let packet = try reader.next() else { return nil }
    return PacketFacts(packet)
  }

  @Test(arguments: ContainerWriter.Format.allCases)
  func packetsComeBackAsTheyWere(_ format: ContainerWriter.Format) throws {
    let folder = try TemporaryFolder()
    let written = try record(noisyShots(50), format: format, to: folder.file("a"))
    #expect(try packets(folder.file("a")).map(\.label) == written)
    let reader = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
    let streams = reader.streams
    #expect(streams.map(\.codecName) == ["h264"] && streams.map(\.kind) == [.video])
    #expect(streams[0].size == size)
    // From 0 to the last picture, and its length where the container has one.
    let duration = reader.duration
    #expect((4_900_000_000...5_000_000_000).contains(try #require(duration)))
  }

  @Test func aFileThatWasNeverFinishedIsReadable() throws {
    let folder = try TemporaryFolder()
    let written = try record(noisyShots(50), to: folder.file("a"), finish: false)
    #expect(try packets(folder.file("a")).map(\.label) == written)
    var reader = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
    let duration = reader.duration
    #expect(duration == nil)
    let extent = StreamExtent(
      first: .zero, last: Timestamp(nanoseconds: 4_900_000_000), end: Timestamp(nanoseconds: 4_900_000_000), packets: 50
    )
    #expect(try reader.extents() == [extent])
    let probe = try ChildProcess([
      "ffprobe", "-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", folder.file("a"),
    ])
    #expect(try probe.wait().lines.count == 50)
  }

  @Test func whatWasFlushedIsInTheKernel() throws {
    let folder = try TemporaryFolder()
    let settings = VideoEncoderSettings(VideoOptions(), picture: size)
    var encoder = try VideoEncoder(settings)
    let picture = try encoder.makePicture()
    var writer = try ContainerWriter(
      format: .matroska, fileDescriptor: openFile(folder.file("a"), O_RDWR | O_CREAT), streams: [encoder.stream],
      metadata: ["title": "quotes \" and\nlines"])
    var written: [PacketFacts.Label] = []
    for index in 0..<10 as Range<Int64> {
      var failure: RecorderError?
      try encoder.encode(picture, at: Timestamp(nanoseconds: index * 40_000_000), keyframe: index == 0) { packet in
        written.append(PacketFacts(packet).label)
        do throws(RecorderError) { try writer.write(packet, stream: 0) } catch { failure = error }
      }
      #expect(failure == nil)
      try writer.flush()
      #expect(try packets(folder.file("a")).map(\.label) == written)
      #expect(try Int64(readFile(folder.file("a")).count) == writer.bytesWritten)
    }
    let bytes = try writer.finish()
    #expect(try Int64(readFile(folder.file("a")).count) == bytes)
    #expect(try writer.finish() == bytes)
    #expect(try packets(folder.file("a")).map(\.label) == written)
  }

  @Test(arguments: [(ContainerWriter.Format.matroska, true), (.matroska, false), (.mp4, true)])
  func aSeekLandsOnTheKeyframeBefore(_ format: ContainerWriter.Format, finished: Bool) throws {
    let folder = try TemporaryFolder()
    // An encoder that makes keyframes of scene cuts, too.
    var options = VideoOptions()
    (options.quality, options.preset, options.quantiser) = (nil, "superfast", nil)
    let written = try record(
      noisyShots(100), options: options, format: format, to: folder.file("a"), finish: finished)
    let keyframes = written.filter(\.keyframe).map { $0.time.nanoseconds / 1_000_000 }
    #expect(keyframes.count > 5 && Set(keyframes).isSuperset(of: [0, 2000, 4000, 6000, 8000]))
    var reader = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
    for time in [5000, 0, 9900, 2000, 1999, 6001, 100_000, -5] as [Int64] {
      try reader.seek(to: Timestamp(nanoseconds: time * 1_000_000), stream: 0)
      let next = try nextFacts(&reader)
      let facts = try #require(next)
      let expected = keyframes.last { $0 <= time } ?? 0
      #expect(facts.time.nanoseconds == expected * 1_000_000 && facts.keyframe, "seek to \(time)")
    }
  }

  @Test func anMP4HasItsIndexFirst() throws {
    let folder = try TemporaryFolder()
    try record(noisyShots(30), format: .mp4, to: folder.file("a"))
    let bytes = try readFile(folder.file("a"))
    // Boxes are a big-endian size and four letters (ISO/IEC 14496-12).
    var (boxes, place) = ([String](), 0)
    while place + 8 <= bytes.count {
      boxes.append(String(decoding: bytes[place + 4..<place + 8], as: UTF8.self))
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      try #require(length >= 8)
      place += length
    }
    #expect(boxes == ["ftyp", "moov", "free", "mdat"])
    #expect(place == bytes.count)
    let times = try decode(folder.file("a"), size: size).map(\.milliseconds)
    #expect(times == (0..<30).map { $0 * 100 })
  }

  @Test(arguments: ContainerWriter.Format.allCases)
  func equalTimesBecomeNeighbours(_ format: ContainerWriter.Format) throws {
    let folder = try TemporaryFolder()
    var encoder = try VideoEncoder(VideoEncoderSettings(VideoOptions(), picture: size))
    let picture = try encoder.makePicture()
    var writer = try ContainerWriter(
      format: format, fileDescriptor: openFile(folder.file("a"), O_RDWR | O_CREAT), streams: [encoder.stream],
      metadata: [:])
    for (index, time) in ([5, 5, 5, 4, 20] as [Int64]).enumerated() {
      var failure: RecorderError?
      try encoder.encode(picture, at: Timestamp(nanoseconds: Int64(index) * 1_000_000_000), keyframe: false) { packet in
        var packet = packet
        packet.pts = Timestamp(nanoseconds: time * 1_000_000)
        packet.dts = packet.pts
        do throws(RecorderError) { try writer.write(packet, stream: 0) } catch { failure = error }
      }
      #expect(failure == nil)
    }
    _ = try writer.finish()
    let times = try packets(folder.file("a")).map { $0.time.nanoseconds }
    // A tick is a millisecond in Matroska and 1/16000 s in MPEG-4.
    let tick: Int64 = format == .matroska ? 1_000_000 : 62_500
    #expect(times == [5_000_000, 5_000_000 + tick, 5_000_000 + 2 * tick, 5_000_000 + 3 * tick, 20_000_000])
  }

  @Test func aRecordingIsCopiedIntoAnMP4() throws {
    let folder = try TemporaryFolder()
    try record(noisyShots(30), to: folder.file("a.mkv"))
    var reader = try ContainerReader(fileDescriptor: openFile(folder.file("a.mkv"), O_RDONLY))
    var writer = try ContainerWriter(
      format: .mp4, fileDescriptor: openFile(folder.file("a.mp4"), O_RDWR | O_CREAT), streams: reader.streams,
      metadata: [:])
    while let packet = try reader.next() { try writer.write(packet, stream: 0) }
    _ = try writer.finish()
    // The same pictures at the same times, the last one included.
    let (from, to) = (try decode(folder.file("a.mkv"), size: size), try decode(folder.file("a.mp4"), size: size))
    #expect(from.count == 30)
    #expect(to.map(\.milliseconds) == from.map(\.milliseconds))
    #expect(zip(from, to).allSatisfy { $0.screen.difference(from: $1.screen) == 0 })
  }

  @Test func aPacketOfNoStreamIsRefused() throws {
    let folder = try TemporaryFolder()
    var encoder = try VideoEncoder(VideoEncoderSettings(VideoOptions(), picture: size))
    let picture = try encoder.makePicture()
    var writer = try ContainerWriter(
      format: .matroska, fileDescriptor: openFile(folder.file("a"), O_RDWR | O_CREAT), streams: [encoder.stream],
      metadata: [:])
    var failure: RecorderError?
    try encoder.encode(picture, at: .zero, keyframe: true) { packet in
      do throws(RecorderError) { try writer.write(packet, stream: 1) } catch { failure = error }
    }
    #expect(failure?.code == .brokenInvariant)
  }

  @Test func soundAndPictureShareAFile() throws {
    let folder = try TemporaryFolder()
    for format in ContainerWriter.Format.allCases {
      var video = try VideoEncoder(VideoEncoderSettings(VideoOptions(), picture: size))
      var audio = try AudioEncoder(.mix, bitRate: 96_000)
      let picture = try video.makePicture()
      var writer = try ContainerWriter(
        format: format, fileDescriptor: openFile(folder.file("a"), O_RDWR | O_CREAT | O_TRUNC),
        streams: [video.stream, audio.stream], metadata: ["title": "Größe"])
      var failures = 0
      let silence = [Float](repeating: 0, count: 2 * 4800)
      for tenth in 0..<20 as Range<Int64> {
        try video.encode(picture, at: Timestamp(nanoseconds: tenth * 100_000_000), keyframe: tenth == 0) { packet in
          if (try? writer.write(packet, stream: 0)) == nil { failures += 1 }
        }
        try silence.withUnsafeBufferPointer { samples in
          try audio.encode(samples, at: tenth * 4800) { packet in
            if (try? writer.write(packet, stream: 1)) == nil { failures += 1 }
          }
        }
      }
      try audio.finish { packet in if (try? writer.write(packet, stream: 1)) == nil { failures += 1 } }
      _ = try writer.finish()
      #expect(failures == 0)
      var reader = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
      let streams = reader.streams
      #expect(streams.map(\.kind) == [.video, .audio])
      #expect(streams[1].sampleRate == 48_000 && streams[1].channels == 2)
      let extents = try reader.extents()
      #expect(extents[0]?.packets == 20)
      #expect(extents[0]?.last == Timestamp(nanoseconds: 1_900_000_000))
      // 96000 frames are 93.75 packets of 1024, and one holds the encoder's delay: Matroska has no time for that.
      #expect(extents[1]?.packets == (format == .matroska ? 94 : 95))
    }
  }
}
