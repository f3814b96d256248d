import FoundationEssentials

/// For how long threads were ready to run while others had the processors, by the kernel's word (`schedstat` of each
/// thread): what a busy machine took from a program, so that a test can hold the program to the rest.
package struct ProcessorWait: Sendable {
  private let processes: [Int32]
  private let threads: Set<String>?
  private let before: Double

  /// Begins to count for `processes`.
  /// - Parameter threads: the names of the threads that count; nil is all of them.
  package init(of processes: [Int32], threads: Set<String>? = nil) {
    (self.processes, self.threads) = (processes, threads)
    before = Self.seconds(processes, threads)
  }

  /// Seconds since it was made, all threads that still run added up.
  package var seconds: Double { max(0, Self.seconds(processes, threads) - before) }

  private static func seconds(_ processes: [Int32], _ threads: Set<String>?) -> Double {
    var total = 0.0
    for process in processes {
      let folder = "/proc/\(process)/task"
      for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        // "TIME ON A PROCESSOR, TIME READY TO RUN, TIMES", in ns; a thread may end meanwhile.
        guard let text = try? readFile("\(folder)/\(thread)/schedstat"),
          let name = try? readFile("\(folder)/\(thread)/comm"),
          threads?.contains(String(decoding: name.dropLast(), as: UTF8.self)) ?? true
        else { continue }
        let numbers = String(decoding: text, as: UTF8.self).split(separator: " ")
        if numbers.count == 3 { total += (Double(numbers[1]) ?? 0) / 1e9 }
      }
    }
    return total
  }
}
