import SessionModel
import Synchronization
internal import Threading

/// What the threads of one recording share: the word to stop, and counts that others read a few times a second.
final class PipelineControl: Sendable {
  /// The session's epoch, in monotonic ns.
  let epoch: Int64
  /// Wakes the grab thread.
  let wake: WakeSignal
  /// Frames handed to the encoder.
  let frames = Atomic<Int>(0)
  /// Frames that were due while every picture was with the encoder.
  let droppedFrames = Atomic<Int>(0)
  /// Bytes of the media file so far.
  let bytes = Atomic<Int64>(0)
  /// When the grab thread last went round its loop, in monotonic ns: it lives, whether the picture changes or not.
  let heartbeat: Atomic<Int64>
  /// Whether a pixel other than black has been seen.
  let sawPicture = Atomic<Bool>(false)
  /// Told once, when the first packet is on disk; closed when it never will be.
  let started = BoundedQueue<Bool>(capacity: 1)
  private let stopTime = Atomic<Int64>(.max)
  private let first = Mutex<RecorderError?>(nil)
  private let failure: AsyncStream<Failure>.Continuation
  /// What ended the recording by itself; the first one counts.
  let failures: AsyncStream<Failure>

  /// Why a recording ended by itself.
  struct Failure: Sendable {
    /// The reason in the manifest.
    let reason: Manifest.Reason
    /// What the person is told.
    let error: RecorderError
  }

  /// Makes the control of a recording that begins at `epoch` (monotonic ns).
  /// - Throws: `RecorderError` (systemCall) when no descriptor is left.
  init(epoch: Int64) throws(RecorderError) {
    self.epoch = epoch
    heartbeat = Atomic(epoch)
    wake = try WakeSignal()
    (failures, failure) = AsyncStream.makeStream(of: Failure.self, bufferingPolicy: .bufferingOldest(1))
  }

  /// Asks the sources to stop at `time` (monotonic ns); the first call counts.
  func stop(at time: Int64) {
    _ = stopTime.compareExchange(expected: .max, desired: time, ordering: .sequentiallyConsistent)
    wake.notify()
  }

  /// When to stop, in monotonic ns; nil while nobody asked.
  var stopRequested: Int64? {
    let time = stopTime.load(ordering: .sequentiallyConsistent)
    return time == .max ? nil : time
  }

  /// What the first part to fail reported.
  var firstFailure: RecorderError? { first.withLock { $0 } }

  /// Reports that a part cannot go on. Nobody waits for the start any more.
  func fail(_ reason: Manifest.Reason, _ error: RecorderError) {
    first.withLock { first in first = first ?? error }
    started.close()
    failure.yield(Failure(reason: reason, error: error))
  }
}
