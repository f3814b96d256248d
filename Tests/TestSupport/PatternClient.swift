import Synchronization

/// A running `test-pattern`: an X client that draws what a test tells it to. It ends with the last reference.
package final class PatternClient: Sendable {
  /// A frame of the counter.
  package struct Frame: Hashable, Sendable {
    /// The counter it shows.
    package let counter: Int
    /// When it was drawn, in ns of `CLOCK_MONOTONIC`.
    package let time: Int64
  }

  /// What it has said, each line read once.
  fileprivate struct Words {
    /// Bytes of its output that were read, and the last ones of them, which are no whole line yet.
    var (offset, rest) = (0, [UInt8]())
    var answers: [String: [Int64]] = [:]
    var frames: [Frame] = []
    var events: [String] = []
  }

  private static let ready = "ready 0x"

  private let words = Mutex(Words())
  /// The program.
  package let process: ChildProcess
  /// Its window's X id.
  package let window: UInt32

  /// Starts `test-pattern` with `arguments` on `display` and waits until its picture is drawn.
  package init(on display: VirtualDisplay, _ arguments: [String]) throws {
    process = try ChildProcess([builtProgram("test-pattern")] + arguments + ["--display", display.name])
    let process = process
    var found: UInt32?
    try waitUntil("test-pattern's window") {
      guard process.isRunning else { throw TestFailure("test-pattern ended: \(process.errorsSoFar)") }
      // What follows the last end of a line may not be whole.
      let lines = process.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let ready = lines.first { $0.hasPrefix(Self.ready) }
      found = ready.flatMap { UInt32($0.dropFirst(Self.ready.count), radix: 16) }
      return found != nil
    }
    window = found ?? 0
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

  private func answers(to command: String) -> [Int64] { read { $0.answers[command] ?? [] } }

  /// The counter's frames so far.
  package var frames: [Frame] { read { $0.frames } }

  /// What the server has told the window so far, with `--watch`: `expose`, `visibility`.
  package var events: [String] { read { $0.events } }

  /// Reads on, and gives what is known then to `body`.
  private func read<Result>(_ body: (Words) -> Result) -> Result {
    words.withLock { words in
      let new = process.output(from: words.offset)
      words.offset += new.count
      words.rest += new
      let lines = words.rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for line in lines.dropLast() { words.take(String(decoding: line, as: UTF8.self)) }
      words.rest = lines.last.map(Array.init) ?? []
      return body(words)
    }
  }
}

extension PatternClient.Words {
  fileprivate mutating func take(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 2)
    switch (parts.first, parts.count) {
    case ("done", 3): if let time = Int64(parts[1]) { answers[String(parts[2]), default: []].append(time) }
    case ("frame", 3):
      if let counter = Int(parts[1]), let time = Int64(parts[2]) {
        frames.append(PatternClient.Frame(counter: counter, time: time))
      }
    case ("event", 2): events.append(String(parts[1]))
    default: break
    }
  }
}
