import Glibc
import SessionModel
import TestSupport
import Testing

/// Folders among the sessions that are none by their names: they are passed over, and not without a word.
@Suite struct StrayTests {
  @Test(arguments: ["index rebuild", "verify --all"]) func whatIsPassedOverIsToldOf(command: String) throws {
    let commands = try ArchiveCommandTests()
    let rig = commands.rig
    for name in ["20261130T021533Z-aaaa", "20261130T031533Z-bbbb"] { try commands.add(name) }
    let day = "\(rig.archive)/sessions/2026/11/30"
    let words = command.split(separator: " ").map(String.init)
    let whole = try rig.run(words)
    #expect(!whole.errorText.contains("passed over"))

    // No id has a u.
    try #require(rename("\(day)/20261130T021533Z-aaaa", "\(day)/20261130T021533Z-aaau") == 0)
    let one = try rig.run(words)
    #expect(one.ending == whole.ending)
    #expect(
      one.errorText.contains("/sessions/2026/11/30/20261130T021533Z-aaau is passed over: a session's folder has the id")
    )
    #expect(try rig.run(["list", "--json"]).lines.count == 1)

    // A session of another day, and a folder of one's own; a hidden file is nobody's business.
    try #require(rename("\(day)/20261130T021533Z-aaau", "\(day)/20261129T021533Z-aaaa") == 0)
    try #require(mkdir("\(rig.archive)/sessions/2026/old", 0o700) == 0)
    try writeFile("\(day)/.directory", [])
    #expect(try rig.run(words).errorText.contains("/sessions/2026/old and 1 more are passed over:"))

    try #require(rename("\(day)/20261129T021533Z-aaaa", "\(day)/20261130T021533Z-aaaa") == 0)
    try #require(rmdir("\(rig.archive)/sessions/2026/old") == 0)
    #expect(try !rig.run(words).errorText.contains("passed over"))
    #expect(try rig.run(["list", "--json"]).lines.count == 2)
  }
}
