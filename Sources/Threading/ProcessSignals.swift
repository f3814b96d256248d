import Dispatch
import Glibc
import Synchronization

/// Signals as values in a stream. A signal given to it no longer ends the process by itself.
package final class ProcessSignals: Sendable {
  /// The signals, by number, in the order they came; at most 16 wait.
  package let stream: AsyncStream<Int32>
  private let sources: Mutex<[any DispatchSourceSignal]>

  /// Begins to take `signals`.
  package init(_ signals: [Int32]) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(16))
    self.stream = stream
    let queue = DispatchQueue(label: "signals")
    let made = signals.map { number in
      // DispatchSource watches beside the default action, which would end the process first.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
    sources = Mutex(made)
  }

  deinit { sources.withLock { $0.forEach { source in source.cancel() } } }
}
