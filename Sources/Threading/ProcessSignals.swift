internal import CLinux
import Dispatch
import Glibc
import Synchronization

/// Signals as values in a stream. A signal given to it no longer ends the process by itself.
package final class ProcessSignals: Sendable {
  /// The signals, by number, in the order they came; at most 16 wait.
  package let stream: AsyncStream<Int32>
  private let sources: Mutex<[any DispatchSourceSignal]>
  private let attention = Attention()

  /// Whether somebody reads the stream.
  private final class Attention: Sendable { let isGiven = Atomic<Bool>(false) }

  /// How long a signal waits for somebody who attends to it: a beginning that hangs (an X server that does not answer)
  /// is ended by the signal then. Long beside the second that a beginning takes.
  private static let patience = DispatchTimeInterval.seconds(2)

  /// Begins to take `signals`; a HUP that this process was started to ignore (nohup) stays ignored. Until `attend` is
  /// called, each has its default action once nobody attended to it for two seconds.
  package init(_ signals: [Int32]) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(16))
    self.stream = stream
    let queue = DispatchQueue(label: "signals")
    let attention = attention
    let made = signals.filter { $0 != SIGHUP || !InheritedSignals.ignored.contains($0) }.map { number in
      // DispatchSource watches beside the default action, which would end the process first.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        continuation.yield(number)
        if attention.isGiven.load(ordering: .acquiring) { return }
        queue.asyncAfter(deadline: .now() + Self.patience) {
          if !attention.isGiven.load(ordering: .acquiring) { Self.endProcess(by: number) }
        }
      }
      source.resume()
      return source
    }
    sources = Mutex(made)
  }

  deinit { sources.withLock { $0.forEach { source in source.cancel() } } }

  /// Says that what comes in the stream ends the process from now on.
  package func attend() { attention.isGiven.store(true, ordering: .releasing) }

  /// Ends the process by the signal `number`, as it would have been without this class.
  package static func endProcess(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    var mask = sigset_t()
    sigemptyset(&mask)
    sigaddset(&mask, number)
    // Dispatch's threads block the signals that it watches.
    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    raise(number)
    // 128 and the number are what a shell would have said.
    _exit(128 + number)
  }
}
