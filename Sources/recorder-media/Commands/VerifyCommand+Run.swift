import Archive
import Arguments
import Commands
import FoundationEssentials
import Replay
import SessionModel

extension VerifyCommand: Command {
  package mutating func run() async throws {
    let archive = ArchiveReader(try ArchiveLocation.standard(ProcessInfo.processInfo.environment))
    var worst: RecorderError?
    // Altered goes before incomplete, and the first of a kind is told.
    func note(_ error: RecorderError) {
      if worst == nil || (worst?.code == .incomplete && error.code != .incomplete) { worst = error }
    }
    for id in try all ? Array(archive.sessionIDs()) : [archive.resolve(session?.text ?? "")] {
      do throws(RecorderError) {
        if case .recovered = try? archive.recover(id) {
          Diagnostics.reportRecovered(id)
        }
        let certificate = try Self.certify(archive.session(id), keptHead: head, isDeep: deep)
        if let error = Self.error(certificate) { note(error) }
        try print(certificate)
      } catch {
        guard all else { throw error }
        Diagnostics.report(error)
        note(error)
      }
    }
    if all, let notice = try archive.strayNotice() { Diagnostics.message(notice) }
    if all, let error = try checkAudit(archive) { note(error) }
    if let worst { throw worst }
  }

  /// Looks at what is written down of deletions.
  /// - Returns: what is wrong with it; nil when nothing is.
  private func checkAudit(_ archive: ArchiveReader) throws(RecorderError) -> RecorderError? {
    let (entries, fault) = try archive.audit()
    if let fault {
      return RecorderError(
        .damagedData,
        "audit.ndjson is not as it was written, at line \(fault) or the one before it: it may not say all that was deleted."
      )
    }
    if !output.json, !entries.isEmpty {
      do { try StandardOutput.line("audit.ndjson: intact; deletions and redactions: \(entries.count)") } catch {}
    }
    return nil
  }

  private static func certify(
    _ session: SessionReader, keptHead: String?, isDeep: Bool
  ) throws(RecorderError) -> Certificate {
    var certificate = try session.verify(keptHead: keptHead)
    if let manifest = try? session.manifest() {
      try MediaVerification(session, manifest, isDeep: isDeep).run(&certificate)
    }
    return certificate
  }

  /// What the program ends with for one session; nil when nothing is wrong.
  private static func error(_ certificate: Certificate) -> RecorderError? {
    guard let first = certificate.findings.first else { return nil }
    let time = first.start.map { start in first.end.map { " (\(start) to \($0))" } ?? " (from \(start))" } ?? ""
    switch certificate.verdict {
    case .intact, .recording: return nil
    case .incomplete:
      return RecorderError(.incomplete, "The session \(certificate.session) is incomplete: \(first.message)")
    case .altered:
      return RecorderError(
        .damagedData, "The session \(certificate.session) was altered: \(first.piece)\(time): \(first.message)")
    }
  }

  private func print(_ certificate: Certificate) throws(RecorderError) {
    do {
      if output.json { return try StandardOutput.jsonLines([certificate]) }
      try StandardOutput.line(Self.lines(certificate).joined(separator: "\n"))
    } catch let error as RecorderError {
      throw error
    } catch {
      // The reader went away: the exit code still tells.
    }
  }

  /// Who sealed it, when that is not the recorder alone.
  private static func sealer(_ certificate: Certificate) -> String {
    switch certificate.sealedBy {
    case "recovery": ", the last by recovery,"
    case "redaction": ", after a redaction,"
    default: ""
    }
  }

  private static func lines(_ certificate: Certificate) -> [String] {
    let seal = certificate.head.map { head in
      "\(certificate.pieces) pieces sealed\(Self.sealer(certificate)) with \(head)"
    }
    var lines = ["\(certificate.session): \(certificate.verdict.rawValue); \(seal ?? "no seal")"]
    if certificate.isKeptHead == true { lines.append("  It is the head that was kept.") }
    var facts = ["\(certificate.duration) recorded"]
    for track in certificate.tracks {
      let name = track.kind == .video ? "picture" : "sound"
      let decoded = track.decoded.map { ", \($0) \(track.kind == .video ? "pictures" : "samples") decoded" } ?? ""
      let span = "\(track.start ?? .zero) to \(track.end ?? .zero)"
      facts.append("\(name) from \(span), \(track.packets) packets\(decoded)")
    }
    if let dropped = certificate.droppedFrames { facts.append("\(dropped) frames left to the next") }
    facts.append("\(certificate.events) events, \(certificate.gaps.count) gaps")
    lines += facts.map { "  \($0)" }
    for finding in certificate.findings {
      let time = finding.start.map { start in finding.end.map { " \(start) to \($0)" } ?? " from \(start)" } ?? ""
      lines.append("  \(finding.verdict.rawValue): \(finding.piece)\(time): \(finding.message)")
    }
    return lines
  }
}
