import Dispatch
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing

@testable import Archive

/// A session that takes another's place, as `redact` makes it.
@Suite struct SessionReplacementTests {
  let session: SealedSession
  var reader: ArchiveReader { session.archive.reader }

  init() throws { session = try SealedSession() }

  private func redaction() -> Redaction {
    Redaction(from: seconds(1), to: seconds(2), at: WallTime(nanoseconds: 0), by: "test", reason: nil)
  }

  /// What is added while the two change places is in the one that is left.
  @Test func whatIsAddedMeanwhileIsKept() throws {
    let added = Mutex<Set<String>>([])
    for round in 0..<5 {
      let (reader, id, redaction) = (reader, session.id, redaction())
      let isPlaced = Atomic(false)
      DispatchQueue.concurrentPerform(iterations: 4) { side in
        guard side > 0 else {
          var replacement = try? SessionReplacement(of: id, in: reader, without: redaction)
          for segment in session.manifest.segments { try? replacement?.keep(segment) }
          _ = try? replacement?.place((try? reader.session(id).manifest()) ?? session.manifest)
          return isPlaced.store(true, ordering: .relaxed)
        }
        var number = 0
        repeat {
          let text = "\(round) \(side) \(number)"
          let note = Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: text, time: seconds(5))
          if (try? reader.annotate(id, note)) != nil { added.withLock { _ = $0.insert(text) } }
          number += 1
        } while !isPlaced.load(ordering: .relaxed)
      }
    }
    let found = try reader.session(session.id).annotations().map(\.text)
    #expect(added.withLock { $0.count } >= 15)
    #expect(found.count == Set(found).count && Set(found) == added.withLock { $0 })
    #expect(try reader.session(session.id).manifest().redactions?.count == 5)
    let certificate = try session.certificate()
    #expect(certificate.verdict != .altered, "\(certificate.findings)")
  }

  /// The title that the recorded window had at the start goes with the start alone.
  @Test(arguments: [0, 1]) func theWindowsTitleGoesWithTheStart(from: Int) throws {
    var redaction = redaction()
    redaction.from = seconds(from)
    var manifest = session.manifest
    manifest.source.window = WindowInfo(id: 7, title: "hunter2")
    manifest.source.window?.titleBytes = "aHVudGVyMg=="
    var replacement = try SessionReplacement(of: session.id, in: reader, without: redaction)
    for segment in manifest.segments { try replacement.keep(segment) }
    _ = try replacement.place(manifest)
    let window = try #require(reader.session(session.id).manifest().source.window)
    #expect(window.title == (from == 0 ? "" : "hunter2") && (window.titleBytes == nil) == (from == 0) && window.id == 7)
  }

  /// A file that is not touched is the same one, and costs no room.
  @Test func aFileThatStaysIsLinked() throws {
    func inode(_ file: String) -> UInt {
      var status = stat()
      return stat("\(session.path)/\(file)", &status) == 0 ? status.st_ino : 0
    }
    let before = session.manifest.segments.map { inode($0.file) }
    var replacement = try SessionReplacement(of: session.id, in: reader, without: redaction())
    for segment in session.manifest.segments { try replacement.keep(segment) }
    _ = try replacement.place(session.manifest)
    #expect(session.manifest.segments.map { inode($0.file) } == before && !before.contains(0))
    #expect(try session.certificate().verdict != .altered)
  }
}
