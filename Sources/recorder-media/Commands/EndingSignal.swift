import Glibc
import Synchronization
import Threading

/// The signal that ends a command which takes away what it has begun.
final class EndingSignal: Sendable {
  private let value = Atomic<Int32>(0)

  /// Begins to take the signals that end a program.
  init() {
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP])
    signals.attend()
    Task.detached { [self] in
      for await number in signals.stream { value.store(number, ordering: .relaxed) }
    }
  }

  /// Its number; 0 while none came.
  var number: Int32 { value.load(ordering: .relaxed) }
}
