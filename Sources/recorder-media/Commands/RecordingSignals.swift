import Glibc
import Recorder
import SessionModel
import Synchronization
import Threading

/// Ends a recording at the first signal. Finishing is quick; if it hangs, a second one from the keyboard ends the program,
/// and recovery finishes the file.
final class RecordingSignals: Sendable {
  private let interrupts = Count()

  /// How often the keyboard asked for the end.
  private final class Count: Sendable { let value = Atomic<Int>(0) }

  /// Seconds that the file is given to be finished, which takes a fraction of one, or one when the X server hangs.
  private static let patience = 2.0

  init(_ signals: ProcessSignals, end recorder: ScreenRecorder) {
    let interrupts = interrupts
    Task(executorPreference: QueueExecutor(label: "end")) {
      for await number in signals.stream {
        recorder.end(Self.reason(number))
        guard number == SIGINT || number == SIGQUIT, interrupts.value.add(1, ordering: .relaxed).newValue > 1 else {
          continue
        }
        try? await Task.sleep(for: .seconds(Self.patience))
        _exit(ExitCode.interruptedTwice.rawValue)
      }
    }
    signals.attend()
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
