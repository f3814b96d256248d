import Glibc
import Recorder
import SessionModel
import Threading

/// The wait before a recording begins, `--delay`. A signal ends the program then as any other: there is nothing to finish.
enum StartDelay {
  /// Waits for `delay`; nil is none.
  /// - Returns: whether to begin; false when somebody asked `service` for the end.
  static func pass(_ delay: Int64?, _ service: ControlService) async -> Bool {
    let start = MonotonicClock.now() + (delay ?? 0)
    // Short beside what a person notices.
    while MonotonicClock.now() < start, !service.isStopping { try? await Task.sleep(for: .milliseconds(50)) }
    return !service.isStopping
  }
}
