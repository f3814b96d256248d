import Arguments
import Commands
import SessionModel
import TestSupport
import Testing

@Suite struct ManualTests {
  private let pages =
    ManualPage.all(of: CommandDescription(RecorderCommand.self), supplement: .standard) + [.configuration]

  @Test func thePagesInTheRepositoryAreThoseOfTheTable() throws {
    for page in pages {
      let written = try readFile("man/\(page.fileName)")
      #expect(String(decoding: written, as: UTF8.self) == page.text, "run scripts/regenerate: \(page.fileName)")
    }
  }

  @Test func everyCommandHasAPage() {
    let names = pages.map { page in page.fileName }
    #expect(names.contains("recorder.1") && names.contains("recorder-index-rebuild.1"))
    #expect(!names.contains { name in name.contains("generate") })
    #expect(names.count == CommandDescription(RecorderCommand.self).leaves.count + 2)
  }

  @Test func theManualListsExactlyTheExitCodes() throws {
    let lines = String(decoding: try readFile("man/recorder.1"), as: UTF8.self).split(separator: "\n")
    let section = lines.drop { line in line != ".Sh EXIT STATUS" }.dropFirst().prefix { line in !line.hasPrefix(".Sh") }
    let codes = section.compactMap { line in line.hasPrefix(".It Li ") ? Int32(line.dropFirst(7)) : nil }
    #expect(codes == ExitCode.allCases.map { code in code.rawValue })
    let design: [Int32] = [0, 64, 65, 66, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 130]
    #expect(codes == design)
  }

  @Test func mandocFindsNothingToSay() throws {
    for page in pages {
      let check = try run(["mandoc", "-T", "lint", "-W", "warning", "man/\(page.fileName)"])
      #expect(check.text == "" && check.errorText == "" && check.status == 0, "\(page.fileName)")
    }
    let archive = try run(["mandoc", "-T", "lint", "-W", "warning", "man/recorder-archive.5"])
    #expect(archive.text == "" && archive.status == 0)
  }

  @Test func hyphensCanBeCopiedAndSentencesStandAlone() {
    let root = CommandDescription(SampleProgram.self)
    let supplement = ManualPage.Supplement(date: "November 30, 2026", environment: [], files: [], seeAlso: [])
    let copy = ManualPage.all(of: root, supplement: supplement).first { page in page.fileName == "sample-copy.1" }
    #expect(copy?.text.contains(".It Fl o , Fl -output Ar OUTPUT\n") == true)
    #expect(copy?.text.contains(".Op Fl -near-by Ns Op = Ns Ar NEAR-BY\n") == true)
    #expect(copy?.text.contains(".Op Fl -no-lines\n") == true)
  }
}
