import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

/// Every parser of what lies in an archive takes whatever is there: no trap, no hang, and what is right is still read.
/// 10,000 inputs a parser here, as many as RECORDER_TORTURE_INPUTS says under `make torture`.
@Suite struct FuzzTests {
  static let inputs = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_INPUTS"] ?? "") ?? 10_000
  /// Inputs that are put into one file of lines.
  static let batch = 500

  /// A generator whose numbers can be had again: SplitMix64 (Steele, Lea and Flood, 2014).
  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// `seed`, changed at up to four places: a bit, a byte, a stretch twice or gone, a number that is too large, an end.
  static func mutated(_ seed: [UInt8], _ generator: inout Generator) -> [UInt8] {
    var bytes = seed
    for _ in 0...Int.random(in: 0..<4, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &generator)
      let end = min(bytes.count, place + Int.random(in: 1...32, using: &generator))
      switch Int.random(in: 0..<7, using: &generator) {
      case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 3: bytes.removeSubrange(place..<end)
      case 4: bytes.insert(contentsOf: "9223372036854775807".utf8, at: place)
      case 5:
        bytes.insert(
          contentsOf: ["-1", "1e999", "null", "{}", "[", "\\u0000", "../", "\u{202E}"].randomElement(using: &generator)?
            .utf8 ?? "".utf8, at: place)
      default: bytes.removeSubrange(place...)
      }
    }
    return bytes
  }

  /// Gives each of the inputs that `seeds` are changed to to `body`; one that takes a second is a hang.
  private func forEachInput(_ seeds: [[UInt8]], _ count: Int, _ body: ([UInt8]) throws -> Void) throws {
    var generator = Generator(state: 0x7265_636F_7264_6572)
    for number in 0..<count {
      let input = Self.mutated(seeds[number % seeds.count], &generator)
      let start = monotonicSeconds()
      try body(input)
      #expect(monotonicSeconds() - start < 10, "input \(number)")
    }
  }

  @Test func manifests() throws {
    let session = try SealedSession()
    let path = "\(session.path)/manifest.json"
    let reader = try session.archive.reader.session(session.id)
    var readable = 0
    try forEachInput([try readFile(path)], Self.inputs) { input in
      try writeFile(path, input)
      if let manifest = try? reader.manifest() {
        readable += 1
        // What is let in can be calculated with.
        _ = manifest.contradictions
        _ = manifest.clock.wallTime(of: manifest.duration)
        #expect(manifest.segments.allSatisfy { $0.start.nanoseconds >= 0 })
      }
    }
    #expect(readable > 0)
  }

  /// Lines of each file that has some, five hundred at once, between two that are right.
  @Test(arguments: ["events.ndjson", "annotations.ndjson", "chain.ndjson"]) func lines(file: String) throws {
    let session = try SealedSession()
    try session.archive.reader.annotate(
      session.id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "one", time: seconds(1)))
    let path = "\(session.path)/\(file)"
    let seeds = try readFile(path).split(separator: Line.end).map(Array.init)
    let reader = try session.archive.reader.session(session.id)
    var lines: [UInt8] = []
    var number = 0
    try forEachInput(seeds, Self.inputs) { input in
      lines += input + [Line.end]
      number += 1
      guard number.isMultiple(of: Self.batch) else { return }
      try writeFile(path, seeds[0] + [Line.end] + lines + seeds[0] + [Line.end])
      switch file {
      case "events.ndjson":
        let events = try reader.events()
        #expect(events.count >= 2 && events.allSatisfy { $0.time.nanoseconds >= 0 })
      case "annotations.ndjson": #expect(try reader.annotations().count >= 2)
      default: #expect(try reader.chain().links.count >= 1)
      }
      #expect(try reader.verify().verdict == .altered)
      lines = []
    }
  }

  /// Media files whose writer was killed: what is found is inside the file, and completing it keeps all blocks.
  @Test func mediaFiles() throws {
    let session = try SealedSession()
    let path = session.archive.folder.file("media.mkv")
    let seed = RecoveryTests.media + Matroska.cluster(5000, [Matroska.blockGroup(5, duration: 40)])
    try forEachInput([seed, RecoveryTests.media], Self.inputs) { input in
      try writeFile(path, input)
      var walker = try MatroskaWalker(FileDescriptor(raw: open(path, O_RDWR), path: path))
      let tail = try walker.tail()
      #expect(tail?.end ?? 0 <= Int64(input.count))
      guard let tail, let outline = try walker.outline(size: tail.end, track: 1) else { return }
      let file = walker.close()
      let size = try MatroskaCompletion(outline: outline, size: tail.end).complete(file, duration: 1_000_000_000)
      #expect(size >= tail.end)
    }
  }
}
