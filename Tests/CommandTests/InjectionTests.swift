import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Case E01: the Nth write, fsync, rename, open, mmap or truncate below the archive fails while a session is recorded: the recorder
/// ends by itself and says so, what was recorded before plays, and every later command works. A few N here, every one
/// with every error under `make torture`.
@Suite(.serialized) struct InjectionTests {
  static let calls = ["write", "fsync", "rename", "open", "mmap", "truncate"]
  /// A full disk, a broken one, a quota, a file that may not grow, a disk that can only be read any more.
  static let errors = [ENOSPC, EIO, EDQUOT, EFBIG, EROFS]
  /// How many N of each call; more than a hundred are all of them, each with every error.
  static let count = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_FAULTS"] ?? "") ?? 10
  /// Of all of them those that this process tries: every `step`th from `first` on.
  static let share = (
    first: Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_FIRST"] ?? "") ?? 1,
    step: Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_STEP"] ?? "") ?? 1
  )
  /// What each recording may end with: all was kept in spite of it, or it ended; or it could not begin.
  static let codes: Set<Int32> = [0, 74]
  static let refusals: Set<Int32> = [71, 73, 74, 77]

  @Test(arguments: calls) func theNthCallFails(call: String) throws {
    let display = try VirtualDisplay(size: "160x120")
    let client = try PatternClient(on: display, ["counter", "--fps", "20"])
    let library = try InjectedFaults.library("fail-call")
    let isAll = Self.count > 100
    for shift in 0..<(isAll ? Self.errors.count : 1) {
      var number = isAll ? Self.share.first : 1
      for tried in 0..<Self.count {
        let error = Self.errors[((isAll ? number : tried) + shift) % Self.errors.count]
        guard try expectClearEnd(call, number, error, library, display) else {
          #expect(number > 1 || call == "mmap", "\(call) was never called")
          break
        }
        // 1, 2, 3, 5, 8, 12, 18 … unless all are tried: wider and wider apart.
        number += isAll ? Self.share.step : (number + 1) / 2
      }
    }
    try client.process.stop()
  }

  /// What can be written and not be read again when the recording ends: the seal tells of it, as of a disk that fails.
  @Test(arguments: [24, 25, 27]) func whatCannotBeOpenedAnyMoreAtTheEndIsAFailedDisk(number: Int) throws {
    let display = try VirtualDisplay(size: "160x120")
    let client = try PatternClient(on: display, ["counter", "--fps", "20"])
    #expect(try expectClearEnd("open", number, EIO, InjectedFaults.library("fail-call"), display))
    try client.process.stop()
  }

  /// - Returns: false when there was no such call.
  private func expectClearEnd(
    _ call: String, _ number: Int, _ error: Int32, _ library: String, _ display: VirtualDisplay
  ) throws -> Bool {
    let rig = try RecorderRig(display: display)
    let mark = rig.folder.file("mark")
    let result = try rig.run(
      ["record", "--no-cursor", "--duration", "1", "--sync", "300ms"],
      environment: [
        "LD_PRELOAD": library, "FAIL_CALL": call, "FAIL_AT": "\(number)", "FAIL_UNDER": rig.archive,
        "FAIL_ERRNO": "\(error)", "FAIL_MARK": mark,
      ])
    let name = "\(call) \(number), \(String(cString: strerror(error)))"
    guard access(mark, F_OK) == 0 else { return false }
    let code = try #require(result.status, "\(name): \(result.ending) \(result.errorText)")
    let began = !result.text.isEmpty
    #expect((began ? Self.codes : Self.refusals).contains(code), "\(name): \(code) \(result.errorText)")
    // A recording that did not go as asked says why.
    #expect(code == 0 || result.errorText.hasPrefix("recorder: "), "\(name)")
    try Self.expectUsable(rig, name, began: began)
    return true
  }

  /// The archive is whole, whatever happened to the recording.
  static func expectUsable(_ rig: RecorderRig, _ name: String, began: Bool) throws {
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

  /// A disk that can only be read any more, as Linux leaves one on which an error was found: nothing at all can be changed
  /// from then on, not even the manifest, and the next command closes the session when the disk is whole again.
  @Test func aDiskThatCanOnlyBeReadAnyMoreEndsIt() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let result = try rig.run(
      ["record", "--no-cursor", "--duration", "20"],
      environment: [
        "LD_PRELOAD": try InjectedFaults.library("fail-call"), "FAIL_CALL": "change", "FAIL_AT": "60",
        "FAIL_UNDER": rig.archive, "FAIL_ERRNO": "\(EROFS)",
      ])
    try client.process.stop()
    #expect(result.status == 74, "\(result.ending) \(result.errorText)")
    #expect(result.errorText.contains("Read-only file system"))
    let id = try #require(SessionID(result.text.dropLast()))
    #expect(try rig.manifest(id).state == .recording)
    try Self.expectUsable(rig, "read-only", began: true)
    #expect(try rig.manifest(id).state == .interrupted)
  }

  /// Case E04: what file systems say of themselves keeps no recording from beginning, unless they say that they are full.
  @Test(arguments: [
    ("0,0,4096,4096", true), ("0,0,0,0", true), ("1000000,1000000,0,0", true), ("1000000,1000000,0,4096", true),
    ("1000000,18446744073709551615,4096,4096", true), ("18446744073709551615,18446744073709551615,4096,4096", true),
    ("1000,0,4096,4096", false),
  ])
  func aFileSystemMaySayAnythingOfItself(says: String, begins: Bool) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"))
    let result = try rig.run(
      ["record", "--duration", "100ms"],
      environment: ["LD_PRELOAD": try InjectedFaults.library("fail-call"), "STATVFS": says])
    #expect(result.status == (begins ? 0 : 74), "\(says): \(result.errorText)")
    if begins { #expect(!result.errorText.contains("The disk has"), "\(result.errorText)") }
  }
}
