internal import Archive
import SessionModel
import Synchronization
internal import Threading

/// The thread that looks after the disk, so that none of those that record waits for it: once a second it looks how much
/// room there is and seals what was closed, and now and then it makes the disk take what the system has. It looks at the
/// clocks too, whose steps belong into the manifest.
final class DiskKeeper: Sendable {
  private let thread: WorkerThread
  private let stopped = BoundedQueue<Bool>(capacity: 1)

  /// Nanoseconds between two looks; a disk that is written at 100 MB/s does not pass the hard mark unseen.
  private static let interval: Int64 = 1_000_000_000
  /// Nanoseconds after which a block of events is sealed: a chain of half a day has some hundred lines.
  private static let sealInterval: Int64 = 60_000_000_000

  /// Starts the thread.
  /// - Parameters:
  ///   - manifest: the session's, whose clock is kept right.
  ///   - report: takes warnings that the disk has little room left, and what the clocks did, for the session and the person.
  /// - Throws: `RecorderError` (systemCall) when there can be no more threads.
  init(
    _ session: SessionWriter, _ storage: StorageOptions, manifest: SessionManifest, control: PipelineControl,
    report: @escaping @Sendable (Event) -> Void
  ) throws(RecorderError) {
    let stopped = stopped
    thread = try WorkerThread(name: "disk") {
      var (nextSeal, nextSync) = (control.epoch + Self.sealInterval, control.epoch + storage.syncInterval)
      var (watch, clock) = (DiskWatch(storage), ClockKeeper())
      while case .timedOut = stopped.pop(until: MonotonicClock.now() + Self.interval) {
        let now = MonotonicClock.now()
        control.syncingSince.store(now, ordering: .relaxed)
        defer { control.syncingSince.store(0, ordering: .relaxed) }
        do throws(RecorderError) {
          if let free = session.bytesFree, let warning = try watch.look(at: free) {
            report(Event(time: Timestamp(nanoseconds: now - control.epoch), kind: .warning, text: warning))
          }
          try clock.look(manifest, session, epoch: control.epoch, report)
          // Reading and hashing a large file takes its time, and is no sign that the disk hangs.
          control.syncingSince.store(0, ordering: .relaxed)
          try session.sealClosed(isDue: now >= nextSeal)
          if now >= nextSeal { nextSeal = now + Self.sealInterval }
          if now >= nextSync {
            control.syncingSince.store(MonotonicClock.now(), ordering: .relaxed)
            try session.synchronize()
            nextSync = now + storage.syncInterval
          }
        } catch {
          control.fail(.writeFailed, error)
          return
        }
      }
    }
  }

  /// Ends the thread.
  /// - Parameter patience: ns for which it may hang in what it does before it is given up.
  /// - Returns: whether what it had begun is done.
  func stop(patience: Int64) -> Bool {
    _ = stopped.tryPush(true)
    return thread.join(patience: patience)
  }
}

/// When to speak about the room on the disk. Pure.
struct DiskWatch {
  private let storage: StorageOptions
  private var hasWarned = false

  init(_ storage: StorageOptions) { self.storage = storage }

  /// Looks at `free` bytes.
  /// - Returns: what the person is to be told: once, until there was room again.
  /// - Throws: `RecorderError` (writeFailed) when the recording is to end.
  mutating func look(at free: Int64) throws(RecorderError) -> String? {
    if free < storage.endBelow {
      throw RecorderError(
        .writeFailed,
        "The disk has \(free / 1_000_000) MB left, less than the \(storage.endBelow / 1_000_000) MB at which a recording ends.",
        hint: "Everything before is kept; free some space before the next one.")
    }
    // A tenth more, so that a disk that is just at the mark is spoken of once.
    if free >= storage.warnBelow + storage.warnBelow / 10 { hasWarned = false }
    guard free < storage.warnBelow, !hasWarned else { return nil }
    hasWarned = true
    return "The disk has \(free / 1_000_000) MB left; the recording ends at \(storage.endBelow / 1_000_000) MB."
  }
}
