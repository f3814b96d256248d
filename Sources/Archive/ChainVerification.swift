import FoundationEssentials
import SessionModel

extension SessionReader {
  /// Holds the session's files against its chain.
  func checkChain(
    _ record: ChainRecord, _ manifest: Manifest?, isLive: Bool, _ certificate: inout Certificate
  ) throws(RecorderError) {
    (certificate.head, certificate.pieces) = (record.head, record.links.count)
    certificate.sealedBy = record.links.last?.sealedBy.rawValue
    let isClosed = !isLive && manifest?.state != .recording
    checkLines(record, manifest, isClosed: isClosed, &certificate)
    for link in record.links where link.kind == .segment || link.kind == .events { try check(link, &certificate) }
    checkOrder(record, &certificate)
    guard isClosed, let link = record.links.last, record.fault == nil else { return }
    guard link.kind == .manifest else {
      return certificate.add(
        Certificate.Finding(.altered, ArchiveLocation.Name.chain, "The chain does not end with the manifest."))
    }
    // What a manifest that was altered says of the media files says nothing.
    if let manifest, try isSealed(manifest, link, &certificate) {
      let sealed = record.links.filter { $0.kind == .segment }.map(\.file)
      for segment in manifest.segments where !sealed.contains(segment.file) {
        certificate.add(
          Certificate.Finding(
            .altered, segment.file.printable, "\(segment.file.printable) is not sealed.", start: segment.start,
            end: segment.end))
      }
      checkRedactions(manifest, record, &certificate)
    }
    try checkEnds(record, &certificate)
  }

  /// The chain itself: its lines follow one another, and it ends as the manifest says.
  private func checkLines(
    _ record: ChainRecord, _ manifest: Manifest?, isClosed: Bool, _ certificate: inout Certificate
  ) {
    let name = ArchiveLocation.Name.chain
    if let fault = record.fault {
      certificate.add(
        Certificate.Finding(
          .altered, "\(name), line \(fault)", "Line \(fault) of the chain is not as it was written.",
          start: record.faulty?.start ?? record.links.last?.end ?? .zero, end: record.faulty?.end ?? manifest?.duration)
      )
      return
    }
    guard isClosed else { return }
    switch (manifest?.chain, record.links.isEmpty) {
    case (nil, true): break
    case (nil, false):
      // A manifest that cannot be read is told of already.
      if manifest != nil {
        certificate.add(
          Certificate.Finding(
            .altered, ArchiveLocation.Name.manifest, "The manifest names no seal, while the session has a chain."))
      }
    case (_?, true):
      certificate.add(Certificate.Finding(.altered, name, "The chain that the manifest names is missing."))
    case (let chain?, false):
      guard record.head != chain.head || record.links.count != chain.links else { break }
      // A chain that is right to its last line, the manifest's, was not cut.
      let piece = record.links.last?.kind == .manifest ? ArchiveLocation.Name.manifest : name
      certificate.add(
        Certificate.Finding(
          .altered, piece, "The chain does not end as the manifest says.", start: record.links.last?.end,
          end: manifest?.duration))
    }
  }

  /// One piece against its hash.
  private func check(_ link: ChainLink, _ certificate: inout Certificate) throws(RecorderError) {
    let isWhole = link.kind == .segment
    let piece = isWhole ? link.file : "\(link.file), bytes \(link.offset) to \(link.offset + link.bytes)"
    func add(_ words: String) {
      certificate.add(
        Certificate.Finding(.altered, piece, "\(piece.printable) \(words).", start: link.start, end: link.end))
    }
    guard let file = try tolerating(nil as OpenFile?, { () throws(RecorderError) in try sealedFile(link) }) else {
      return add("is missing")
    }
    if isWhole, try file.descriptor.size() != link.bytes { return add("has not the size that it was sealed with") }
    let digest = try file.descriptor.digest(from: link.offset, count: link.bytes)
    if digest != link.digest { add("is not as it was sealed") }
  }

  private func sealedFile(_ link: ChainLink) throws(RecorderError) -> OpenFile? {
    switch link.kind {
    case .manifest, .redaction: return try folder.openFile(ArchiveLocation.Name.manifest)
    case .events: return try folder.openFile(ArchiveLocation.Name.events)
    case .segment:
      guard let path = SegmentPath(file: link.file) else { return nil }
      return try folder.folder(ArchiveLocation.Name.media)?.openFile(path.name)
    }
  }

  /// The blocks of events follow one another without a hole.
  private func checkOrder(_ record: ChainRecord, _ certificate: inout Certificate) {
    var offset: Int64 = 0
    for link in record.links where link.kind == .events {
      if link.offset != offset {
        certificate.add(
          Certificate.Finding(
            .altered, link.file, "A block of events is missing from the chain.", start: link.start, end: link.end))
      }
      offset = link.offset + link.bytes
    }
  }

  /// Whether `manifest` is as `link` sealed it.
  private func isSealed(
    _ manifest: Manifest, _ link: ChainLink, _ certificate: inout Certificate
  ) throws(RecorderError) -> Bool {
    guard let head = manifest.chain?.head, let file = try folder.file(ArchiveLocation.Name.manifest) else {
      return false
    }
    let bytes = try file.readAll(atMost: Self.largestManifest)
    if Chain.hash(of: bytes, holding: head) == link.digest { return true }
    certificate.add(
      Certificate.Finding(
        .altered, ArchiveLocation.Name.manifest, "The manifest is not as it was sealed.", start: link.start,
        end: link.end))
    return false
  }

  /// The chain begins with what was taken out of the session, as the manifest has it, and nothing was altered before.
  private func checkRedactions(_ manifest: Manifest, _ record: ChainRecord, _ certificate: inout Certificate) {
    let redactions = manifest.redactions ?? []
    let links = record.links.prefix { $0.kind == .redaction }
    let isSaid =
      record.links.count { $0.kind == .redaction } == redactions.count && links.count == redactions.count
      && zip(links, redactions).allSatisfy { link, redaction in
        link.digest == redaction.head ?? ChainLink.noHash && link.start == redaction.from && link.end == redaction.to
      }
    if !isSaid {
      certificate.add(
        Certificate.Finding(
          .altered, ArchiveLocation.Name.chain, "The chain does not begin with what the manifest says was taken out."))
    }
    for redaction in redactions {
      guard let altered = redaction.altered else { continue }
      certificate.add(
        Certificate.Finding(
          .altered, ArchiveLocation.Name.manifest,
          "The session had been altered before a part of it was taken out at \(redaction.at): \(altered.printable)",
          start: redaction.from, end: redaction.to))
    }
  }

  /// Nothing was added to what is sealed.
  private func checkEnds(_ record: ChainRecord, _ certificate: inout Certificate) throws(RecorderError) {
    let end = record.links.last { $0.kind == .events }.map { $0.offset + $0.bytes } ?? 0
    let events = try tolerating(nil as OpenFile?) { () throws(RecorderError) in
      try folder.openFile(ArchiveLocation.Name.events)
    }
    if let events, try events.descriptor.size() > end {
      certificate.add(
        Certificate.Finding(
          .altered, ArchiveLocation.Name.events, "The events go on after the last sealed one.",
          start: certificate.duration))
    }
    if let file = try folder.file(ArchiveLocation.Name.chain), try file.size() != record.wholeBytes {
      certificate.add(Certificate.Finding(.altered, ArchiveLocation.Name.chain, "Something follows the chain's end."))
    }
    let sealed = Set(record.links.filter { $0.kind == .segment }.map(\.file))
    for path in try segmentPaths() where !sealed.contains(path.file) {
      certificate.add(Certificate.Finding(.altered, path.file, "\(path.file) is no file of the sealed session."))
    }
  }
}

extension SessionReader {
  /// Holds each annotation against the line before it.
  func checkAnnotations(_ certificate: inout Certificate) throws(RecorderError) {
    let name = ArchiveLocation.Name.annotations
    guard let file = try tolerating(nil as OpenFile?, { () throws(RecorderError) in try folder.openFile(name) })
    else { return }
    guard let line = try file.descriptor.firstFault(of: Annotation.self) else { return }
    certificate.add(
      Certificate.Finding(
        .altered, "\(name), line \(line)",
        "The annotations are not as they were added, at line \(line) or the one before it."))
  }
}
