/// A running `test-pattern`: an X client that draws what a test tells it to. It ends with the last reference.
package final class PatternClient: Sendable {
  /// A frame of the counter.
  package struct Frame: Hashable, Sendable {
    /// The counter it shows.
    package let counter: Int
    /// When it was drawn, in ns of `CLOCK_MONOTONIC`.
    package let time: Int64
  }

  /// The program.
  package let process: ChildProcess
  /// Its window's X id.
  package let window: UInt32

  /// Starts `test-pattern` with `arguments` on `display` and waits until its picture is drawn.
  package init(on display: VirtualDisplay, _ arguments: [String]) throws {
    process = try ChildProcess([builtProgram("test-pattern")] + arguments + ["--display", display.name])
    let process = process
    try waitUntil("test-pattern's window") {
      guard process.isRunning else { throw TestFailure("test-pattern ended: \(process.errorsSoFar)") }
      return process.outputSoFar.contains("\n")
    }
    let first = process.outputSoFar.prefix { $0 != "\n" }
    guard first.hasPrefix("ready 0x"), let id = UInt32(first.dropFirst("ready 0x".count), radix: 16) else {
      throw TestFailure("test-pattern said \(first)")
    }
    window = id
  }

  /// Has one command carried out (`test-pattern --help` lists them) and waits until the server has done so.
  /// - Returns: the time just before, in ns of `CLOCK_MONOTONIC`.
  @discardableResult
  package func tell(_ command: String) throws -> Int64 {
    let before = answers(to: command).count
    process.write("\(command)\n")
    try waitUntil("test-pattern to \(command): \(process.errorsSoFar)") { answers(to: command).count > before }
    return answers(to: command).last ?? 0
  }

  private func answers(to command: String) -> [Int64] {
    lines.compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 2)
      return parts.count == 3 && parts[0] == "done" && parts[2] == command ? Int64(parts[1]) : nil
    }
  }

  /// The counter's frames so far.
  package var frames: [Frame] {
    lines.compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count == 3, parts[0] == "frame", let counter = Int(parts[1]), let time = Int64(parts[2]) else {
        return nil
      }
      return Frame(counter: counter, time: time)
    }
  }

  /// Whole lines alone: the last may still be being written.
  private var lines: [Substring] {
    process.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  }
}
