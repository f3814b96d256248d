import Glibc
import Media
import SessionModel
import TestSupport
import Testing

@Suite struct DamageTests {
  private let size = PixelSize(width: 64, height: 48)

  @Test(arguments: [true, false])
  func aFileCutAnywhereGivesAPrefix(_ finished: Bool) throws {
    let folder = try TemporaryFolder()
    try record(noisyShots(30), to: folder.file("a"), finish: finished)
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
      try record(noisyShots(30), format: format, to: folder.file("a"))
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
      canvas.render(.noise(size, seed: UInt32(index + 1)), into: picture)
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
}
