import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

@Suite struct MatroskaTailTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  func tail(_ bytes: [UInt8]) throws -> MatroskaTail? {
    let path = folder.file("file.mkv")
    try writeFile(path, bytes)
    let root = try #require(try Folder.open(path: folder.path))
    guard let file = try root.file("file.mkv") else { return nil }
    var walker = try MatroskaWalker(file)
    return try walker.tail()
  }

  /// What recovery leaves of `bytes`.
  func repaired(_ bytes: [UInt8], _ tail: MatroskaTail) -> [UInt8] {
    var result = Array(bytes.prefix(Int(tail.end)))
    if let repair = tail.repair {
      for (index, byte) in repair.bytes.enumerated() { result[Int(repair.offset) + index] = byte }
    }
    return result
  }

  static let first = Matroska.cluster(0, [Matroska.simpleBlock(0), Matroska.simpleBlock(500)])
  static let second = Matroska.cluster(1000, [Matroska.simpleBlock(-1), Matroska.simpleBlock(33)])

  @Test func aWholeFileEndsAtItsLastBlock() throws {
    let file = Matroska.header() + Self.first + Self.second
    #expect(try tail(file) == MatroskaTail(end: Int64(file.count), lastTime: 1_033_000_000, repair: nil))
    let cues = file + Matroska.element(0x1C53_BB6B, [1, 2, 3])
    #expect(try tail(cues) == MatroskaTail(end: Int64(cues.count), lastTime: 1_033_000_000, repair: nil))
  }

  @Test func timesAreInTheFilesOwnTicks() throws {
    let file = Matroska.header(scale: 1000) + Self.first + Self.second
    #expect(try tail(file)?.lastTime == 1_033_000)
  }

  @Test func aBlocksDurationCounts() throws {
    let file = Matroska.header() + Matroska.cluster(1000, [Matroska.blockGroup(20, duration: 40)])
    #expect(try tail(file)?.lastTime == 1_060_000_000)
  }

  @Test func aClusterOfUnknownSizeEndsWhereTheNextBegins() throws {
    let open = Matroska.cluster(2000, [Matroska.simpleBlock(0), Matroska.simpleBlock(7)], .unknown(8))
    let last = Matroska.cluster(3000, [Matroska.simpleBlock(9)], .unknown(1))
    let file = Matroska.header() + Self.first + open + last
    #expect(try tail(file) == MatroskaTail(end: Int64(file.count), lastTime: 3_009_000_000, repair: nil))
    let torn = Array(file.dropLast())
    #expect(
      try tail(torn)
        == MatroskaTail(end: Int64(file.count - last.count), lastTime: 2_007_000_000, repair: nil))
  }

  @Test func aTornClusterKeepsItsWholeBlocks() throws {
    let file = Matroska.header() + Self.first + Self.second
    let tail = try #require(try tail(Array(file.dropLast())))
    #expect(tail.end == Int64(file.count - Matroska.simpleBlock(33).count))
    #expect(tail.lastTime == 999_000_000)
    let expected = Matroska.header() + Self.first + Matroska.cluster(1000, [Matroska.simpleBlock(-1)])
    #expect(repaired(file, tail) == expected)
  }

  @Test func zerosAfterAPowerCutAreCut() throws {
    let whole = Matroska.header() + Self.first
    let zeros = [UInt8](repeating: 0, count: 9000)
    #expect(try tail(whole + zeros) == MatroskaTail(end: Int64(whole.count), lastTime: 500_000_000, repair: nil))
    // A cluster whose size arrived on disk and whose content did not.
    let file = whole + Self.second.prefix(8) + [UInt8](repeating: 0, count: Self.second.count - 8)
    #expect(try tail(file) == MatroskaTail(end: Int64(whole.count), lastTime: 500_000_000, repair: nil))
  }

  @Test func whatFollowsRubbishInTheMiddleStays() throws {
    let rubbish = [UInt8](repeating: 0, count: 5000)
    let file = Matroska.header() + Self.first + rubbish + Self.second
    #expect(try tail(file) == MatroskaTail(end: Int64(file.count), lastTime: 1_033_000_000, repair: nil))
    let torn = Matroska.header() + Self.first.dropLast(3) + rubbish + Self.second + [0x1F, 0x43]
    #expect(try tail(torn) == MatroskaTail(end: Int64(torn.count - 2), lastTime: 1_033_000_000, repair: nil))
  }

  @Test func whatIsNoMatroskaIsLeftAlone() throws {
    for bytes in [
      [], [0x1A], Array("rubbish".utf8), [UInt8](repeating: 0, count: 100), [UInt8](repeating: 0xFF, count: 100),
    ] {
      #expect(try tail(bytes) == nil)
    }
    #expect(try tail(Array(Matroska.header().prefix(15))) == nil)
  }

  /// Cut at every byte: what is left is whole, nothing before it is lost, and a second look finds nothing to do.
  @Test func everyCutLeavesAWholeFile() throws {
    let groups = Matroska.cluster(2000, [Matroska.blockGroup(5, duration: 7), Matroska.simpleBlock(40, 300)])
    let open = Matroska.cluster(3000, [Matroska.simpleBlock(0), Matroska.simpleBlock(9)], .unknown(8))
    let file =
      Matroska.header() + Self.first + Self.second + groups + open
      + Matroska.cluster(4000, [Matroska.simpleBlock(0), Matroska.simpleBlock(1)])
    try checkEveryCut(of: file, step: 1)
  }

  @Test func everyCutOfAnEncodersFileLeavesAWholeFile() throws {
    let path = folder.file("real.mkv")
    let result = try run([
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=2", "-f", "lavfi", "-i",
      "sine=duration=2", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a", "aac", "-cluster_time_limit",
      "500", "-fflags", "+bitexact", path,
    ])
    #expect(result.status == 0, "\(result.errorText)")
    var file = try readFile(path)
    // As it is before the trailer: the segment's size is unknown.
    let segment = try #require(file.indices.first { file[$0...].starts(with: [0x18, 0x53, 0x80, 0x67]) })
    file.replaceSubrange(segment + 4..<segment + 12, with: Matroska.number(0x01FF_FFFF_FFFF_FFFF, 8))
    try checkEveryCut(of: file, step: 41)
    // FFmpeg itself agrees: no complaint, and the last packet where the walk says.
    for cut in stride(from: file.count / 3, to: file.count, by: file.count / 7) {
      let bytes = Array(file.prefix(cut))
      let tail = try #require(try tail(bytes))
      let lastTime = try #require(tail.lastTime)
      let rest = folder.file("rest.mkv")
      try writeFile(rest, repaired(bytes, tail))
      let packets = try run(["ffprobe", "-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", rest])
      #expect(packets.errorText == "")
      let last = packets.lines.compactMap { Double($0.split(separator: ",")[0]) }.max()
      #expect(abs((last ?? 0) - Double(lastTime) / 1e9) < 0.0005, "cut at \(cut)")
    }
  }

  func checkEveryCut(of file: [UInt8], step: Int) throws {
    var lastTime: Int64 = -1
    for cut in stride(from: 0, through: file.count, by: step) {
      let bytes = Array(file.prefix(cut))
      guard let tail = try tail(bytes) else {
        #expect(cut < 100)
        continue
      }
      #expect(tail.end <= Int64(cut))
      #expect((tail.lastTime ?? -1) >= lastTime, "cut at \(cut)")
      lastTime = tail.lastTime ?? -1
      let left = repaired(bytes, tail)
      let again = try self.tail(left)
      #expect(
        again == MatroskaTail(end: Int64(left.count), lastTime: tail.lastTime, repair: nil), "cut at \(cut)")
    }
  }

  /// Whatever the bytes, the walk ends, inside the file.
  @Test func anyBytesAreWalkedToTheirEnd() throws {
    let file = Matroska.header() + Self.first + Self.second + Matroska.cluster(9, [Matroska.blockGroup(1, duration: 2)])
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var bytes = file
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 40..<bytes.count, using: &generator)
        bytes[place] = [0, 0xFF, 0x80, 0x1F, 0x01, UInt8.random(in: 0...255)].randomElement() ?? 0
      }
      guard let tail = try tail(bytes) else { continue }
      #expect(tail.end <= Int64(bytes.count) && (tail.repair?.offset ?? 0) < tail.end, "\(bytes)")
    }
  }
}
