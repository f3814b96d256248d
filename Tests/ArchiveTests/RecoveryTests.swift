import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

@Suite struct RecoveryTests {
  let archive: TestArchive
  let id: SessionID
  let path: String

  init() throws {
    archive = try TestArchive()
    id = try sessionID("20261130T021533Z-k3x9")
    path = sessionPath(archive.root, id)
  }

  func event(_ seconds: Double, _ kind: Event.Kind, text: String? = nil) -> Event {
    Event(time: Timestamp(nanoseconds: Int64(seconds * 1e9)), kind: kind, text: text)
  }

  /// A session as a killed recorder leaves it.
  func abandon(_ events: [Event], media: [[UInt8]]) throws {
    let writer = try archive.create(id)
    for event in events { try writer.append(event) }
    for (index, bytes) in media.enumerated() {
      let (descriptor, _) = try writer.createSegment(index + 1)
      defer { close(descriptor) }
      #expect(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
    }
    writer.close()
  }

  func recovered() throws -> Manifest {
    guard case .recovered(let manifest) = try archive.reader.recover(id) else { throw TestFailure("not recovered") }
    return manifest
  }

  static let media = Matroska.header() + Matroska.cluster(4000, [Matroska.simpleBlock(0), Matroska.simpleBlock(500)])

  @Test func aStaticSessionLastsToItsLastSignOfLife() throws {
    try abandon([event(0, .start), event(8, .alive), event(9, .alive)], media: [Self.media])
    let manifest = try recovered()
    #expect(manifest.state == .interrupted)
    #expect(
      manifest.end
        == Manifest.End(
          reason: .killed, time: Timestamp(nanoseconds: 9_000_000_000), message: "The recorder was killed."))
    #expect(manifest.segments.map(\.bytes) == [Int64(Self.media.count)])
    #expect(manifest.segments.map(\.end) == [Timestamp(nanoseconds: 9_000_000_000)])
    #expect(try archive.reader.session(id).manifest() == manifest)
    #expect(try archive.reader.recover(id) == .closed(manifest))
  }

  @Test func aBusySessionLastsToItsLastBlock() throws {
    try abandon([event(0, .start), event(4, .alive), event(99, .marker)], media: [Self.media])
    #expect(try recovered().duration.seconds == 4.5)
  }

  @Test func partsOfLinesAndBlocksAreCutAndNothingElse() throws {
    let torn = Array((Self.media + Matroska.cluster(5000, [Matroska.simpleBlock(0)])).dropLast())
    try abandon([event(1, .alive)], media: [torn])
    let events = "\(path)/events.ndjson"
    let whole = try readFile(events)
    try writeFile(events, whole + Array("{\"kind\":\"alive\",\"time\":99".utf8))
    #expect(try recovered().duration.seconds == 4.5)
    #expect(try readFile(events) == whole)
    #expect(try readFile("\(path)/media/000001.mkv") == Self.media)
  }

  @Test func aFileThatTheManifestDoesNotNameIsKept() throws {
    let second = Matroska.header() + Matroska.cluster(0, [Matroska.simpleBlock(0), Matroska.simpleBlock(250)])
    try abandon([event(1, .alive)], media: [Self.media, second])
    let manifest = try recovered()
    #expect(manifest.segments.map(\.file) == ["media/000001.mkv", "media/000002.mkv"])
    #expect(manifest.segments.map(\.start.seconds) == [0, 4.5])
    #expect(manifest.duration.seconds == 4.75)
  }

  /// What the recorder sealed it sealed; the rest says that recovery did.
  @Test func whatWasNotSealedIsSealedAndSaysBywhom() throws {
    let writer = try archive.create(id)
    var manifest = sampleManifest(id)
    for number in 1...2 {
      let (descriptor, file) = try writer.createSegment(number)
      defer { close(descriptor) }
      #expect(Self.media.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == Self.media.count)
      if number == 2 { manifest.segments.append(Manifest.Segment(file: file, start: seconds(5))) }
    }
    manifest.segments[0].end = seconds(5)
    manifest.segments[0].bytes = Int64(Self.media.count)
    try writer.replaceManifest(manifest)
    try writer.append(event(1, .alive))
    try writer.sealClosed(isDue: true)
    try writer.append(event(9, .alive))
    writer.close()
    let chain = "\(path)/chain.ndjson"
    try writeFile(chain, readFile(chain) + Array("{\"bytes\":".utf8))
    let first = try archive.reader.session(id).chain().links

    let end = try recovered()
    #expect(end.duration.seconds == 9.5)
    let links = try archive.reader.session(id).chain().links
    #expect(Array(links.prefix(2)) == first)
    #expect(links.map(\.kind) == [.segment, .events, .segment, .events, .manifest])
    #expect(links.map(\.sealedBy) == [.recorder, .recorder, .recovery, .recovery, .recovery])
    #expect(end.chain == Manifest.Chain(head: links[4].hash, links: 5, sealedBy: "recovery"))
    let certificate = try archive.reader.session(id).verify()
    #expect(certificate.verdict == .incomplete, "\(certificate.findings)")
    #expect(certificate.findings.map(\.start) == [end.duration])
    #expect(end.check?.isComplete == false)
  }

  /// A file that the recorder closed is never written again, whatever is at its end.
  @Test func aSealedFileIsNotTouched() throws {
    let writer = try archive.create(id)
    var manifest = sampleManifest(id)
    let (descriptor, _) = try writer.createSegment(1)
    let odd = Self.media + [0x1F, 0x43]
    #expect(odd.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == odd.count)
    close(descriptor)
    manifest.segments[0].end = seconds(5)
    manifest.segments[0].bytes = Int64(odd.count)
    try writer.replaceManifest(manifest)
    try writer.sealClosed(isDue: false)
    writer.close()
    _ = try recovered()
    #expect(try readFile("\(path)/media/000001.mkv") == odd)
    #expect(try archive.reader.session(id).verify().verdict == .incomplete)
  }

  /// Killed between making a file and writing to it.
  @Test(arguments: [[UInt8](), Matroska.header()]) func aFileWithoutAPictureStaysAndIsNotPlayed(second: [UInt8]) throws
  {
    try abandon([event(5, .alive)], media: [Self.media, second])
    let manifest = try recovered()
    #expect(manifest.segments.map(\.file) == ["media/000001.mkv"])
    #expect(manifest.segments.map(\.end) == [seconds(5)] && manifest.duration == seconds(5))
    #expect(try readFile("\(path)/media/000002.mkv") == second)
    #expect(try archive.reader.session(id).verify().verdict == .incomplete)
  }

  @Test func aLiveSessionIsLeftAlone() throws {
    let writer = try archive.create(id)
    #expect(try archive.reader.recover(id) == .live(sampleManifest(id)))
    #expect(try archive.reader.session(id).manifest().state == .recording)
    writer.close()
  }

  @Test func whatCannotBeReadIsLeftAlone() throws {
    try abandon([event(1, .alive)], media: [Self.media + [1]])
    for text in ["{\"format\":2}", "rubbish"] {
      try writeFile("\(path)/manifest.json", text.utf8)
      guard case .damaged = try archive.reader.recover(id) else {
        Issue.record("\(text) is no damage")
        return
      }
      #expect(try readFile("\(path)/manifest.json") == Array(text.utf8))
      #expect(try readFile("\(path)/media/000001.mkv") == Self.media + [1])
    }
  }

  @Test func theReasonIsSaidWhereItIsKnown() throws {
    try abandon([event(3, .stop, text: "writeFailed")], media: [])
    let manifest = try recovered()
    #expect(manifest.end?.message == "The recording had ended (writeFailed) when the recorder was killed.")
    #expect(manifest.duration.seconds == 3)
    try archive.reader.delete(id, as: .delete)
    var restarted = sampleManifest(id)
    restarted.host.name = try run(["hostname"]).lines.first ?? ""
    restarted.clock.monotonic = .max / 2
    try SessionWriter.create(in: archive.reader.location, id: id, manifest: restarted).close()
    #expect(try recovered().end?.message == "The machine was restarted while it recorded.")
  }

  @Test func anEmptySessionHasNoLength() throws {
    try abandon([], media: [[]])
    let manifest = try recovered()
    #expect(manifest.duration == .zero)
    #expect(manifest.segments.map(\.bytes) == [0])
  }

  @Test(arguments: ["events.ndjson", "media/000001.mkv", "media"])
  func whatIsNoFileIsPassedOver(name: String) throws {
    try abandon([event(1, .alive)], media: [Self.media])
    let target = archive.folder.file("target")
    try writeFile(target, Self.media + [0, 0])
    #expect(try run(["rm", "-r", "\(path)/\(name)"]).status == 0)
    #expect(symlink(target, "\(path)/\(name)") == 0)
    let manifest = try recovered()
    #expect(manifest.duration.seconds == (name == "events.ndjson" ? 4.5 : 1))
    #expect(try readFile(target) == Self.media + [0, 0])
  }
}
