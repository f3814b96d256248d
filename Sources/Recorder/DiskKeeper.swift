internal import Archive
import SessionModel
import Synchronization
internal import Threading

/// The thread that looks after the disk, so that none of those that record waits for it: it looks how much room there is,
/// seals what was closed, and now and then makes the disk take what the system has.
final class DiskKeeper: Sendable {
  private let thread: WorkerThread
  /// Told that something was closed.
  private let wake: BoundedQueue<Bool>

  /// Nanoseconds between two looks at least, however much is closed.
  private static let shortestInterval: Int64 = 1_000_000_000
  /// Nanoseconds after which a block of events is sealed: a chain of half a day has some hundred lines.
  private static let sealInterval: Int64 = 60_000_000_000

  /// Starts the thread.
  /// - Parameter report: takes warnings that the disk has little room left, for the session and the person.
  /// - Throws: `RecorderError` (systemCall) when there can be no more threads.
  init(
    _ session: SessionWriter, _ storage: StorageOptions, control: PipelineControl,
    report: @escaping @Sendable (Event) -> Void
  ) throws(RecorderError) {
    let wake = BoundedQueue<Bool>(capacity: 1)
    self.wake = wake
    thread = try WorkerThread(name: "disk") {
      var (nextSeal, nextSync) = (control.epoch + Self.sealInterval, control.epoch + storage.syncInterval)
      var (watch, last) = (DiskWatch(storage), MonotonicClock.now())
      var next = last + Self.shortestInterval
      while true {
        switch wake.pop(until: next) {
        case .closed: return
        case .element:
          next = min(next, last + Self.shortestInterval)
          continue
        case .timedOut: last = MonotonicClock.now()
        }
        let now = last
        control.syncingSince.store(now, ordering: .relaxed)
        defer { control.syncingSince.store(0, ordering: .relaxed) }
        do throws(RecorderError) {
          var look = Int64.max
          if let free = session.bytesFree {
            if let warning = try watch.look(at: free) {
              report(Event(time: Timestamp(nanoseconds: now - control.epoch), kind: .warning, text: warning))
            }
            look = now + max(Self.shortestInterval, watch.patience(with: free))
          }
          // Reading and hashing a large file takes its time, and is no sign that the disk hangs.
          control.syncingSince.store(0, ordering: .relaxed)
          try session.sealClosed(isDue: now >= nextSeal)
          if now >= nextSeal { nextSeal = now + Self.sealInterval }
          if now >= nextSync {
            control.syncingSince.store(MonotonicClock.now(), ordering: .relaxed)
            try session.synchronize()
            nextSync = now + storage.syncInterval
          }
          next = min(nextSeal, nextSync, look)
        } catch {
          control.fail(.writeFailed, error)
          return
        }
      }
    }
    session.whenClosed { _ = wake.tryPush(true) }
  }

  /// Ends the thread.
  /// - Parameter patience: ns for which it may hang in what it does before it is given up.
  /// - Returns: whether what it had begun is done.
  func stop(patience: Int64) -> Bool {
    wake.close()
    return thread.join(patience: patience)
  }
}

/// When to speak about the room on the disk. Pure.
struct DiskWatch {
  private let storage: StorageOptions
  private var hasWarned = false

  init(_ storage: StorageOptions) { self.storage = storage }

  /// Nanoseconds in which `free` bytes become as few as the next mark when 1 GB is written a second, one byte a
  /// nanosecond: what the fastest of common disks take.
  func patience(with free: Int64) -> Int64 {
    free - (free > storage.warnBelow ? storage.warnBelow : storage.endBelow)
  }

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
