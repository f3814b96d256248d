import Commands
import FoundationEssentials
import Glibc
import SessionModel
import Testing

@Suite struct OutputTests {
  init() { setlocale(LC_CTYPE, "C.UTF-8") }

  private var table: TextTable {
    var table = TextTable([.init("NAME"), .init("SIZE", rightAligned: true), .init("TITLE")])
    table.append(["a", "1", "one"])
    table.append(["录制", "1234", "e\u{301}\u{1B}[31m\ntwo"])
    table.append(["b"])
    return table
  }

  @Test func columnsAlignByWhatATerminalShows() {
    #expect(
      table.text(width: nil) == """
        NAME  SIZE  TITLE
        a        1  one
        录制  1234  e\u{301}\\u{1b}[31m two
        b

        """)
  }

  /// JSON is printed on terminals too, and C1's CSI drives one as well as an escape does.
  @Test func jsonDrivesNoTerminal() throws {
    let text = "a\u{9B}31m\u{7F}\u{202E}\u{1B}[0m\n漢🙂e\u{301}\u{FEFF}"
    let json = try StandardOutput.escaped(JSONEncoder.canonical().encode([text]))
    let printed = String(decoding: json, as: UTF8.self)
    #expect(printed == #"["a\u009b31m\u007f\u202e\u001b[0m\n漢🙂e\#u{301}\ufeff"]"#)
    #expect(try JSONDecoder().decode([String].self, from: json) == [text])
  }

  @Test func linesAreCutToTheTerminal() {
    #expect(
      table.text(width: 10).split(separator: "\n").map { String($0) } == ["NAME  SIZ…", "a        …", "录制  123…", "b"])
    #expect(table.text(width: 4).split(separator: "\n").map { String($0) } == ["NAM…", "a  …", "录…", "b"])
  }

  @Test(arguments: [("a", 1), ("é", 1), ("e\u{301}", 1), ("录", 2), ("😀", 2), ("👩‍🚀", 2), ("\u{301}", 0)])
  func aCharactersColumns(character: Character, columns: Int) {
    #expect(Terminal.columns(character) == columns)
  }
}
