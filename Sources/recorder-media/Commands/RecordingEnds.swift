import Glibc
import Recorder
import SessionModel
import Synchronization
import Threading

/// The one thing that ends a recording: a signal, somebody's word, the end of its time or size, or a part that failed.
final class RecordingEnds: Sendable {
  /// Why to stop.
  struct End: Sendable {
    let reason: Manifest.Reason
    let error: RecorderError?
  }

  private let ends: AsyncStream<End>
  private let interrupts = Count()

  /// How often the keyboard asked for the end.
  private final class Count: Sendable { let value = Atomic<Int>(0) }

  /// Seconds that the file is given to be finished, which takes a fraction of one, or one when the X server hangs.
  private static let patience = 2.0

  /// - Parameters:
  ///   - limits: what it was told of its end.
  ///   - requests: who asks for the end by the control socket.
  init(
    of session: RecordingSession, limits: RecordingLimits, signals: ProcessSignals, requests: AsyncStream<Void>
  ) {
    let (ends, end) = AsyncStream.makeStream(of: End.self, bufferingPolicy: .bufferingOldest(1))
    self.ends = ends
    let interrupts = interrupts
    Task {
      for await number in signals.stream {
        end.yield(End(reason: Self.reason(number), error: nil))
        // Finishing is quick; if it hangs, a second interrupt ends the program, and recovery finishes the file.
        guard number == SIGINT || number == SIGQUIT, interrupts.value.add(1, ordering: .relaxed).newValue > 1 else {
          continue
        }
        try? await Task.sleep(for: .seconds(Self.patience))
        _exit(ExitCode.interruptedTwice.rawValue)
      }
    }
    Task {
      if let failure = await session.failure() { end.yield(End(reason: failure.reason, error: failure.error)) }
    }
    Task {
      for await _ in requests { end.yield(End(reason: .stopped, error: nil)) }
    }
    if limits.until != nil || limits.size != nil || limits.idle != nil {
      Task {
        let reason = await limits.reached(by: session)
        end.yield(End(reason: reason, error: nil))
      }
    }
    if let duration = limits.duration {
      Task {
        try? await Task.sleep(for: .nanoseconds(max(0, duration - session.progress.elapsed)))
        end.yield(End(reason: .duration, error: nil))
      }
    }
  }

  /// Waits for it.
  func first() async -> End {
    for await end in ends { return end }
    return End(reason: .stopped, error: nil)
  }

  /// Whether the keyboard asked for the end (INT or QUIT) more than once.
  var wasInterruptedTwice: Bool { interrupts.value.load(ordering: .relaxed) > 1 }

  private static func reason(_ number: Int32) -> Manifest.Reason {
    switch number {
    case SIGINT: .interrupt
    case SIGHUP: .hangup
    case SIGQUIT: .quit
    default: .terminate
    }
  }
}
