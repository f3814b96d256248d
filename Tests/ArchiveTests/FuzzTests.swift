import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

/// Every parser of what lies in an archive takes whatever is there: no trap, no hang, and what is right is still read.
@Suite struct FuzzTests {
  /// Inputs that are put into one file of lines.
  static let batch = 500

  @Test func manifests() throws {
    let session = try SealedSession()
    let path = "\(session.path)/manifest.json"
    var redaction = Redaction(
      from: seconds(1), to: seconds(2), at: WallTime(nanoseconds: 0), by: "user", reason: "a password")
    redaction.head = session.manifest.chain?.head
    var replacement = try SessionReplacement(of: session.id, in: session.archive.reader, without: redaction)
    _ = try replacement.place(session.manifest)
    let reader = try session.archive.reader.session(session.id)
    var readable = 0
    try Fuzzing.forEachInput("manifest", [try readFile(path)]) { input in
      try writeFile(path, input)
      if let manifest = try? reader.manifest() {
        readable += 1
        // What is let in can be calculated with.
        _ = manifest.contradictions
        _ = manifest.clock.wallTime(of: manifest.duration)
        #expect(manifest.segments.allSatisfy { $0.start.nanoseconds >= 0 })
      }
    }
    #expect(readable > 0)
  }

  /// Lines of each file that has some, five hundred at once, between two that are right.
  @Test(arguments: ["events.ndjson", "annotations.ndjson", "chain.ndjson"]) func lines(file: String) throws {
    let session = try SealedSession()
    try session.archive.reader.annotate(
      session.id, Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "one", time: seconds(1)))
    let path = "\(session.path)/\(file)"
    let seeds = try readFile(path).split(separator: Line.end).map(Array.init)
    let reader = try session.archive.reader.session(session.id)
    var lines: [UInt8] = []
    var number = 0
    try Fuzzing.forEachInput(file, seeds) { input in
      lines += input + [Line.end]
      number += 1
      guard number.isMultiple(of: Self.batch) else { return }
      try writeFile(path, seeds[0] + [Line.end] + lines + seeds[0] + [Line.end])
      switch file {
      case "events.ndjson":
        let events = try reader.events()
        #expect(events.count >= 2 && events.allSatisfy { $0.time.nanoseconds >= 0 })
      case "annotations.ndjson": #expect(try reader.annotations().count >= 2)
      default: #expect(try reader.chain().links.count >= 1)
      }
      #expect(try reader.verify().verdict == .altered)
      lines = []
    }
  }

  /// What was written down of deletions, five hundred lines at once, between two that are right.
  @Test func audit() throws {
    let archive = try TestArchive()
    for number in 0..<2 {
      let id = try sessionID("20261130T021533Z-k3x\(number)")
      try archive.create(id).close()
      try archive.reader.delete(id, as: number == 0 ? .delete : .cleanUp, reason: "wrong screen")
    }
    let path = "\(archive.root)/audit.ndjson"
    let seeds = try readFile(path).split(separator: Line.end).map(Array.init)
    var (lines, number) = ([UInt8](), 0)
    try Fuzzing.forEachInput("audit.ndjson", seeds) { input in
      lines += input + [Line.end]
      number += 1
      guard number.isMultiple(of: Self.batch) else { return }
      try writeFile(path, seeds[0] + [Line.end] + lines + seeds[1] + [Line.end])
      let (entries, fault) = try archive.reader.audit()
      #expect(entries.count >= 2 && fault != nil)
      lines = []
    }
  }

  /// Media files whose writer was killed: what is found is inside the file, and completing it keeps all blocks.
  @Test func mediaFiles() throws {
    let session = try SealedSession()
    let path = session.archive.folder.file("media.mkv")
    let seed = RecoveryTests.media + Matroska.cluster(5000, [Matroska.blockGroup(5, duration: 40)])
    try Fuzzing.forEachInput("matroska", [seed, RecoveryTests.media]) { input in
      try writeFile(path, input)
      var walker = try MatroskaWalker(FileDescriptor(raw: open(path, O_RDWR), path: path))
      let tail = try walker.tail()
      #expect(tail?.end ?? 0 <= Int64(input.count))
      guard let tail, let outline = try walker.outline(size: tail.end, track: 1) else { return }
      let file = walker.close()
      let size = try MatroskaCompletion(outline: outline, size: tail.end).complete(file, duration: 1_000_000_000)
      #expect(size >= tail.end)
    }
  }
}
