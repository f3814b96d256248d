package import SessionModel

/// Which sessions a clean-up deletes.
package struct RetentionPlan: Sendable {
  /// A session that is to go.
  package struct Candidate: Hashable, Sendable {
    /// Which.
    package let id: SessionID
    /// Its bytes on disk.
    package let bytes: Int64
    /// Whether it began too long ago; else it is over the budget.
    package let isTooOld: Bool
  }

  /// One session as far as a plan needs it.
  struct Entry {
    let id: SessionID
    let began: WallTime
    let bytes: Int64
    /// Neither protected, nor being recorded, nor damaged.
    let mayGo: Bool
  }

  /// Nanoseconds of a day, and of the days that tell the present rate.
  private static let day: Int64 = 86_400_000_000_000
  private static let rateDays: Int64 = 7

  /// The sessions that go, the oldest first.
  package let deleted: [Candidate]
  /// All sessions and their bytes, those that go included.
  package let count: Int, bytes: Int64
  /// Bytes that were recorded a day in the last seven.
  package let bytesPerDay: Int64

  /// Works out what is to go from the archive's sessions.
  /// - Parameters:
  ///   - budget: bytes that all sessions may have together; nil is no bound.
  ///   - keep: nanoseconds since their beginning after which sessions go; nil is no bound.
  /// - Throws: `RecorderError` when the archive cannot be read.
  package init(_ archive: ArchiveReader, budget: Int64?, keep: Int64?, now: WallTime) throws(RecorderError) {
    var entries: [Entry] = []
    for id in try archive.sessionIDs() {
      guard let session = try? archive.session(id), let began = id.began else { continue }
      let isClosed = (try? session.manifest()).map { $0.state != .recording } ?? false
      let isLive = (try? session.isLive()) ?? true
      // Annotations that cannot be read may hold a protection.
      let isFree = (try? session.protection() == nil) ?? false
      entries.append(
        Entry(
          id: id, began: began, bytes: (try? session.bytes()) ?? 0, mayGo: isClosed && !isLive && isFree))
    }
    self.init(entries, budget: budget, keep: keep, now: now)
  }

  /// Works out what of `entries` is to go. Pure.
  init(_ entries: [Entry], budget: Int64?, keep: Int64?, now: WallTime) {
    let total = entries.reduce(Int64(0)) { $0 &+ $1.bytes }
    var (left, going) = (total, [Candidate]())
    for entry in entries.sorted(by: { $0.id < $1.id }) where entry.mayGo {
      let isTooOld = keep.map { now.nanoseconds - entry.began.nanoseconds > $0 } ?? false
      guard isTooOld || budget.map({ left > $0 }) ?? false else { continue }
      going.append(Candidate(id: entry.id, bytes: entry.bytes, isTooOld: isTooOld))
      left -= entry.bytes
    }
    (deleted, count, bytes) = (going, entries.count, total)
    let recent = entries.filter { now.nanoseconds - $0.began.nanoseconds < Self.rateDays * Self.day }
    bytesPerDay = recent.reduce(Int64(0)) { $0 &+ $1.bytes } / Self.rateDays
  }

  /// The days in which `free` bytes are used up at the present rate; nil when nothing was recorded lately.
  package func daysLeft(free: Int64) -> Double? {
    bytesPerDay > 0 ? Double(free) / Double(bytesPerDay) : nil
  }
}
