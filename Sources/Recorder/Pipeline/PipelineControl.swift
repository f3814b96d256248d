import SessionModel
import Synchronization
internal import Threading

/// What the threads of one recording share: the word to stop, and counts that others read a few times a second.
final class PipelineControl: Sendable {
  /// The session's epoch, in monotonic ns.
  let epoch: Int64
  /// What is noticed on the way; nil leaves it unsaid.
  let log: RecorderLog?
  /// Wakes the grab thread.
  let wake: WakeSignal
  /// Wakes the thread that looks after the others.
  let alarm: WakeSignal
  /// Frames handed to the encoder, and the time of the last one in ns since the epoch; negative before the first.
  let frames = Atomic<Int>(0)
  let lastFrame = Atomic<Int64>(-1)
  /// The times of the last frame that was encoded, and of the last one that was written, as `lastFrame`.
  let lastEncoded = Atomic<Int64>(-1)
  let lastWritten = Atomic<Int64>(-1)
  /// Frames that were due while every picture was with the encoder.
  let droppedFrames = Atomic<Int>(0)
  /// Bytes of the media files so far, and their number.
  let bytes = Atomic<Int64>(0)
  let segments = Atomic<Int>(1)
  /// When the grab thread last went round its loop, in monotonic ns: it lives, whether the picture changes or not.
  let heartbeat: Atomic<Int64>
  /// When the encoder and the file were given what they work on now, in monotonic ns; 0 while they wait for work.
  let encodingSince = Atomic<Int64>(0)
  let writingSince = Atomic<Int64>(0)
  /// The same of the event track, and of the thread that makes the disk take what the system has.
  let notingSince = Atomic<Int64>(0)
  let syncingSince = Atomic<Int64>(0)
  /// Whether the next frame is to be a whole one that needs no other.
  let needsKeyframe = Atomic<Bool>(false)
  /// Nanoseconds after which a picture that does not change is encoded once more as a whole one; `.max` while the file
  /// has no use for that.
  let refreshInterval = Atomic<Int64>(.max)
  /// From when on a picture is wanted whether it changed or not, in monotonic ns; `.max` while nobody wants one.
  let refreshTime = Atomic<Int64>(.max)
  /// Since when a held capture is held, in ns since the epoch.
  let heldSince = Atomic<Int64>(0)
  /// Those who wait for a new file.
  let splits = SplitRequests()
  /// The stretch in which no frames are wanted: from its start to its end, which is `.max` while it lasts.
  private let pauseSpan = Mutex<Range<Int64>?>(nil)
  /// Whether a pixel other than black has been seen.
  let sawPicture = Atomic<Bool>(false)
  /// Told once, when the first packet is on disk; closed when it never will be.
  let started = BoundedQueue<Bool>(capacity: 1)
  /// How long one call on the disk may take, in ns.
  let diskTimeout: Int64
  /// Why the disk is not waited for any longer; nil while it is.
  private let diskFailure = Mutex<RecorderError?>(nil)
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
  init(
    epoch: Int64, log: RecorderLog? = nil, diskTimeout: Int64 = StorageOptions.standardTimeout
  ) throws(RecorderError) {
    (self.epoch, self.log, self.diskTimeout) = (epoch, log, diskTimeout)
    heartbeat = Atomic(epoch)
    wake = try WakeSignal()
    alarm = try WakeSignal()
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

  /// Asks for a whole frame at once.
  func requestKeyframe() {
    needsKeyframe.store(true, ordering: .releasing)
    wake.notify()
  }

  /// Asks for a new file, which begins with the next frame, which comes at once.
  /// - Parameter answer: told where it began, on the mux thread, or why there is none, on any.
  func split(_ answer: @escaping SplitRequests.Answer) {
    splits.add(answer)
    requestKeyframe()
  }

  /// Wants no frames from `time` (monotonic ns) on.
  func pause(at time: Int64) {
    pauseSpan.withLock { $0 = time..<Int64.max }
    wake.notify()
  }

  /// Wants frames again from `time` (monotonic ns) on, the first at once.
  func resume(at time: Int64) {
    pauseSpan.withLock { span in span = span.map { $0.lowerBound..<max($0.lowerBound, time) } }
    requestKeyframe()
  }

  /// Whether a frame of `time` (monotonic ns) is wanted.
  func isWanted(at time: Int64) -> Bool { pauseSpan.withLock { $0?.contains(time) } != true }

  /// Since when the file, or the event track, has been in the same call on the disk, in monotonic ns; 0 when neither is.
  var diskSince: Int64 {
    let times = [writingSince.load(ordering: .relaxed), notingSince.load(ordering: .relaxed)]
    return times.filter { $0 != 0 }.min() ?? 0
  }

  /// Wakes the thread that looks after the others when there may be something for it: a part is at work, and may have been
  /// for long, or the grab thread is late with its sign of life. The mux and the grab thread ask this, each for the other,
  /// when they are awake anyway, so that on a still screen nobody wakes for this alone.
  func lookAfterOthers(at now: Int64) {
    let isLate = now - heartbeat.load(ordering: .relaxed) > VideoTiming.latestHeartbeat
    if isLate || isAtWork { alarm.notify() }
  }

  /// Whether the encoder or the disk has been given something.
  var isAtWork: Bool {
    let encoder = encodingSince.load(ordering: .relaxed) | writingSince.load(ordering: .relaxed)
    return encoder | notingSince.load(ordering: .relaxed) | syncingSince.load(ordering: .relaxed) != 0
  }

  /// Nanoseconds that the disk is waited for: once it was given up, what is still to be tried is given little time.
  var diskPatience: Int64 { diskError == nil ? diskTimeout : min(diskTimeout, Self.lastChance) }
  /// A disk that has hung and works again has long taken a manifest.
  private static let lastChance: Int64 = 1_000_000_000

  /// Why the disk was given up; nil while it was not.
  var diskError: RecorderError? { diskFailure.withLock { $0 } }

  /// Gives the disk up, which ends the recording; later calls change nothing.
  /// - Returns: why.
  @discardableResult
  func giveUpDisk() -> RecorderError {
    let error = RecorderError(
      .writeFailed, "The disk has taken nothing for \(Timestamp(nanoseconds: diskTimeout)): the recording ends.",
      hint: "What it took before is kept; the next command closes the session when the disk answers again.")
    let isNew = diskFailure.withLock { failure in
      defer { failure = failure ?? error }
      return failure == nil
    }
    if isNew { fail(.writeFailed, error) }
    return error
  }

  /// What the first part to fail reported.
  var firstFailure: RecorderError? { first.withLock { $0 } }

  /// Reports that a part cannot go on. Nobody waits for the start any more.
  func fail(_ reason: Manifest.Reason, _ error: RecorderError) {
    first.withLock { first in first = first ?? error }
    log?.note(.error, .control, error.message, ["reason": reason.rawValue])
    started.close()
    failure.yield(Failure(reason: reason, error: error))
  }
}
