import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

/// A session with two media files, a gap and an end, sealed as a recorder seals it.
struct SealedSession {
  let archive: TestArchive
  let id: SessionID
  let path: String
  let manifest: Manifest

  /// The session's files that are sealed.
  static let files = ["media/000001.mkv", "media/000002.mkv", "events.ndjson", "manifest.json", "chain.ndjson"]

  init() throws {
    archive = try TestArchive()
    id = try sessionID("20261130T021533Z-k3x9")
    path = sessionPath(archive.root, id)
    let writer = try archive.create(id)
    var manifest = sampleManifest(id)
    func write(_ number: Int, _ bytes: [UInt8]) throws {
      let (descriptor, file) = try writer.createSegment(number)
      defer { close(descriptor) }
      #expect(bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
      if number > 1 { manifest.segments.append(Manifest.Segment(file: file, start: seconds(5))) }
    }
    try writer.append(Event(time: .zero, kind: .start))
    try write(1, RecoveryTests.media)
    try write(2, RecoveryTests.media + RecoveryTests.media)
    manifest.segments[0].end = seconds(5)
    manifest.segments[0].bytes = Int64(RecoveryTests.media.count)
    try writer.replaceManifest(manifest)
    try writer.sealClosed(isDue: false)
    try writer.append(Event(time: seconds(6), kind: .alive))
    let gap = Gap(track: "microphone", start: seconds(6), end: seconds(7), reason: "lost")
    try writer.append(Event(time: seconds(7), kind: .gap, gap: gap))
    try writer.sealClosed(isDue: false)
    try writer.append(Event(time: seconds(8), kind: .alive))
    manifest.state = .finished
    manifest.end = Manifest.End(reason: .duration, time: seconds(10))
    manifest.segments[1].end = seconds(10)
    manifest.segments[1].bytes = Int64(RecoveryTests.media.count * 2)
    let (sealed, error) = writer.finish(manifest, Event(time: seconds(10), kind: .stop, text: "duration"))
    #expect(error == nil)
    self.manifest = sealed
    writer.close()
  }

  func certificate(head: String? = nil) throws -> Certificate {
    try archive.reader.session(id).verify(keptHead: head)
  }
}

/// So many whole seconds.
func seconds(_ seconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(seconds) * 1_000_000_000) }

@Suite struct ChainTests {
  let session: SealedSession

  init() throws { session = try SealedSession() }

  @Test func everyClosedPieceIsALink() throws {
    let record = try session.archive.reader.session(session.id).chain()
    #expect(record.fault == nil)
    let size = Int64(RecoveryTests.media.count)
    let events = Int64(try readFile("\(session.path)/events.ndjson").count)
    #expect(record.links.map(\.kind) == [.segment, .events, .segment, .events, .manifest])
    #expect(record.links.map(\.bytes).prefix(3) == [size, record.links[1].bytes, 2 * size])
    #expect(record.links[1].bytes + record.links[3].bytes == events)
    #expect(record.links.map(\.cause) == [nil, .gap, nil, .end, nil])
    #expect(record.links.map(\.start) == [.zero, .zero, seconds(5), seconds(7), .zero])
    #expect(record.links.map(\.end) == [seconds(5), seconds(7), seconds(10), seconds(10), seconds(10)])
    #expect(record.links.allSatisfy { $0.sealedBy == .recorder })
    #expect(session.manifest.chain?.head == record.links.last?.hash && session.manifest.chain?.links == 5)
    #expect(session.manifest.check == Manifest.Check(findings: []))
    // By another program.
    let sum = try run(["sha256sum", "\(session.path)/media/000002.mkv"]).text.prefix(64)
    #expect(record.links[2].digest == sum)
    let lines = try String(decoding: readFile("\(session.path)/chain.ndjson"), as: UTF8.self).split(separator: "\n")
    #expect(try JSONSchema.problems("chain", lines.map(String.init)).allSatisfy(\.isEmpty))
  }

  @Test func anUntouchedSessionIsIntact() throws {
    let certificate = try session.certificate(head: session.manifest.chain?.head)
    #expect(certificate.verdict == .intact, "\(certificate.findings)")
    #expect(certificate.isKeptHead == true && certificate.pieces == 5 && certificate.gaps.count == 1)
    #expect(access("\(session.path)/reserve", F_OK) != 0)
  }

  /// What a person adds later breaks no seal.
  @Test func annotationsBreakNoSeal() throws {
    for text in ["one", "two"] {
      try session.archive.reader.annotate(
        session.id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: text))
    }
    #expect(try session.certificate().verdict == .intact)
    let path = "\(session.path)/annotations.ndjson"
    let lines = try String(decoding: readFile(path), as: UTF8.self)
    try writeFile(path, lines.replacing("one", with: "won").utf8)
    let certificate = try session.certificate()
    #expect(certificate.verdict == .altered)
    #expect(certificate.findings.map(\.piece) == ["annotations.ndjson, line 2"])
  }

  /// Half a line that a killed program left is no alteration.
  @Test func aTornAnnotationIsNoAlteration() throws {
    try session.archive.reader.annotate(
      session.id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "one"))
    let path = "\(session.path)/annotations.ndjson"
    try writeFile(path, readFile(path) + Array("{\"added\":\"20".utf8))
    #expect(try session.certificate().verdict == .intact)
    try session.archive.reader.annotate(
      session.id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "two"))
    #expect(try session.certificate().verdict == .intact)
    #expect(try session.archive.reader.session(session.id).annotations().map(\.text) == ["one", "two"])
  }

  /// One flipped bit anywhere in the sealed files is found, and the piece named. `make torture` flips a thousand.
  @Test func aFlippedBitIsFound() throws {
    var generator = SystemRandomNumberGenerator()
    let flips = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_FLIPS"] ?? "") ?? 200
    for _ in 0..<flips {
      let file = try #require(SealedSession.files.randomElement(using: &generator))
      let path = "\(session.path)/\(file)"
      let before = try readFile(path)
      var bytes = before
      let place = Int.random(in: bytes.indices, using: &generator)
      bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      try writeFile(path, bytes)
      let certificate = try session.certificate()
      #expect(certificate.verdict == .altered, "\(file), byte \(place): \(before[place]) to \(bytes[place])")
      // A line of the chain, or the bytes of it that no longer are a line, is what the chain is made of.
      let piece = certificate.findings.first?.piece ?? ""
      #expect(piece.hasPrefix(file), "\(file), byte \(place): \(piece)")
      if file.hasPrefix("media") { #expect(certificate.findings.first?.end != nil) }
      try writeFile(path, before)
    }
    #expect(try session.certificate().verdict == .intact)
  }

  @Test func theSpanOfAnAlteredPieceIsNamed() throws {
    let path = "\(session.path)/media/000002.mkv"
    var bytes = try readFile(path)
    bytes[bytes.count - 1] ^= 1
    try writeFile(path, bytes)
    let finding = try #require(try session.certificate().findings.first)
    #expect(finding.piece == "media/000002.mkv" && finding.start == seconds(5) && finding.end == seconds(10))
  }

  /// Case S11: what systemd's sealing misses (systemd#28885, #28886), and more: each is caught with the kept head.
  @Test(arguments: [
    "rm media/000002.mkv", "rm media/000001.mkv", "truncate -s -1 media/000002.mkv", "truncate -s -1 events.ndjson",
    "echo >> events.ndjson", "cp media/000001.mkv media/000003.mkv", "rm chain.ndjson", "sed -i 2d chain.ndjson",
    "sed -i '$d' chain.ndjson", "sed -i '1{h;d};2{G}' chain.ndjson", "echo x >> chain.ndjson",
    "printf x >> chain.ndjson", "sed -i 1d events.ndjson", "rm events.ndjson", "rm manifest.json",
    "mv media/000001.mkv x; mv media/000002.mkv media/000001.mkv; mv x media/000002.mkv", "rm -r media",
    "sed -i '/\"chain\"/,/}/d' manifest.json", "sed -i 's/finished/interrupted/' manifest.json",
    "sed -i 's/: \"host\"/: \"hosf\"/' manifest.json", "rm media/000001.mkv; ln -s /dev/zero media/000001.mkv",
  ])
  func whatIsCutDroppedOrSwappedIsFound(command: String) throws {
    let head = session.manifest.chain?.head
    #expect(try run(["sh", "-c", command], workingDirectory: session.path).status == 0)
    let certificate = try session.certificate(head: head)
    #expect(certificate.verdict == .altered, "\(certificate.findings)")
    #expect(try session.certificate().verdict == .altered)
  }

  /// Case S11: a session that was made anew, seal and all, is right in itself; only the kept head tells.
  @Test func whatWasMadeAnewIsFoundByTheKeptHeadAlone() throws {
    let head = session.manifest.chain?.head
    #expect(
      try run(["sh", "-c", "printf x >> media/000002.mkv; rm chain.ndjson"], workingDirectory: session.path).status == 0
    )
    var manifest = session.manifest
    (manifest.segments[1].bytes, manifest.chain) = (manifest.segments[1].bytes.map { $0 + 1 }, nil)
    let reader = try session.archive.reader.session(session.id)
    var seal = try SessionSeal(id: session.id, folder: reader.folder, sealer: .recorder)
    for segment in manifest.segments { try seal.seal(segment) }
    let events = try #require(try reader.folder.openFile("events.ndjson"))
    try seal.seal(events: events.descriptor, to: events.descriptor.size(), cause: .end)
    try seal.seal(&manifest)
    #expect(try session.certificate().verdict == .intact)
    let certificate = try session.certificate(head: head)
    #expect(certificate.verdict == .altered && certificate.isKeptHead == false)
  }

  @Test func aSessionOfBeforeSealsIsIncompleteAndNotAltered() throws {
    var manifest = session.manifest
    (manifest.chain, manifest.check) = (nil, nil)
    let reader = try session.archive.reader.session(session.id)
    try reader.folder.removeFile("chain.ndjson")
    try reader.folder.replaceManifest(manifest)
    let certificate = try session.certificate()
    #expect(certificate.verdict == .incomplete)
    #expect(
      certificate.findings.map(\.message) == ["The session has no seal, so nothing shows whether it was altered."])
  }
}
