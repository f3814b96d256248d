import FoundationEssentials
import Glibc
import Testing

/// Inputs that a parser of outside data is tried with: those that once did harm (`Tests/Fixtures/fuzz/NAME`), then good ones
/// with changes, ten thousand a parser, or as many as RECORDER_TORTURE_INPUTS says.
package enum Fuzzing {
  /// How many inputs each parser is tried with.
  package static let inputs = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_INPUTS"] ?? "") ?? 10_000

  /// Seconds of the processor that one input may take.
  private static let patience = 1.0
  /// Bytes that the process may have grown by at the end: more than any input is, and less than all of them.
  private static let growth = 128 << 20

  /// A generator whose numbers can be had again: SplitMix64 (Steele, Lea and Flood, 2014).
  package struct Generator: RandomNumberGenerator {
    private var state: UInt64
    /// Makes the generator of `seed`.
    package init(seed: UInt64) { state = seed }
    package mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// What is put into inputs: values that parsers of JSON, and of paths, may not have thought of.
  package static let pieces = ["-1", "1e999", "null", "{}", "[", "\\u0000", "../", "\u{202E}"]

  /// `seed`, changed at up to four places: a bit, a byte, a stretch twice or gone, a number that is too large, one of
  /// `pieces`, an end.
  package static func mutated(
    _ seed: [UInt8], _ generator: inout Generator, pieces: [String] = pieces
  ) -> [UInt8] {
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
        bytes.insert(contentsOf: (pieces.randomElement(using: &generator) ?? "").utf8, at: place)
      default: bytes.removeSubrange(place...)
      }
    }
    return bytes
  }

  /// Gives the inputs of the parser `name` to `body`: those that are kept, then what `seeds` are changed to. One that takes a
  /// second of the processor is a hang, and all of them together may not stay in memory. The input underway is in
  /// `$RECORDER_FUZZ_FOUND/NAME`, so that it is there after a crash, and those that hang are beside it.
  /// - Parameters:
  ///   - share: which part of the inputs is this parser's, when it is slow.
  ///   - pieces: what is put into them now and then.
  package static func forEachInput(
    _ name: String, _ seeds: [[UInt8]], share: Int = 1, pieces: [String] = pieces, _ body: ([UInt8]) throws -> Void
  ) throws {
    var generator = Generator(seed: seed)
    let kept = try keptInputs(name)
    let underway = try foundFolder.map { try Underway("\($0)/\(name)") }
    var resident = residentBytes()
    let count = inputs / share
    for number in 0..<kept.count + count {
      let input = number < kept.count ? kept[number] : mutated(seeds[number % seeds.count], &generator, pieces: pieces)
      underway?.note(input)
      let start = processorSeconds()
      try body(input)
      let time = processorSeconds() - start
      if time > patience {
        if let foundFolder { try writeFile("\(foundFolder)/\(name)-hang-\(number)", input) }
        Issue.record("\(name), input \(number): \(time) s of the processor")
      }
      // What the first ones fill, others use again.
      if number == count / 10 { resident = residentBytes() }
    }
    underway?.remove()
    #expect(residentBytes() - resident < growth, "\(name): from \(resident) to \(residentBytes()) bytes")
  }

  /// The seed of the inputs; RECORDER_TORTURE_SEED sets another, so that several processes try different ones.
  package static let seed =
    UInt64(ProcessInfo.processInfo.environment["RECORDER_TORTURE_SEED"] ?? "") ?? 0x7265_636F_7264

  private static let foundFolder = ProcessInfo.processInfo.environment["RECORDER_FUZZ_FOUND"]

  /// The inputs of the parser `name` that once did harm.
  package static func keptInputs(_ name: String) throws -> [[UInt8]] {
    let folder = "\(JSONSchema.repository)/Tests/Fixtures/fuzz/\(name)"
    guard access(folder, F_OK) == 0 else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { try readFile("\(folder)/\($0)") }
  }

  /// The file with the input underway.
  private struct Underway {
    let path: String
    let descriptor: Int32

    init(_ path: String) throws {
      self.path = path
      descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw TestFailure("\(path): \(String(cString: strerror(errno)))") }
    }

    func note(_ input: [UInt8]) {
      _ = input.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
      ftruncate(descriptor, input.count)
    }

    func remove() {
      close(descriptor)
      unlink(path)
    }
  }
}

/// Seconds of the processor that this thread has used.
package func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Bytes of memory that the process `pid` (0: this one) has in use.
package func residentBytes(of pid: Int32 = 0) -> Int {
  let text = (try? readFile("/proc/\(pid == 0 ? "self" : "\(pid)")/statm")).map { String(decoding: $0, as: UTF8.self) }
  return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
}
