import Glibc
import SessionModel
import TestSupport
import Testing

/// A session that a newer recorder wrote is listed and named, refused by whatever would read or change it, and left byte for
/// byte.
@Suite struct NewerSessionTests {
  /// Every file of the session: path, mode, size, time of its last change, and what is in it.
  private func contents(_ rig: RecorderRig, _ id: SessionID) throws -> String {
    let script = "find . -printf '%p %m %s %T@\\n' | sort; find . -type f | sort | xargs sha256sum"
    let result = try run(["sh", "-c", script], workingDirectory: rig.session(id))
    #expect(result.status == 0 && !result.text.isEmpty)
    return result.text
  }

  @Test(arguments: [true, false]) func itIsRefusedAndLeftAsItIs(isKilled: Bool) throws {
    let rig = try RecorderRig()
    let archive = try ArchiveCommandTests(rig: rig)
    let id = try archive.add(
      "20261130T021533Z-aaaa", title: "Call", window: archive.window("Invoice"), isKilled: isKilled)
    // An unprotected one is no more deleted by a clean-up than a protected one.
    if !isKilled { #expect(try rig.run(["protect", "last", "--reason", "evidence"]).status == 0) }
    let path = "\(rig.session(id))/manifest.json"
    let manifest = String(decoding: try readFile(path), as: UTF8.self)
    let newer = manifest.replacing("\"format\" : 1", with: "\"format\" : 2").replacing(
      "\"format\":1", with: "\"format\":2")
    #expect(newer != manifest)
    // The index knows it as it was.
    #expect(try rig.run(["list"]).status == 0)
    try writeFile(path, newer.utf8)
    let before = try contents(rig, id)
    let sentence = "The session \(id) was written by a newer recorder (format 2); this one reads format 1."
    let shown = try rig.run(["show", "last"])
    #expect(shown.status == 0 && (shown.text + shown.errorText).contains(sentence), "\(shown.errorText)")
    for words in [
      "index rebuild", "list", "show last", "recover", "gc --budget 1 --json", "search invoice", "logs last",
    ] {
      let result = try rig.run(words.split(separator: " ").map(String.init))
      #expect(result.status == 0, "\(words): \(result.errorText)")
      #expect(try contents(rig, id) == before, "\(words)")
      if ["show last", "recover"].contains(words) {
        #expect(result.text.contains(sentence), "\(words): \(result.text)")
      }
    }
    for words in [
      "verify last", "tag last x", "redact last --from 1 --to 2", "note last y", "protect last --reason z",
      "frame last --at 0 -o \(rig.folder.file("frame.png"))", "export last -o \(rig.folder.file("whole.mkv"))",
    ] + (isKilled ? ["delete last"] : ["unprotect last"]) {
      let result = try rig.run(words.split(separator: " ").map(String.init))
      #expect(result.ending == .exit(ExitCode.damagedData.rawValue), "\(words): \(result.ending) \(result.errorText)")
      #expect(result.errorText.contains(sentence), "\(words): \(result.errorText)")
      #expect(try contents(rig, id) == before, "\(words)")
    }
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
  }
}
