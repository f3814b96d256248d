import FoundationEssentials
import Glibc
import Media
import Replay
import SessionModel
import TestSupport
import Testing

@Suite("Exporting")
struct ExportTests {
  private struct Packets {
    var pictures: [(time: Int64, bytes: [UInt8], isKeyframe: Bool)] = []
    var soundOnset: Double?
    var duration: Int64
  }

  /// What a media file holds: times in ms, and when its sound first passes a tenth of full scale, in seconds.
  private static func read(_ path: FilePath) throws -> Packets {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    try #require(descriptor >= 0)
    var reader = try ContainerReader(fileDescriptor: descriptor)
    var packets = Packets(duration: (reader.duration ?? 0) / 1_000_000)
    let sound = reader.streams.firstIndex { $0.kind == .audio }
    var decoder: AudioDecoder?
    if let sound { decoder = try AudioDecoder(reader.streams[sound]) }
    while let packet = try reader.next() {
      if packet.stream == sound {
        try decoder?.decode(packet) { block, time in
          if packets.soundOnset == nil, let first = block.firstIndex(where: { abs($0) > 0.1 }) {
            packets.soundOnset = time.seconds + Double(first / 2) / 48_000
          }
        }
      } else {
        packets.pictures.append(
          (packet.pts.nanoseconds / 1_000_000, packet.withBytes { Array($0) }, packet.isKeyframe))
      }
    }
    return packets
  }

  /// Every picture of a media file: when it appears, in ms, and its first pixel.
  private static func colours(_ path: FilePath, _ size: PixelSize) throws -> [(time: Int64, colour: UInt32)] {
    var reader = try ContainerReader(fileDescriptor: path.withCString { open($0, O_RDONLY | O_CLOEXEC) })
    let stream = try #require(reader.streams.firstIndex { $0.kind == .video })
    var decoder = try VideoDecoder(reader.streams[stream])
    var converter = try PictureConverter(crop: size, output: size)
    var pixels = [UInt32](repeating: 0, count: size.area)
    var result: [(time: Int64, colour: UInt32)] = []
    while let packet = try reader.next() {
      guard packet.stream == stream else { continue }
      try decoder.decode(packet) { picture in
        pixels.withUnsafeMutableBytes { bytes in
          guard let start = bytes.baseAddress else { return }
          try? converter.convert(picture, into: start, bytesPerRow: size.width * 4)
        }
        result.append((picture.time.nanoseconds / 1_000_000, pixels[0] & 0xFFFFFF))
      }
    }
    return result
  }

  private static func request(
    _ name: String, in folder: TemporaryFolder, _ from: Int64? = nil, _ to: Int64? = nil
  ) throws -> ExportRequest {
    var request = try ExportRequest(file: #require(FilePath(folder.file(name))))
    request.from = from.map(Timestamp.milliseconds)
    request.to = to.map(Timestamp.milliseconds)
    return request
  }

  private static func ffprobe(_ path: FilePath, _ entries: String) throws -> [String] {
    try run(["ffprobe", "-v", "error", "-show_entries", entries, "-of", "csv=p=0", path.description]).lines
  }

  @Test("A whole session is copied packet for packet, and is as long as the session", arguments: ["mkv", "mp4"])
  func whole(_ format: String) throws {
    let session = try RecordedSession(Shot.series(12, from: 50), length: 4000) {
      $0.isLossless = false
      $0.tone = 1500
    }
    let folder = try TemporaryFolder()
    let request = try Self.request("all.\(format)", in: folder)
    #expect(try Exporter(session.timeline()).export(request) == .copied)
    let (file, source) = (try Self.read(request.file), try Self.read(session.mediaFile))
    #expect(file.pictures.map { $0.bytes } == source.pictures.map { $0.bytes })
    // The first picture stands from the beginning, as it does in a replay.
    #expect(file.pictures.map { $0.time } == [0] + (1..<12).map { 50 + $0 * 100 })
    #expect(file.pictures.map { $0.isKeyframe } == (0..<12).map { $0.isMultiple(of: 5) })
    #expect(abs(file.duration - 4000) <= 30)
    let onset = try #require(file.soundOnset)
    #expect(abs(onset - 1.5) < 0.003)
    // The file's owner alone may read what was on the screen.
    #expect(try run(["stat", "-c", "%a", request.file.description]).lines == ["600"])
  }

  @Test("A cut at a keyframe copies the packets from there on; half a frame beside it does too")
  func copiedCut() throws {
    let session = try RecordedSession(Shot.series(12), length: 4000) { $0.tone = 1000 }
    let folder = try TemporaryFolder()
    for from: Int64 in [500, 490, 515] {
      let request = try Self.request("cut\(from).mkv", in: folder, from, 3000)
      #expect(try Exporter(session.timeline()).export(request) == .copied)
      let (file, source) = (try Self.read(request.file), try Self.read(session.mediaFile))
      #expect(file.pictures.map { $0.bytes } == source.pictures[5...].map { $0.bytes })
      #expect(file.pictures.map { $0.time } == (0..<7).map { $0 * 100 })
      // The last picture, which came at 1.1 s, stands until the end.
      #expect(file.duration == 2500)
      let onset = try #require(file.soundOnset)
      #expect(abs(onset - 0.5) < 0.003)
    }
    let inside = try Self.request("inside.mkv", in: folder, 500, 801)
    #expect(try Exporter(session.timeline()).export(inside) == .copied)
    #expect(try Self.read(inside.file).pictures.map { $0.time } == [0, 100, 200, 300])
    #expect(try Self.read(inside.file).duration == 301)
  }

  @Test("A cut between keyframes, and an exact one, begins at the very picture and sample", arguments: [false, true])
  func exactCut(_ isExact: Bool) throws {
    let session = try RecordedSession(Shot.series(30), length: 6000) { $0.tone = 1200 }
    let folder = try TemporaryFolder()
    var request = try Self.request("cut.mkv", in: folder, isExact ? 500 : 730, 5000)
    request.isExact = isExact
    let from = try #require(request.from)
    #expect(try Exporter(session.timeline()).export(request) == .encoded)
    let colours = try Self.colours(request.file, PixelSize(width: 64, height: 48))
    let first = isExact ? 5 : 7
    // The picture of the cut is at 0, each later one at its own distance, the last one again where the file ends.
    let start = from.nanoseconds / 1_000_000
    let later = (first + 1..<30).map { index in Int64(index) * 100 - start }
    #expect(colours.map { $0.time } == [0] + later + [5000 - start - 33])
    let drawn = (first..<30).map { index in 0x010203 * UInt32(index + 1) }
    #expect(colours.map { $0.colour } == drawn + [0x010203 * 30])
    let file = try Self.read(request.file)
    #expect(abs(file.duration - (5000 - start)) <= 30)
    let onset = try #require(file.soundOnset)
    #expect(abs(onset - (1.2 - from.seconds)) < 0.001)
  }

  @Test("MP4 is what browsers play, whatever was recorded: H.264 in 4:2:0 and AAC, the index first")
  func mp4() throws {
    let session = try RecordedSession(Shot.series(12), length: 2000) {
      $0.tone = 0
      $0.size = PixelSize(width: 65, height: 49)
    }
    let folder = try TemporaryFolder()
    let request = try Self.request("a.mp4", in: folder)
    #expect(try Exporter(session.timeline()).export(request) == .encoded)
    #expect(
      try Self.ffprobe(request.file, "stream=codec_name,width,height,pix_fmt,sample_rate,channels") == [
        "h264,66,50,yuv420p", "aac,48000,2",
      ])
    let bytes = try readFile(folder.file("a.mp4"))
    let (index, data) = (Self.place(of: "moov", in: bytes), Self.place(of: "mdat", in: bytes))
    #expect(try #require(index) < #require(data))
    let duration = try #require(Self.ffprobe(request.file, "format=duration").first.flatMap { Double($0) })
    #expect(abs(duration - 2) < 0.03)
    let colours = try Self.colours(request.file, PixelSize(width: 65, height: 49))
    #expect(colours.count == 13)
    for (picture, shot) in zip(colours, Shot.series(12)) {
      #expect(picture.time == shot.milliseconds)
      for shift in [16, 8, 0] as [UInt32] {
        #expect(abs(Int(picture.colour >> shift & 0xFF) - Int(shot.colour >> shift & 0xFF)) <= 4)
      }
    }
  }

  private static func place(of box: String, in bytes: [UInt8]) -> Int? {
    let name = Array(box.utf8)
    return (0..<bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == name }
  }

  @Test("A last picture that stands for long is shown to the end by every player: it comes once more")
  func tail() throws {
    let session = try RecordedSession(Shot.series(3), length: 3000)
    let folder = try TemporaryFolder()
    let request = try Self.request("a.mkv", in: folder)
    #expect(try Exporter(session.timeline()).export(request) == .encoded)
    let colours = try Self.colours(request.file, PixelSize(width: 64, height: 48))
    #expect(colours.map { $0.time } == [0, 100, 200, 2967])
    #expect(colours.map { $0.colour } == [0x010203, 0x020406, 0x030609, 0x030609])
    #expect(try Self.read(request.file).duration == 3000)
    // Up to a second before the end the packets can stay.
    #expect(try Exporter(session.timeline()).export(Self.request("b.mkv", in: folder, nil, 1200)) == .copied)
    #expect(try Exporter(session.timeline()).export(Self.request("c.mkv", in: folder, nil, 1201)) == .encoded)
  }

  @Test("Files of equal streams are copied into one; the pictures keep their times")
  func segments() throws {
    let session = try RecordedSession(
      RecordedSession.Recipe(
        files: [Shot.series(5, every: 200), Shot.series(5, from: 1000, every: 200)], starts: [0, 1000], length: 3000,
        tone: 1500))
    let folder = try TemporaryFolder()
    let request = try Self.request("a.mkv", in: folder)
    #expect(try Exporter(session.timeline()).export(request) == .copied)
    let file = try Self.read(request.file)
    #expect(file.pictures.map { $0.time } == (0..<10).map { $0 * 200 })
    #expect(abs(file.duration - 3000) <= 30)
    let onset = try #require(file.soundOnset)
    #expect(abs(onset - 1.5) < 0.003)
  }

  /// Black, but for a picture of `colour` in the middle of it, on even pixels, its last pixel the inverse.
  private static func centred(_ colour: UInt32, _ size: PixelSize, in canvas: PixelSize) -> [UInt32] {
    let (left, top) = ((canvas.width - size.width) / 2 & ~1, (canvas.height - size.height) / 2 & ~1)
    let pixels = RecordedSession.pixels(colour, size)
    return (0..<canvas.area).map { index in
      let (x, y) = (index % canvas.width - left, index / canvas.width - top)
      return (0..<size.width).contains(x) && (0..<size.height).contains(y) ? pixels[y * size.width + x] : 0
    }
  }

  @Test("Files of several sizes become one that holds them all: each is as large as it was, in the middle")
  func sizes() throws {
    let sizes = [
      PixelSize(width: 64, height: 48), PixelSize(width: 33, height: 71), PixelSize(width: 80, height: 20),
    ]
    let session = try RecordedSession(
      RecordedSession.Recipe(
        files: [Shot.series(2), Shot.series(2, from: 1000), Shot.series(2, from: 2000)], starts: [0, 1000, 2000],
        sizes: [nil] + sizes.dropFirst().map { $0 }, length: 3000, tone: 1500))
    let folder = try TemporaryFolder()
    let all = PixelSize(width: 80, height: 71)
    let parts: [(from: Int64, to: Int64, canvas: PixelSize)] = [
      (0, 3000, all), (1100, 3000, all), (0, 1000, sizes[0]), (1000, 2000, sizes[1]), (2050, 3000, sizes[2]),
    ]
    for (from, to, canvas) in parts {
      let name = "\(from)-\(to).mkv"
      let result = try Exporter(session.timeline()).export(Self.request(name, in: folder, from, to))
      #expect(result == (to < 3000 ? .copied : .encoded))
      let pictures = try MediaFile.pictures(folder.file(name), PixelRect(canvas)).map { bytes in
        (0..<canvas.area).map { pixel -> UInt32 in
          let at = pixel * 4
          return UInt32(bytes[at + 2]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at])
        }
      }
      var expected: [[UInt32]] = []
      for file in 0..<3 {
        for (shot, colour) in [(0, 0x010203), (100, 0x020406)] as [(Int64, UInt32)] {
          let next = shot == 0 ? Int64(file) * 1000 + 100 : Int64(file + 1) * 1000
          guard next > from, Int64(file) * 1000 + shot < to else { continue }
          expected.append(Self.centred(colour, sizes[file], in: canvas))
        }
      }
      // The last one is there once more where it ends.
      let isRepeated = pictures.count == expected.count + 1 && pictures.last == expected.last
      #expect(pictures.prefix(expected.count) == expected[...] && (isRepeated || pictures.count == expected.count))
    }
  }

  /// Cases C03 and C04, with a name as long as one can be.
  @Test("Names that mean something elsewhere are files here")
  func names() throws {
    let session = try RecordedSession(Shot.series(2), length: 500)
    let folder = try TemporaryFolder()
    let names: [[UInt8]] =
      ["-y.mkv", "concat:x.mkv", "http:x.mkv", "pipe:1.mkv", "file:x.mkv", " a b.mkv", "new\nline.mkv", "%d.mkv"]
      .map { Array($0.utf8) }
      + [[0xFF, 0xFE] + Array(".mkv".utf8), Array(repeating: UInt8(ascii: "n"), count: 251) + Array(".mkv".utf8)]
    for name in names {
      let file = try #require(FilePath(bytes: Array("\(folder.path)/".utf8) + name))
      #expect(try Exporter(session.timeline()).export(ExportRequest(file: file)) == .copied)
      #expect(try Self.read(file).pictures.count == 2)
    }
    #expect(try Set(folder.entries()) == Set(names))
  }

  @Test("A file that is there is not touched, unless it is told to be replaced; only files are")
  func overwriting() throws {
    let session = try RecordedSession(Shot.series(2), length: 500)
    let folder = try TemporaryFolder()
    try writeFile(folder.file("a.mkv"), [1, 2, 3])
    var request = try Self.request("a.mkv", in: folder)
    let error = #expect(throws: RecorderError.self) {
      try Exporter(session.timeline()).export(request)
    }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message == "\(folder.file("a.mkv")) exists already.")
    #expect(try readFile(folder.file("a.mkv")) == [1, 2, 3])
    request.replaces = true
    #expect(try Exporter(session.timeline()).export(request) == .copied)
    #expect(try Self.read(request.file).pictures.count == 2)
    #expect(try folder.entries() == [Array("a.mkv".utf8)])
    #expect(symlink("/dev/null", folder.file("link.mkv")) == 0)
    var other = try Self.request("link.mkv", in: folder)
    other.replaces = true
    #expect(throws: RecorderError.self) { try Exporter(session.timeline()).export(other) }
  }

  @Test("What fails or is stopped leaves nothing behind")
  func leftovers() throws {
    let session = try RecordedSession(Shot.series(30), length: 5000)
    let folder = try TemporaryFolder()
    for isExact in [false, true] {
      var request = try Self.request("a.mkv", in: folder)
      request.isExact = isExact
      #expect(try Exporter(session.timeline()).export(request) { done in done < 0.2 } == .stopped)
      #expect(try folder.entries() == [])
    }
    let missing = try ExportRequest(file: #require(FilePath(folder.file("no/a.mkv"))))
    let error = #expect(throws: RecorderError.self) {
      try Exporter(session.timeline()).export(missing)
    }
    #expect(error?.code == .cannotCreate)
    var taken = try Self.request("late.mkv", in: folder)
    taken.isExact = true
    let late = #expect(throws: RecorderError.self) {
      // Somebody takes the name while it is written.
      try Exporter(session.timeline()).export(taken) { _ in
        (try? writeFile(folder.file("late.mkv"), [7])) != nil
      }
    }
    #expect(late?.code == .cannotCreate)
    #expect(try readFile(folder.file("late.mkv")) == [7])
    #expect(try folder.entries() == [Array("late.mkv".utf8)])
  }

  @Test("Other formats and parts that are none are refused in a sentence")
  func usage() throws {
    let session = try RecordedSession(Shot.series(2), length: 500)
    let folder = try TemporaryFolder()
    for name in ["a.avi", "a", "mkv", ".mkv.", "a.MKVX"] {
      let error = #expect(throws: RecorderError.self) {
        try ExportRequest(file: FilePath(name) ?? FilePath())
      }
      #expect(error?.code == .usage)
    }
    for (from, to) in [(400, 300), (300, 300), (0, 501), (501, 600)] as [(Int64, Int64)] {
      let request = try Self.request("a.mkv", in: folder, from, to)
      let error = #expect(throws: RecorderError.self) {
        try Exporter(session.timeline()).export(request)
      }
      #expect(error?.code == .usage)
    }
    #expect(try folder.entries() == [])
  }
}

extension TemporaryFolder {
  /// The names in it, hidden ones too.
  func entries() throws -> [[UInt8]] {
    guard let stream = opendir(path) else { throw TestFailure("opendir") }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != [46], name != [46, 46] { names.append(name) }
    }
    return names
  }
}

extension RecordedSession {
  /// Its first media file.
  var mediaFile: FilePath {
    get throws { try FilePath(run(["find", folder.path, "-name", "000001.mkv"]).lines[0]) ?? FilePath() }
  }
}
