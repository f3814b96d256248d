import FoundationEssentials
package import SessionModel

extension SessionReader {
  /// Looks at the session's files and holds them against its chain, its manifest against its own rules and its events
  /// against the clock; what the media files hold is not looked into.
  /// - Parameter keptHead: the head that the recording printed, kept elsewhere; nil when there is none.
  /// - Throws: `RecorderError` when the disk cannot be read, or the session is a newer program's.
  package func verify(keptHead: String? = nil) throws(RecorderError) -> Certificate {
    var certificate = Certificate(session: id)
    let isLive = try isLive()
    let record = try tolerating(nil) { () throws(RecorderError) -> ChainRecord? in try chain() }
    let manifest: Manifest?
    do {
      manifest = try self.manifest()
    } catch {
      guard error.code == .damagedData, !error.message.contains("newer recorder") else { throw error }
      manifest = nil
      certificate.add(
        Certificate.Finding(
          .altered, ArchiveLocation.Name.manifest, error.message, start: .zero, end: record?.links.last?.end))
    }
    if let record { try checkChain(record, manifest, isLive: isLive, &certificate) }
    if let manifest {
      certificate.duration = manifest.duration
      certificate.droppedFrames = manifest.statistics?.droppedFrames
      for message in manifest.contradictions {
        certificate.add(Certificate.Finding(.incomplete, ArchiveLocation.Name.manifest, message))
      }
      if !isLive { checkEnd(manifest, &certificate) }
    }
    try checkEvents(manifest, &certificate)
    try checkAnnotations(&certificate)
    if let keptHead {
      certificate.isKeptHead = certificate.head == keptHead
      if certificate.head != keptHead {
        let redaction = manifest?.redactions?.first { $0.head == keptHead }
        certificate.add(
          Certificate.Finding(
            .altered, ArchiveLocation.Name.chain,
            redaction.map { redaction in
              "The head that was kept is of the session before \(redaction.from) to \(redaction.to) of it was taken out, by \(redaction.by.printable) at \(redaction.at): it says nothing of what is left."
            }
              ?? "The chain ends with \(certificate.head ?? "nothing"), not with the head that was kept: the session was cut, put back to an older state, or made anew."
          ))
      }
    }
    if isLive, certificate.verdict != .altered { certificate.verdict = .recording }
    return certificate
  }

  /// One sentence for each thing that `manifest`, which is about to be written, cannot show to be there.
  func shortFindings(_ manifest: Manifest) -> [String] {
    var certificate = Certificate(session: id)
    for message in manifest.contradictions {
      certificate.add(Certificate.Finding(.incomplete, ArchiveLocation.Name.manifest, message))
    }
    checkEnd(manifest, isSealing: true, &certificate)
    do { try checkEvents(manifest, &certificate) } catch { return [error.description] }
    return certificate.findings.map(\.message)
  }

  private func checkEnd(_ manifest: Manifest, isSealing: Bool = false, _ certificate: inout Certificate) {
    func add(_ message: String, start: Timestamp? = nil) {
      certificate.add(Certificate.Finding(.incomplete, ArchiveLocation.Name.manifest, message, start: start))
    }
    switch manifest.state {
    case .recording: add("The recorder was killed and the session is not closed yet; recorder recover closes it.")
    case .interrupted:
      add(
        "The recorder was killed: up to a second before \(manifest.duration) is missing, and all after it.",
        start: manifest.duration)
    case .finished where manifest.end?.reason == .writeFailed || manifest.end?.reason == .failed:
      add(
        "The recording ended because a part of it failed\(manifest.end?.message.map { ": \($0.printable)" } ?? ".")",
        start: manifest.duration)
    case .finished: break
    }
    if !isSealing, manifest.state != .recording, manifest.chain == nil, certificate.verdict != .altered {
      add("The session has no seal, so nothing shows whether it was altered.")
    }
  }

  /// Reads the events: each line is one, the signs of life follow one another, and none is from after the end.
  private func checkEvents(_ manifest: Manifest?, _ certificate: inout Certificate) throws(RecorderError) {
    let name = ArchiveLocation.Name.events
    guard let file = try tolerating(nil as OpenFile?, { () throws(RecorderError) in try folder.openFile(name) })
    else {
      certificate.add(Certificate.Finding(.incomplete, name, "The session has no events."))
      return
    }
    let decoder = JSONDecoder()
    var (alive, number, gaps, count) = (Timestamp?.none, 0, [Gap](), 0)
    var unreadable: Int?, backwards: Timestamp?, late: Timestamp?
    let end = manifest?.end?.time
    _ = try Line.forEach(in: file.descriptor) { (line) throws(RecorderError) in
      number += 1
      guard let event = try? decoder.decode(Event.self, from: line), event.isPlausible else {
        unreadable = unreadable ?? number
        return
      }
      count += 1
      if let gap = event.gap { gaps.append(gap) }
      if event.kind == .alive {
        if let before = alive, event.time <= before { backwards = backwards ?? event.time }
        alive = event.time
      }
      // What a slow device or display tells when the recording is over is a moment late.
      if let end, event.time > end + Self.lateness { late = late ?? event.time }
    }
    (certificate.events, certificate.gaps) = (count, gaps)
    if let unreadable {
      certificate.add(Certificate.Finding(.incomplete, name, "Line \(unreadable) of the events cannot be read."))
    }
    if let backwards {
      certificate.add(
        Certificate.Finding(
          .incomplete, name, "The events go back in time at \(backwards).", start: backwards, end: backwards))
    }
    if let late {
      certificate.add(
        Certificate.Finding(.incomplete, name, "An event is from \(late), after the end.", start: late, end: late))
    }
  }

  /// Nanoseconds that an event may be from after the end: a busy machine may hear of the end of a duration a second late, and
  /// a thread is waited for another.
  private static let lateness: Int64 = 2_000_000_000
}

extension Manifest {
  /// One sentence for each rule of manifests that this one does not keep.
  var contradictions: [String] {
    var found: [String] = []
    var last = Timestamp.zero
    for segment in segments {
      if segment.start != last { found.append("\(segment.file.printable) begins at \(segment.start), not at \(last).") }
      if state != .recording, segment.end == nil || segment.bytes == nil {
        found.append("\(segment.file.printable) was never closed.")
      }
      if let end = segment.end, end < segment.start {
        found.append("\(segment.file.printable) ends before it begins.")
      }
      last = segment.end ?? last
    }
    if state != .recording {
      if end == nil { found.append("The manifest does not say how the session ended.") }
      if let end, last != end.time, !segments.isEmpty {
        found.append("The media files end at \(last), the session at \(end.time).")
      }
    }
    if let statistics, statistics.bytes != segments.reduce(0, { $0 + ($1.bytes ?? 0) }) {
      found.append("The media files have not the bytes that the manifest counts.")
    }
    if tracks.map(\.index) != Array(tracks.indices) { found.append("The tracks are not in order.") }
    return found
  }
}
