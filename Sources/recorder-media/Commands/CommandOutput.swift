import Control
import Glibc
import Recorder
import SessionModel
import Synchronization
import Threading

/// What a wrapped command writes, passed through byte for byte and looked at line by line. While the reader does not read,
/// the command waits, as it would without a recorder.
final class CommandOutput: Sendable {
  /// The command's ends of the pipes, closed here once it has them.
  let ends: (out: Int32, errors: Int32)
  private let sources: (out: Int32, errors: Int32)
  private let threads = Mutex<[WorkerThread]>([])
  private let matched = Atomic<Bool>(false)
  /// Told once by each pipe that has ended.
  private let ended = BoundedQueue<Bool>(capacity: 2)
  private let blockedSince: [Since] = [Since(), Since()]

  /// Since when a write has been going on, in monotonic ns; 0 when none is.
  private final class Since: Sendable { let value = Atomic<Int64>(0) }

  /// The longest line that is looked at, in bytes; the rest of it is passed through unseen.
  private static let longestLine = 4096
  /// Nanoseconds that the output may take to come through after the command's end: what it started in the background may
  /// hold the pipe for ever.
  private static let patience: Int64 = 2_000_000_000
  /// Nanoseconds for a thread to end that has said all: it has nothing left to do.
  private static let closing: Int64 = 10_000_000

  /// Makes the pipes.
  /// - Throws: `RecorderError` (systemCall) when none is left.
  init() throws(RecorderError) {
    let (out, errors) = (try Pipe(), try Pipe())
    ends = (out.write, errors.write)
    sources = (out.read, errors.read)
  }

  /// Begins to pass through, once the command has its ends.
  /// - Parameters:
  ///   - pattern: the expression that `hasMatched` is about.
  ///   - line: given each line, its end left out, on either thread.
  func start(pattern: String?, line: @escaping @Sendable (String) -> Void) throws(RecorderError) {
    close(ends.out)
    close(ends.errors)
    let pairs = [(sources.out, STDOUT_FILENO, blockedSince[0]), (sources.errors, STDERR_FILENO, blockedSince[1])]
    for (source, target, since) in pairs {
      let thread = try WorkerThread(name: "tee") { [self] in
        let expression = pattern.flatMap { try? Regex($0) }
        Self.pass(source, to: target, since.value) { text in
          line(text)
          if let expression, text.firstMatch(of: expression) != nil { matched.store(true, ordering: .relaxed) }
        }
        close(source)
        _ = ended.tryPush(true)
      }
      threads.withLock { $0.append(thread) }
    }
  }

  /// Whether a line matched so far.
  var hasMatched: Bool { matched.load(ordering: .relaxed) }

  /// It as a stage of the recording: stalled while somebody does not read.
  var stage: RecorderStatus.Stage {
    let times = blockedSince.map { $0.value.load(ordering: .relaxed) }
    let since = times.filter { $0 != 0 }.min() ?? Int64(0)
    return RecorderStatus.Stage("command", since: since, at: MonotonicClock.now())
  }

  /// Waits until all has come through.
  func finish() {
    var left = threads.withLock { $0.count }
    while left > 0 {
      if case .element = ended.pop(until: MonotonicClock.now() + Self.patience) {
        left -= 1
      } else if !blockedSince.contains(where: { $0.value.load(ordering: .relaxed) != 0 }) {
        // What is just being written is not given up: the command itself would wait for its reader.
        break
      }
    }
    for thread in threads.withLock({ $0 }) { thread.join(until: MonotonicClock.now() + Self.closing) }
  }

  private static func pass(
    _ source: Int32, to target: Int32, _ since: borrowing Atomic<Int64>, line: (String) -> Void
  ) {
    var (buffer, rest, skips) = ([UInt8](repeating: 0, count: 1 << 16), [UInt8](), false)
    while true {
      let count = read(source, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      since.store(MonotonicClock.now(), ordering: .relaxed)
      write(buffer[..<count], to: target)
      since.store(0, ordering: .relaxed)
      for byte in buffer[..<count] {
        if byte == UInt8(ascii: "\n") {
          if !skips { line(String(decoding: rest, as: UTF8.self)) }
          rest.removeAll(keepingCapacity: true)
          skips = false
        } else if !skips {
          rest.append(byte)
          if rest.count == longestLine {
            line(String(decoding: rest, as: UTF8.self))
            skips = true
          }
        }
      }
    }
    if !rest.isEmpty, !skips { line(String(decoding: rest, as: UTF8.self)) }
  }

  /// Writes all of `bytes`; what nobody reads any more is dropped, and the command goes on.
  private static func write(_ bytes: ArraySlice<UInt8>, to target: Int32) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(target, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
