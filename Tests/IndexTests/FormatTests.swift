import Archive
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Index

/// Case I19: archives that released versions wrote, kept in Tests/Fixtures/archives/vN, are read for ever.
@Suite struct FormatTests {
  @Test func version1() async throws {
    let archive = try IndexedArchive()
    #expect(
      try run(["cp", "-r", "\(JSONSchema.repository)/Tests/Fixtures/archives/v1", archive.location.path]).status == 0)
    let index = try await archive.index()
    let session = try #require(try await index.list().first)
    #expect(session.id.description == "20261130T060152Z-e7gj")
    #expect(session.began.description == "2026-11-30T06:01:52.230386122Z")
    #expect(session.state == .finished && session.reason == "duration" && session.duration.seconds == 4)
    #expect(session.title == "A \"call\"" && session.tags == ["support"])
    let found = try await index.search(SearchQuery(words: "inbox"))
    #expect(found.map(\.command) == ["recorder replay \(session.id) --at 0:02.722"])
    #expect(try await index.session(session.id).moments.map(\.snippet) == ["wrong total"])

    let reader = try archive.reader.session(session.id)
    let manifest = try reader.manifest()
    #expect(manifest.format == 1 && manifest.tracks.map(\.codec) == ["h264"])
    #expect(manifest.tracks.first?.size == PixelSize(width: 320, height: 240))
    #expect(try reader.events().count == 10)
    let descriptor = try reader.openSegment(try #require(manifest.segments.first))
    defer { close(descriptor) }
    #expect(lseek(descriptor, 0, SEEK_END) == Int(manifest.segments.first?.bytes ?? 0))
  }
}
