import Archive
import Arguments
import Commands
import Index
import SessionModel

/// What `gc --json` prints.
struct CleanUpReport: Encodable {
  /// One session that was deleted, or would be.
  struct Deleted: Encodable {
    let session: SessionID
    let bytes: Int64
    /// `keep` or `budget`: the bound that it was over.
    let bound: String
  }

  /// Whether nothing was deleted in truth.
  let isDryRun: Bool
  /// The sessions, the oldest first.
  let deleted: [Deleted]
  /// Sessions that are left, and their bytes.
  let sessions: Int, bytes: Int64
  /// Bytes by which what is left is over the budget, since it is protected, recorded or damaged; 0 when it is not.
  let overBudget: Int64
  /// Bytes left on the disk; nil when that is not known.
  let bytesFree: Int64?
  /// Bytes that were recorded a day in the last seven.
  let bytesPerDay: Int64
  /// Days until the disk is full at that rate; nil when that is not known, or it never is.
  let daysLeft: Double?
}

extension GcCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    let plan = try RetentionPlan(
      archive.reader, budget: budget?.bytes, keep: keep?.nanoseconds, now: .now())
    var deleted: [CleanUpReport.Deleted] = []
    for candidate in plan.deleted {
      let entry = CleanUpReport.Deleted(
        session: candidate.id, bytes: candidate.bytes, bound: candidate.isTooOld ? "keep" : "budget")
      guard try dryRun || Self.delete(candidate.id, archive, bound: entry.bound) else { continue }
      if !dryRun { try await archive.index.remove(candidate.id) }
      deleted.append(entry)
      if !output.json { try StandardOutput.line("\(candidate.id)  \(ByteCount.text(candidate.bytes))  \(entry.bound)") }
    }
    let freed = deleted.reduce(0) { $0 + $1.bytes }
    let free = try archive.reader.bytesFree()
    let report = CleanUpReport(
      isDryRun: dryRun, deleted: deleted, sessions: plan.count - deleted.count, bytes: plan.bytes - freed,
      overBudget: max(0, plan.bytes - freed - (budget?.bytes ?? .max)), bytesFree: free,
      bytesPerDay: plan.bytesPerDay, daysLeft: free.flatMap { plan.daysLeft(free: $0) })
    if output.json { return try StandardOutput.json(report) }
    Diagnostics.message(Self.sentence(report))
  }

  /// Deletes the session, unless it was protected or begun to be worked on meanwhile.
  private static func delete(
    _ id: SessionID, _ archive: OpenArchive, bound: String
  ) throws(RecorderError) -> Bool {
    guard try archive.reader.session(id).protection() == nil else { return false }
    do {
      try archive.reader.delete(id, as: .cleanUp, reason: bound)
      return true
    } catch {
      guard error.code == .busy || error.code == .sessionNotFound else { throw error }
      return false
    }
  }

  private static func sentence(_ report: CleanUpReport) -> String {
    let isOne = report.sessions == 1
    let verb = isOne ? "is" : "are"
    var text =
      "\(report.sessions) session\(isOne ? "" : "s") with \(ByteCount.text(report.bytes)) "
      + "\(report.isDryRun ? "would be" : verb) left."
    if report.overBudget > 0 {
      text +=
        " \(isOne ? "It" : "They") \(verb) \(ByteCount.text(report.overBudget)) over the budget: protected, being "
        + "recorded, or damaged."
    }
    guard let free = report.bytesFree else { return text }
    text += " The disk has \(ByteCount.text(free)) free"
    if let days = report.daysLeft {
      text += "; at \(ByteCount.text(report.bytesPerDay)) a day it is full in \(Int(days)) days"
    }
    return text + "."
  }
}
