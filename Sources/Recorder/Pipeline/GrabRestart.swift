internal import Capture
import SessionModel
import Synchronization
internal import Threading

/// Has a grab thread that hangs replaced, once it is known that the X server answers others: the connection is dead then,
/// and waiting for it is in vain. A server that answers nobody is waited for.
final class GrabRestart: Sendable {
  private let video: VideoPipeline
  private let control: PipelineControl
  private let probe: @Sendable () throws(RecorderError) -> Void
  private let worker = Mutex<WorkerThread?>(nil)
  private let isTrying = Atomic<Bool>(false)
  private let end: WakeSignal

  /// Nanoseconds that the grab thread is given once the server has answered somebody else: after a server that had been
  /// stopped it has its answer as soon, and a busy machine wakes one thread later than the other.
  private static let patience: Int64 = 1_500_000_000

  /// - Parameter probe: returns when the server has answered a new client, throws when there is none.
  init(
    video: VideoPipeline, control: PipelineControl, probe: @escaping @Sendable () throws(RecorderError) -> Void
  ) throws(RecorderError) {
    (self.video, self.control, self.probe) = (video, control, probe)
    end = try WakeSignal()
  }

  /// Begins to find out, on a thread of its own, unless that is being done: the grab thread has hung since `heartbeat`
  /// (monotonic ns).
  func consider(since heartbeat: Int64) {
    guard isTrying.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged else {
      return
    }
    let thread = try? WorkerThread(name: "restart") { [self] in
      replace(ifSilentSince: heartbeat)
      isTrying.store(false, ordering: .sequentiallyConsistent)
    }
    // Without a thread there is nothing to be done but to wait; the next look tries again.
    guard let thread else { return isTrying.store(false, ordering: .sequentiallyConsistent) }
    worker.withLock { $0 = thread }
  }

  /// Gives up what it has begun.
  func stop() {
    end.notify()
    worker.withLock { $0 }?.join(until: MonotonicClock.now() + VideoPipeline.patience)
  }

  private func replace(ifSilentSince heartbeat: Int64) {
    // A server that is gone is noticed by the grab thread itself.
    do throws(RecorderError) { try probe() } catch { return }
    if end.wait(until: MonotonicClock.now() + Self.patience) { return }
    guard control.heartbeat.load(ordering: .relaxed) == heartbeat else { return }
    control.log?.note(
      .warning, .capture, "The connection to the X server hangs while the server answers others: it is made anew.")
    video.restart()
  }
}
