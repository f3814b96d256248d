internal import Capture
import SessionModel
import Synchronization
internal import Threading

/// The thread that captures one input.
final class AudioThread: Sendable {
  private let input: AudioInput
  private let opened = BoundedQueue<RecorderError?>(capacity: 1)
  private let thread: WorkerThread

  /// A thread that hangs in a sound library is given up after so many ns, so that a stopped server cannot keep what was
  /// recorded from being finished.
  private static let patience: Int64 = 2_000_000_000

  /// Starts to capture.
  /// - Throws: `RecorderError` (systemCall) when no thread is left.
  init(_ input: AudioInput, _ shared: AudioShared) throws(RecorderError) {
    self.input = input
    let opened = opened
    thread = try WorkerThread(name: input.role.rawValue) {
      var loop = AudioCaptureLoop(input: input, shared: shared, opened: opened)
      loop.run()
    }
  }

  /// Waits until the device is open, or has failed to open once.
  /// - Throws: `RecorderError` (unavailable) when it failed and was asked for by its name.
  func waitForDevice(until deadline: Int64) throws(RecorderError) {
    guard input.isDemanded else {
      _ = opened.pop(until: deadline)
      return
    }
    if case .element(let failure) = opened.pop(until: deadline) {
      if let failure { throw failure }
    } else {
      throw RecorderError(.unavailable, "The \(input.title)'s device does not answer.")
    }
  }

  /// Ends and joins the thread; later calls return at once.
  func stop() {
    input.isStopping.store(true, ordering: .relaxed)
    input.wake.notify()
    thread.join(until: MonotonicClock.now() + Self.patience)
  }
}
