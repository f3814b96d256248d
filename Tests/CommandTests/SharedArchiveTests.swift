import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Eight programs that record, list, search, tag, clean up, verify and rebuild the index of one archive at once: nothing
/// is lost, and nobody is told of a lock. Some seconds here, five minutes under `make torture`.
@Suite struct SharedArchiveTests {
  static let seconds = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_SECONDS"] ?? "") ?? 8

  /// What each does over and over, and the codes that it may end with: 66 while there is no session yet, 75 for one that
  /// is being deleted or worked on.
  static let programs: [(command: String, codes: Set<String>)] = [
    ("record --no-cursor --duration 1 --tag first", ["0"]), ("record --no-cursor --duration 700ms", ["0"]),
    ("list --json", ["0"]), ("search --json busy", ["0"]), ("tag last more", ["0", "66"]),
    ("gc --budget 1T --json", ["0"]), ("verify --all", ["0", "76"]), ("index rebuild", ["0"]),
  ]

  @Test func nothingIsLostAndNobodyIsToldOfALock() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"))
    let client = try PatternClient(
      on: try #require(rig.display), ["counter", "--fps", "10", "--title", "busy screen"])
    let loops = try Self.programs.map { program in
      try ChildProcess(
        [
          "sh", "-c",
          "end=$(($(date +%s) + \(Self.seconds))); while [ $(date +%s) -lt $end ]; do \(builtProgram("recorder")) \(program.command); echo code $?; done",
        ], environment: rig.environment)
    }
    var recorded: [String] = []
    for (program, loop) in zip(Self.programs, loops) {
      let result = try loop.wait(seconds: Double(Self.seconds) * 3 + 60)
      let codes = Set(result.lines.filter { $0.hasPrefix("code ") }.map { String($0.dropFirst(5)) })
      #expect(!codes.isEmpty && codes.isSubset(of: program.codes), "\(program.command): \(codes) \(result.errorText)")
      for word in ["locked", "in use", "damaged", "fault"] {
        #expect(!result.errorText.contains(word), "\(program.command): \(result.errorText)")
      }
      if program.command.hasPrefix("record") { recorded += result.lines.filter { SessionID($0) != nil } }
    }
    try client.process.stop()
    let listed = try rig.run(["list", "--json"])
    let ids = try listed.lines.map { try JSONDecoder().decode(KillTests.Listed.self, from: Data($0.utf8)) }
    #expect(recorded.count >= 2 && Set(ids.map(\.id.description)) == Set(recorded))
    #expect(ids.allSatisfy { $0.state == "finished" })
    let found = try rig.run(["search", "--json", "--limit", "1000", "busy"])
    #expect(try rig.run(["index", "rebuild"]).ending == .exit(0))
    #expect(try rig.run(["list", "--json"]).text == listed.text)
    #expect(try rig.run(["search", "--json", "--limit", "1000", "busy"]).text == found.text)
    #expect(try rig.run(["verify", "--all", "--deep"]).ending == .exit(0))
  }
}
