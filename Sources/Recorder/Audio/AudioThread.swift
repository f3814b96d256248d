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

  /// Waits until the device is open, or has failed to open once. One that is not there is waited for while it records.
  /// - Parameter isStrict: whether it has to be there.
  /// - Throws: `RecorderError`: unavailable when it has to be there and is not, usage when it was asked for by its name, is
  ///   there, and cannot be recorded as it was asked for.
  func waitForDevice(until deadline: Int64, isStrict: Bool) throws(RecorderError) {
    guard case .element(let failure) = opened.pop(until: deadline) else {
      guard isStrict else { return }
      throw RecorderError(.unavailable, "The \(input.title)'s device does not answer.", hint: Self.strictHint)
    }
    guard let failure else { return }
    if failure.code == .usage, input.isDemanded { throw failure }
    guard isStrict else { return }
    let hint = [failure.hint, Self.strictHint].compactMap(\.self).joined(separator: " ")
    throw RecorderError(.unavailable, failure.message, hint: hint)
  }

  private static let strictHint = "Without --strict it is recorded as soon as it is there."

  /// Ends and joins the thread; later calls return at once.
  func stop() {
    input.isStopping.store(true, ordering: .relaxed)
    input.wake.notify()
    thread.join(until: MonotonicClock.now() + Self.patience)
  }
}
