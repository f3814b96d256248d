import Commands
import Control
import Glibc
import Recorder
import SessionModel
import Synchronization
import Threading

/// Says on standard error what the person should know, on a thread of its own: a terminal that is held, or a pipe that
/// nobody reads, must not hold the recording.
final class OutputThread: Sendable {
  private let texts: BoundedQueue<String>
  private let thread: WorkerThread
  private let busySince: Since

  /// Since when it has been writing, in monotonic ns; 0 when it waits.
  private final class Since: Sendable { let value = Atomic<Int64>(0) }

  /// Messages that wait at most; those after them are lost, but are in the session's events.
  private static let capacity = 64
  /// Nanoseconds that the last messages are given at the end.
  private static let patience: Int64 = 1_000_000_000

  init() throws(RecorderError) {
    let (texts, since) = (BoundedQueue<String>(capacity: Self.capacity), Since())
    (self.texts, busySince) = (texts, since)
    thread = try WorkerThread(name: "output") {
      while let text = texts.pop() {
        since.value.store(MonotonicClock.now(), ordering: .relaxed)
        Diagnostics.write(text)
        since.value.store(0, ordering: .relaxed)
      }
    }
  }

  // The thread's own end is waited for when it goes away.
  deinit { texts.close() }

  /// Says `sentence` as soon as the reader takes it.
  func message(_ sentence: String) { write("recorder: \(sentence)\n") }

  /// Sends `text` as it is.
  func write(_ text: String) { _ = texts.tryPush(text) }

  /// Whether nothing waits to be said.
  var isIdle: Bool { texts.count == 0 && busySince.value.load(ordering: .relaxed) == 0 }

  /// It as a stage of the recording.
  var stage: RecorderStatus.Stage {
    RecorderStatus.Stage("output", since: busySince.value.load(ordering: .relaxed), at: MonotonicClock.now())
  }

  /// Says what is still to be said, if the reader takes it.
  func close() {
    texts.close()
    thread.join(until: MonotonicClock.now() + Self.patience)
  }
}
