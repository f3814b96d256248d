import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

/// The umask belongs to the whole process, so these tests run one after the other; umasks that take no bit from an owner
/// do no harm to the tests beside them.
@Suite(.serialized) struct FileModeTests {
  @Test(arguments: [mode_t(0), 0o002, 0o022, 0o077])
  func everythingIsTheOwnersAlone(mask: mode_t) throws {
    let before = umask(mask)
    defer { umask(before) }
    let archive = try TestArchive()
    let id = try sessionID("20261130T021533Z-k3x9")
    let writer = try archive.create(id)
    close(try writer.createSegment(1).fileDescriptor)
    try writer.append(Event(time: .zero, kind: .start))
    try writer.annotate(Annotation(added: WallTime(nanoseconds: 0), kind: .tag, text: "x"))
    try writer.replaceManifest(sampleManifest(id))
    writer.close()
    let listing = try run(["find", archive.folder.file("a"), "-printf", "%y %m %f\n"]).lines
    let folders = listing.filter { $0.hasPrefix("d ") }
    let files = listing.filter { $0.hasPrefix("f ") }
    #expect(folders.count == 10 && folders.allSatisfy { $0.hasPrefix("d 700 ") }, "\(folders)")
    let names = Set(files.map { $0.split(separator: " ")[2] })
    #expect(
      names == [
        "lock", "manifest.json", "events.ndjson", "annotations.ndjson", "000001.mkv", Substring(id.description),
        "chain.ndjson", "reserve",
      ])
    #expect(files.allSatisfy { $0.hasPrefix("f 600 ") }, "\(files)")
  }
}
