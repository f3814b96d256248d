import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// The Nth write, fsync, rename, open, mmap or truncate below the archive fails while a session is recorded: the recorder
/// ends by itself and says so, what was recorded before plays, and every later command works. A few N here, every one
/// under `make torture`.
@Suite(.serialized) struct InjectionTests {
  static let calls = ["write", "fsync", "rename", "open", "mmap", "truncate"]
  /// How many N of each call.
  static let count = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_FAULTS"] ?? "") ?? 5
  /// What each recording may end with: all was kept in spite of it, or it could not begin, or it ended.
  static let codes: Set<Int32> = [0, 71, 73, 74, 77]

  private static func library(in folder: TemporaryFolder) throws -> String {
    let library = folder.file("fail-call.so")
    let source = "\(JSONSchema.repository)/Tests/Fixtures/faults/fail-call.c"
    let result = try run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
    guard result.status == 0 else { throw TestFailure(result.errorText) }
    return library
  }

  @Test(arguments: calls, [ENOSPC, EIO]) func theNthCallFails(call: String, error: Int32) throws {
    let display = try VirtualDisplay(size: "160x120")
    let client = try PatternClient(on: display, ["counter", "--fps", "20"])
    let tools = try TemporaryFolder()
    let library = try Self.library(in: tools)
    var (number, tried) = (1, 0)
    while tried < Self.count {
      let rig = try RecorderRig(display: display)
      let mark = rig.folder.file("mark")
      let result = try rig.run(
        ["record", "--no-cursor", "--duration", "1", "--sync", "300ms"],
        environment: [
          "LD_PRELOAD": library, "FAIL_CALL": call, "FAIL_AT": "\(number)", "FAIL_UNDER": rig.archive,
          "FAIL_ERRNO": "\(error)", "FAIL_MARK": mark,
        ])
      let name = "\(call) \(number), errno \(error)"
      guard access(mark, F_OK) == 0 else { break }
      tried += 1
      let code = try #require(result.status, "\(name): \(result.ending) \(result.errorText)")
      #expect(Self.codes.contains(code), "\(name): \(code) \(result.errorText)")
      // A recording that did not go as asked says why.
      #expect(code == 0 || result.errorText.hasPrefix("recorder: "), "\(name)")
      try expectUsable(rig, name, began: !result.text.isEmpty)
      // 1, 2, 3, 4, 5 when all are tried, else wider and wider apart.
      number = Self.count > 100 ? number + 1 : number * 2 + 1
    }
    #expect(tried > 0 || call == "mmap", "\(call) was never called")
    try client.process.stop()
  }

  /// The archive is whole, whatever happened to the recording.
  private func expectUsable(_ rig: RecorderRig, _ name: String, began: Bool) throws {
    guard access(rig.archive, F_OK) == 0 else { return }
    let listed = try rig.run(["list", "--json"])
    #expect(listed.ending == .exit(0), "\(name): \(listed.errorText)")
    if began { #expect(listed.lines.count == 1, "\(name): \(listed.text)") }
    guard !listed.lines.isEmpty else { return }
    let verified = try rig.run(["verify", "--all", "--deep"])
    #expect([0, 76].contains(verified.status), "\(name): \(verified.text) \(verified.errorText)")
    if began {
      let id = try JSONDecoder().decode(KillTests.Listed.self, from: Data(listed.lines[0].utf8)).id
      #expect(try !MediaFile.times(rig.media(id)).isEmpty, "\(name)")
    }
    #expect(try rig.run(["index", "rebuild"]).ending == .exit(0), "\(name)")
    #expect(try rig.run(["list", "--json"]).text == listed.text, "\(name)")
  }
}
