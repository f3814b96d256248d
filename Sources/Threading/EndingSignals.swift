import Glibc
import Synchronization

/// Signals that end a program once it has put away what it has open: they are noted for as long as something is under
/// way that looks at `isAsked` and breaks off. A second one ends the program at once.
package enum EndingSignals {
  private static let numbers: [Int32] = [SIGINT, SIGTERM, SIGHUP]
  /// The signal that came first; 0 is none. A handler may touch nothing but this.
  private static let asked = Atomic<Int32>(0)

  private static let note: @convention(c) (Int32) -> Void = { number in
    _ = asked.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    // The next one ends the program.
    signal(number, SIG_DFL)
  }

  /// Whether the end was asked for.
  package static var isAsked: Bool { asked.load(ordering: .relaxed) != 0 }

  /// Runs `body`, which ends soon when `isAsked` says so; then the program ends by the signal that asked for it.
  package static func deferring<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    // The handler must not be the one that makes it.
    _ = asked.load(ordering: .relaxed)
    for number in numbers where !InheritedSignals.ignored.contains(number) {
      signal(number, note)
    }
    defer {
      for number in numbers where !InheritedSignals.ignored.contains(number) { signal(number, SIG_DFL) }
      let number = asked.load(ordering: .relaxed)
      if number != 0 { ProcessSignals.endProcess(by: number) }
    }
    return try await body()
  }
}
