import Glibc
import SessionModel
import TestSupport
import Testing

@Suite("recorder frame and recorder export")
struct FileCommandTests {
  /// Runs `recorder` with `arguments` in `folder`.
  private static func recorder(
    _ arguments: [[UInt8]], _ session: RecordedSession, in folder: TemporaryFolder
  ) throws -> ChildProcess.Result {
    try run(
      [], environment: ReplayRig.environment(session), workingDirectory: folder.path,
      rawArguments: [Array(builtProgram("recorder").utf8)] + arguments)
  }

  private static func recorder(
    _ arguments: [String], _ session: RecordedSession, in folder: TemporaryFolder
  ) throws -> ChildProcess.Result {
    try recorder(arguments.map { Array($0.utf8) }, session, in: folder)
  }

  @Test("frame writes the picture and says nothing; a file that is there stays")
  func frame() throws {
    let session = try RecordedSession(Shot.series(12), length: 4000) { $0.size = PixelSize(width: 3, height: 5) }
    let folder = try TemporaryFolder()
    let result = try Self.recorder(["frame", "last", "--at", "0.35", "-o", "a.png"], session, in: folder)
    #expect(result.status == 0)
    #expect(result.text + result.errorText == "")
    let pixels = try run(["convert", folder.file("a.png"), "-depth", "8", "rgb:-"]).output
    #expect(pixels.count == 3 * 5 * 3)
    #expect(pixels.prefix(3) == [4, 8, 12])
    let again = try Self.recorder(["frame", "last", "--at", "0", "-o", "a.png"], session, in: folder)
    #expect(again.status == 73)
    #expect(again.errorText == "recorder: a.png exists already. Name another file, or give --force to replace it.\n")
    #expect(try run(["convert", folder.file("a.png"), "-depth", "8", "rgb:-"]).output == pixels)
    #expect(
      try Self.recorder(["frame", "last", "--at", "0", "-o", "a.png", "--force"], session, in: folder).status == 0)
    #expect(try run(["convert", folder.file("a.png"), "-depth", "8", "rgb:-"]).output.prefix(3) == [1, 2, 3])
  }

  /// Cases C03 and C04.
  @Test("Names that are options, protocols or no text elsewhere are files here")
  func names() throws {
    let session = try RecordedSession(Shot.series(2), length: 500)
    let folder = try TemporaryFolder()
    let stems: [[UInt8]] =
      ["-y", "concat:x", "http:x", "pipe:1", "file:x", "--", "2026-11-30T02:15:33Z", "a\nb", " "].map {
        Array($0.utf8)
      } + [[0xFF, 0xFE, 0x80]]
    for stem in stems {
      for (command, suffix) in [(["export", "last", "-o"], ".mkv"), (["frame", "last", "--at", "0", "-o"], ".png")] {
        let name = stem + Array(suffix.utf8)
        let result = try Self.recorder(command.map { Array($0.utf8) } + [name], session, in: folder)
        #expect(result.status == 0, "\(String(decoding: name, as: UTF8.self)): \(result.errorText)")
      }
    }
    let expected = stems.flatMap { [$0 + Array(".mkv".utf8), $0 + Array(".png".utf8)] }
    #expect(try Set(folder.entries()) == Set(expected))
    for suffix in [".mkv", ".png"] {
      for stem in stems {
        let bytes = try readFile(folder, stem + Array(suffix.utf8))
        #expect(Array(bytes.prefix(4)) == (suffix == ".mkv" ? [0x1A, 0x45, 0xDF, 0xA3] : [0x89, 0x50, 0x4E, 0x47]))
      }
    }
  }

  private func readFile(_ folder: TemporaryFolder, _ name: [UInt8]) throws -> [UInt8] {
    let path = try #require(FilePath(bytes: Array("\(folder.path)/".utf8) + name))
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(descriptor, &bytes, bytes.count) == bytes.count)
    return bytes
  }

  @Test("Bad input: one sentence, the right code, nothing written")
  func refusals() throws {
    let session = try RecordedSession(Shot.series(2), length: 500)
    let folder = try TemporaryFolder()
    let cases: [(arguments: [String], status: Int32)] = [
      (["frame", "last", "--at", "0.501", "-o", "a.png"], 64), (["frame", "last", "--at", "x", "-o", "a.png"], 64),
      (["frame", "last", "--at", "0", "-o", "a.jpg"], 64), (["frame", "last~1", "--at", "0", "-o", "a.png"], 66),
      (["frame", "last", "--at", "0", "-o", "no/a.png"], 73), (["export", "last", "-o", "a.avi"], 64),
      (["export", "last", "--from", "0.4", "--to", "0.3", "-o", "a.mkv"], 64),
      (["export", "last", "--to", "1", "-o", "a.mkv"], 64), (["export", "nothing", "-o", "a.mkv"], 66),
      (["export", "last", "-o", "no/a.mkv"], 73), (["export", "last"], 64),
    ]
    for (arguments, status) in cases {
      let result = try Self.recorder(arguments, session, in: folder)
      #expect(result.status == status, "\(arguments): \(result.errorText)")
      #expect(result.errorText.hasPrefix("recorder: ") && result.errorText.split(separator: "\n").count == 1)
      #expect(result.output.isEmpty)
    }
    #expect(try folder.entries() == [])
  }

  @Test("A killed session is closed by whatever looks at it first, which says so", arguments: ["frame", "export"])
  func recovered(_ command: String) throws {
    let session = try RecordedSession(Shot.series(2), length: 500) { $0.isInterrupted = true }
    let folder = try TemporaryFolder()
    let words = command == "frame" ? ["frame", "last", "--at", "0", "-o"] : ["export", "last", "-o"]
    let said = try (1...2).map { number in
      let result = try Self.recorder(words + ["\(number).\(command == "frame" ? "png" : "mkv")"], session, in: folder)
      #expect(result.status == 0)
      return result.errorText
    }
    #expect(
      said == [
        "recorder: The session \(session.id) was interrupted; it is closed now, with all that was recorded.\n", "",
      ])
  }

  @Test("An export that is interrupted, or whose disk is full, leaves nothing")
  func interrupted() throws {
    let session = try RecordedSession(Shot.series(400, every: 10), length: 10_000) {
      $0.size = PixelSize(width: 640, height: 480)
    }
    let folder = try TemporaryFolder()
    let process = try ChildProcess(
      [builtProgram("recorder"), "export", "last", "--exact", "-o", "a.mkv"],
      environment: ReplayRig.environment(session), workingDirectory: folder.path)
    try waitUntil("the file that is written") { try !folder.entries().isEmpty }
    process.signal(SIGTERM)
    #expect(try process.wait().ending == .signal(SIGTERM))
    #expect(try folder.entries() == [])
    // A file-size limit of 4 KiB stands for the full disk.
    let full = try run(
      ["bash", "-c", "ulimit -f 4; exec \"$0\" \"$@\"", builtProgram("recorder"), "export", "last", "-o", "b.mkv"],
      environment: ReplayRig.environment(session), workingDirectory: folder.path)
    #expect(full.status == 74)
    #expect(full.errorText.hasPrefix("recorder: The media file could not be written: File too large."))
    #expect(try folder.entries() == [])
  }
}
