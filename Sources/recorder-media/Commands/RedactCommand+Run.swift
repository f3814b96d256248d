import Archive
import Arguments
import Commands
import FoundationEssentials
import Index
import Replay
import SessionModel
import Threading

extension RedactCommand: Command {
  package mutating func run() async throws {
    let location = try ArchiveLocation.standard(ProcessInfo.processInfo.environment)
    let archive = ArchiveReader(location)
    let timeline = try session.timeline()
    let id = timeline.session.id
    if try timeline.session.isLive() { throw RecorderError.isWorkedOn(id) }
    if let protection = try timeline.session.protection() {
      throw RecorderError.isProtected(id, protection)
    }
    let (from, to) = (try timeline.timestamp(of: from), try timeline.timestamp(of: to))
    let media = try RedactedMedia(timeline, from: from, to: to)
    let interrupt = EndingSignal()
    guard let manifest = try Self.redact(timeline, media, from, to, reason, in: archive, interrupt) else {
      // What was begun is taken away: now the signal does what it would have done at once.
      ProcessSignals.endProcess(by: interrupt.number)
    }
    Diagnostics.message("Took \(from) to \(to) out of \(id).")
    if let head = manifest.chain?.head { Diagnostics.message("Sealed with \(head).") }
    let problems = try await SessionIndex(location).refresh().problems
    guard try archive.redacted().contains(id), let problem = problems.first else {
      return problems.forEach(Diagnostics.report)
    }
    throw RecorderError(
      problem.code, problem.message, hint: "Until a command can write the index, it has the words that were taken out.")
  }

  /// Takes the stretch out.
  /// - Returns: the manifest of what is left; nil when a signal came before it was in place.
  private static func redact(
    _ timeline: Timeline, _ media: RedactedMedia, _ from: Timestamp, _ to: Timestamp, _ reason: String?,
    in archive: ArchiveReader, _ interrupt: EndingSignal
  ) throws(RecorderError) -> Manifest? {
    var manifest = timeline.manifest
    let certificate = try timeline.session.verify()
    var redaction = Redaction(from: from, to: to, at: .now(), by: AuditEntry.user, reason: reason)
    redaction.head = manifest.chain?.head
    redaction.altered = certificate.findings.first { $0.verdict == .altered }?.message
    var replacement = try SessionReplacement(of: timeline.session.id, in: archive, without: redaction)
    for (place, segment) in manifest.segments.enumerated() {
      guard media.touches(place) else {
        try replacement.keep(segment)
        continue
      }
      let (file, scratch) = (try replacement.makeFile(for: segment), try replacement.makeScratch())
      let bytes = try media.write(place, to: file, scratch: scratch) { interrupt.number == 0 }
      guard let bytes else { return nil }
      manifest.segments[place].bytes = bytes
    }
    return try replacement.place(manifest)
  }
}
