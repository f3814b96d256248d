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

  /// A recording of `count` pictures at 10 a second, a keyframe every 20.
  private func shots(_ count: Int) -> [Shot] {
    var shots: [Shot] = []
    for index in 0..<count {
      let screen = Screen.noise(size, seed: UInt32(index / 5 + 1))
      shots.append(Shot(screen: screen, milliseconds: Int64(index) * 100, keyframe: index % 20 == 0))
    }
    return shots
  }

  @Test(arguments: ContainerWriter.Format.allCases)
  func packetsComeBackAsTheyWere(_ format: ContainerWriter.Format) throws {
    let folder = try TemporaryFolder()
    let written = try record(shots(50), format: format, to: folder.file("a"))
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
    let written = try record(shots(50), to: folder.file("a"), finish: false)
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

  @Test(arguments: [true, false])
  func aFileCutAnywhereGivesAPrefix(_ finished: Bool) throws {
    let folder = try TemporaryFolder()
    try record(shots(30), to: folder.file("a"), finish: finished)
    let written = try packets(folder.file("a"))
    let whole = try readFile(folder.file("a"))
    let cuts = Array(0..<700) + stride(from: 700, to: whole.count, by: 997) + Array(whole.count - 300..<whole.count)
    var readable = 0
    var most = 0
    for cut in cuts {
      try writeFile(folder.file("cut"), whole[..<cut])
      do {
        let found = try packets(folder.file("cut"))
        let isPrefix = found == Array(written.prefix(found.count))
        #expect(isPrefix, "cut at \(cut)")
        // Nothing that is whole is lost: the bytes of what follows reach past the cut.
        #expect(found.count >= most || cut < 700, "cut at \(cut)")
        most = max(most, found.count)
        readable += 1
      } catch let error as RecorderError {
        #expect(error.code == .damagedData)
        #expect(cut < 700, "cut at \(cut): \(error)")
      }
    }
    #expect(readable > cuts.count - 700)
    #expect(most == written.count || (!finished && most >= written.count - 1))
  }

  @Test func aDamagedFileNeverStopsTheReader() throws {
    let folder = try TemporaryFolder()
    for format in ContainerWriter.Format.allCases {
      try record(shots(30), format: format, to: folder.file("a"))
      let whole = try readFile(folder.file("a"))
      var state: UInt32 = 1
      for _ in 0..<150 {
        var damaged = whole
        for _ in 0..<20 {
          state = state &* 1_664_525 &+ 1_013_904_223
          // Half of the damage goes to where the structure is.
          let place = Int(state >> 8) % (state & 1 == 0 ? min(1200, whole.count) : whole.count)
          damaged[place] = UInt8(truncatingIfNeeded: state >> 3)
        }
        try writeFile(folder.file("b"), damaged)
        _ = try? decode(folder.file("b"), size: size)
        if var reader = try? ContainerReader(fileDescriptor: openFile(folder.file("b"), O_RDONLY)) {
          try? reader.seek(to: Timestamp(nanoseconds: 2_000_000_000), stream: 0)
          _ = try? reader.next()
        }
      }
    }
  }

  @Test func whatIsNoMediaFileIsRefused() throws {
    let folder = try TemporaryFolder()
    let playlist = "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"
    for bytes in [[], Array("hello".utf8), Array(playlist.utf8), [UInt8](repeating: 0, count: 10_000)] {
      try writeFile(folder.file("a"), bytes)
      let error = #expect(throws: RecorderError.self) {
        _ = try ContainerReader(fileDescriptor: openFile(folder.file("a"), O_RDONLY))
      }
      #expect(error?.code == .damagedData)
    }
    let error = #expect(throws: RecorderError.self) {
      _ = try ContainerReader(fileDescriptor: openFile(folder.path, O_RDONLY))
    }
    #expect(error == RecorderError(.systemCall, "The media file could not be read: Is a directory."))
  }

  @Test(arguments: [(ContainerWriter.Format.matroska, true), (.matroska, false), (.mp4, true)])
  func aSeekLandsOnTheKeyframeBefore(_ format: ContainerWriter.Format, finished: Bool) throws {
    let folder = try TemporaryFolder()
    let written = try record(shots(100), format: format, to: folder.file("a"), finish: finished)
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

  @Test func aFullDiskIsNamed() throws {
    let settings = VideoEncoderSettings(VideoOptions(), picture: size)
    let encoder = try VideoEncoder(settings)
    let error = #expect(throws: RecorderError.self) {
      _ = try ContainerWriter(
        format: .matroska, fileDescriptor: openFile("/dev/full", O_RDWR), streams: [encoder.stream], metadata: [:])
    }
    #expect(error?.code == .writeFailed)
    #expect(error?.message == "The media file could not be written: No space left on device.")
    #expect(error?.hint == "Make room on the disk.")
  }

  /// A file in memory, sealed at its size; the Glibc module lacks memfd_create(2) and its numbers.
  private func fileThatCannotGrow(past size: Int) throws -> Int32 {
    typealias Function = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
    let symbol = try #require(dlsym(nil, "memfd_create"))
    let (allowSealing, addSeals, sealGrow) = (UInt32(2), Int32(1033), Int32(4))
    let descriptor = unsafeBitCast(symbol, to: Function.self)("media", allowSealing)
    try #require(descriptor >= 0 && ftruncate(descriptor, size) == 0 && fcntl(descriptor, addSeals, sealGrow) == 0)
    return descriptor
  }

  @Test func whatWasWrittenBeforeAFailureStaysPlayable() throws {
    // Later writes fail as on a full disk.
    let descriptor = try fileThatCannotGrow(past: 40_000)
    let kept = dup(descriptor)
    let settings = VideoEncoderSettings(VideoOptions(), picture: size)
    var encoder = try VideoEncoder(settings)
    let picture = try encoder.makePicture()
    var canvas = try FrameCanvas(source: size, settings: settings, picture: size)
    var writer = try ContainerWriter(
      format: .matroska, fileDescriptor: descriptor, streams: [encoder.stream], metadata: [:])
    var (written, flushed): ([PacketFacts.Label], Int) = ([], 0)
    var failure: RecorderError?
    for index in 0..<200 as Range<Int64> where failure == nil {
      canvas.update(.noise(size, seed: UInt32(index + 1)))
      canvas.render(into: picture, pointer: nil)
      try encoder.encode(picture, at: Timestamp(nanoseconds: index * 100_000_000), keyframe: index == 0) { packet in
        written.append(PacketFacts(packet).label)
        do throws(RecorderError) { try writer.write(packet, stream: 0) } catch { failure = error }
      }
      do throws(RecorderError) {
        try writer.flush()
        flushed = written.count
      } catch { failure = error }
    }
    let error = try #require(failure)
    #expect(error.code == .writeFailed && error.message.hasPrefix("The media file could not be written: "))
    // It keeps failing, with the same words.
    #expect(throws: error) { try writer.flush() }
    #expect(throws: error) { _ = try writer.finish() }
    #expect(flushed > 3)
    var reader = try ContainerReader(fileDescriptor: kept)
    var found: [PacketFacts.Label] = []
    while let packet = try reader.next() { found.append(PacketFacts(packet).label) }
    #expect(found.count >= flushed)
    #expect(Array(found.prefix(flushed)) == Array(written.prefix(flushed)))
  }

  @Test func anMP4HasItsIndexFirst() throws {
    let folder = try TemporaryFolder()
    try record(shots(30), format: .mp4, to: folder.file("a"))
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
    try record(shots(30), to: folder.file("a.mkv"))
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
