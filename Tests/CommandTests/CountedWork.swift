import FoundationEssentials
import Glibc
import TestSupport

/// What a recorder may cost: Tests/Fixtures/costs.json.
struct CostBounds: Decodable {
  /// By thread and by who asks for the memory, as `CountedWork` names them.
  let allocationsPerFrame: [String: [String: Double]]
  let systemCallsPerFrame: Double
  let bytesFetchedPerByteDamaged: Double
  let voluntarySwitchesPerSecond: Double
  /// Of memory that is the program's own, not its libraries' files', while a screen of 1920x1080 changes wholly.
  let ownMebibytesAt1080p: Int64

  init() throws {
    let file = try readFile("\(JSONSchema.repository)/Tests/Fixtures/costs.json")
    self = try JSONDecoder().decode(CostBounds.self, from: Data(file))
  }
}

/// Bytes that the process `pid` has in use and that no file holds.
func ownMemory(of pid: Int32) throws -> Int64 {
  String(decoding: try readFile("/proc/\(pid)/status"), as: UTF8.self).split(separator: "\n").reduce(0) { sum, line in
    guard line.hasPrefix("RssAnon:") || line.hasPrefix("RssShmem:") else { return sum }
    return sum + (Int64(line.filter(\.isNumber)) ?? 0) * 1024
  }
}

/// What a recorder that runs with `environment` has done so far, counted by a library that it is started with.
final class CountedWork {
  /// Threads that are told apart, in the library's order.
  enum Thread: String, CaseIterable { case grab, encode, mux, other }
  /// Who asks for memory, in the library's order: the program includes the Swift runtime, which does so for it.
  enum Caller: String, CaseIterable { case xcb, ffmpeg, x264, libc, program }

  /// The counts of one moment.
  struct Counts {
    fileprivate let words: [Int64]

    func allocations(_ thread: Thread, _ caller: Caller) -> Int {
      let row = Thread.allCases.firstIndex(of: thread) ?? 0
      return Int(words[row * Caller.allCases.count + (Caller.allCases.firstIndex(of: caller) ?? 0)])
    }
    /// Bytes of pixels that were asked for, and that the X server said were damaged.
    var grabbed: Int { Int(words[words.count - 3]) }
    var damaged: Int { Int(words[words.count - 2]) }
    /// Pictures that were given to the encoder.
    var frames: Int { Int(words[words.count - 1]) }
  }

  private let folder: TemporaryFolder
  private let library: String

  init() throws {
    folder = try TemporaryFolder()
    library = try InjectedFaults.library("counts")
  }

  /// What the recorder finds in its environment.
  var environment: [String: String?] { ["LD_PRELOAD": library, "COUNTS_FILE": folder.file("counts")] }

  /// The counts now; none before the recorder has begun.
  var now: Counts {
    let size = Thread.allCases.count * Caller.allCases.count + 3
    let bytes = (try? readFile(folder.file("counts"))) ?? []
    let words = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int64.self)) }
    return Counts(words: words.count == size ? words : Array(repeating: 0, count: size))
  }
}
