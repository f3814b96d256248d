internal import Archive
import SessionModel
import Synchronization
internal import Threading

/// How much room the archive's disk has, for those who may not wait for the disk.
final class DiskRoom: Sendable {
  private let archive: ArchiveLocation
  private let known = Mutex<Int64?>(nil)
  private let isLooking = Atomic<Bool>(false)

  /// Nanoseconds that the answer is waited for: it comes within microseconds from a disk that works.
  private static let patience: Int64 = 100_000_000

  init(_ archive: ArchiveLocation) { self.archive = archive }

  /// The bytes that are left; what was known last when the disk does not say, nil when it never did.
  var free: Int64? {
    guard !isLooking.exchange(true, ordering: .acquiringAndReleasing) else { return known.withLock { $0 } }
    let thread = try? WorkerThread(name: "room") { [self] in
      let free = archive.bytesFree()
      known.withLock { $0 = free }
      isLooking.store(false, ordering: .releasing)
    }
    if let thread {
      thread.join(until: MonotonicClock.now() + Self.patience)
    } else {
      isLooking.store(false, ordering: .releasing)
    }
    return known.withLock { $0 }
  }
}
