import Archive
import Arguments
import Commands
import Control
import FoundationEssentials
import Glibc
import SessionModel

extension LogsCommand: Command {
  /// Microseconds between two looks at a log that is followed: what a person takes for at once.
  private static let pause: UInt32 = 200_000

  func run() throws {
    let session = try find()
    let utcOffset = (try? session.manifest())?.clock.utcOffset ?? 0
    var offset: Int64 = 0
    while true {
      // Asked before the log is read: what comes between the two is there when it is read.
      let goesOn = follow ? try session.isLive() : false
      var entries: [LogEntry] = []
      offset = try session.forEachLogEntry(from: offset) { entry in if wants(entry) { entries.append(entry) } }
      if output.json {
        try StandardOutput.jsonLines(entries)
      } else if !entries.isEmpty {
        try StandardOutput.line(entries.map { $0.text(utcOffset: utcOffset) }.joined(separator: "\n"))
      }
      if !goesOn { return }
      usleep(Self.pause)
    }
  }

  private func wants(_ entry: LogEntry) -> Bool {
    entry.level >= level && (category.isEmpty || category.contains(entry.category))
  }

  /// The session that was named: by a recording's name or as everywhere; else the one that runs, else the newest.
  private func find() throws(RecorderError) -> SessionReader {
    let recordings = try OpenRecordings()
    let archive = ArchiveReader(recordings.archive)
    let running = try recordings.running.all().filter { $0.session != nil }
    if let session {
      if let named = running.first(where: { $0.name == session.text })?.session { return try archive.session(named) }
      return try archive.session(archive.resolve(session.text))
    }
    if running.isEmpty { return try archive.session(archive.resolve("last")) }
    guard let id = try RunningRecordings.choose(nil, among: running).session else {
      throw RecorderError(.sessionNotFound, "The recording has no session yet.")
    }
    return try archive.session(id)
  }
}

extension LogEntry {
  /// What a person reads, on a clock `utcOffset` seconds east of Greenwich.
  fileprivate func text(utcOffset: Int) -> String {
    // The date is the session's.
    let clock = utc.text(utcOffset: utcOffset).suffix(8)
    var parts = ["\(clock)  \(time)", level.rawValue, category.rawValue, message.printable]
    if let fields {
      let known = fields.sorted { $0.key < $1.key }.map { "\($0.key.printable): \($0.value.printable)" }
      parts.append("(\(known.joined(separator: ", ")))")
    }
    if let repeats { parts.append("and \(repeats) more like it") }
    return parts.joined(separator: "  ")
  }
}
