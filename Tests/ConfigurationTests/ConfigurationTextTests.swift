import Configuration
import SessionModel
import TestSupport
import Testing

/// A configuration file's text: what is read from it, and how it is changed.
@Suite struct ConfigurationTextTests {
  private func text(_ content: String) -> ConfigurationText { ConfigurationText(Array(content.utf8)) }

  @Test(arguments: [
    ("", []), ("storage.budget = 50G", ["1 storage.budget=50G"]),
    ("# a\n; b\n\n  fps=15  \r\n", ["4 fps=15"]),
    ("[video]\nfps = 15\n[ storage ]\nkeep: 90d\n", ["2 video.fps=15", "4  storage .keep=90d"]),
    ("exclude = title~=a ; b # c", ["1 exclude=title~=a ; b # c"]),
    ("exclude = class=A\nexclude = class=B", ["1 exclude=class=A", "2 exclude=class=B"]),
    ("a = \"x\"", ["1 a=\"x\""]), ("a =\n", ["1 a="]), ("a = 1\n  b = 2\n", ["1 a=1", "2 b=2"]),
    ("\u{FEFF}a = 1", ["1 a=1"]),
    ("on.gap = sh -c 'a=b'", ["1 on.gap=sh -c 'a=b'"]), ("= 1", ["1 =1"]),
  ])
  func linesAreRead(content: String, entries: [String]) {
    let text = text(content)
    #expect(text.faults == [])
    #expect(text.entries.map { "\($0.line) \($0.key)=\($0.value)" } == entries)
  }

  @Test(arguments: [
    ("a = 1\nnonsense\nb = 2", 2, "The line is no KEY = VALUE, no [SECTION] and no comment."),
    ("[video\nfps = 1", 1, "The line is no KEY = VALUE, no [SECTION] and no comment."),
    ("a = 1\n\nb = \0", 3, "The line holds a NUL."),
    ("a = " + String(repeating: "x", count: 4093), 1, "The line has 4097 bytes, more than the 4096 that it can have."),
  ])
  func whatCannotBeReadIsNamedWithItsLine(content: String, line: Int, message: String) {
    #expect(text(content).faults.map(\.line) == [line])
    #expect(text(content).faults.map(\.message) == [message])
  }

  @Test func bytesThatAreNoTextAreNamed() {
    let text = ConfigurationText(Array("a = 1\nb = ".utf8) + [0xFF, 0x0A] + Array("c = 3".utf8))
    #expect(text.faults.map(\.line) == [2] && text.faults.map(\.message) == ["The line is not valid UTF-8."])
    #expect(text.entries.map(\.key) == ["a", "c"])
  }

  @Test func theLongestLineIsReadWhole() {
    let value = String(repeating: "x", count: ConfigurationText.longestLine - 4)
    #expect(text("a = \(value)\nb = 1").entries.map(\.value) == [value, "1"])
  }

  @Test(arguments: [
    // A key that is there is changed where it stands, as it is written.
    ("# c\nvideo.fps=10\n# d\n", "video.fps", ["15"], "# c\nvideo.fps=15\n# d\n"),
    ("[video]\n\tfps  :  10\r\nsize = h720", "video.fps", ["15"], "[video]\n\tfps  :  15\r\nsize = h720\n"),
    // A new one goes where its section is, or before all sections.
    ("", "video.fps", ["15"], "video.fps = 15\n"),
    ("a = 1", "video.fps", ["15"], "a = 1\nvideo.fps = 15\n"),
    (
      "[video]\nsize = h720\n\n# Of sound.\n[audio]\nx = 1\n", "video.fps", ["15"],
      "[video]\nsize = h720\nfps = 15\n\n# Of sound.\n[audio]\nx = 1\n"
    ),
    ("[video]\n[audio]\nx = 1\n", "video.fps", ["15"], "[video]\nfps = 15\n[audio]\nx = 1\n"),
    (
      "a = 1\n# Of sound.\n[audio]\nx = 1\n", "video.fps", ["15"],
      "a = 1\nvideo.fps = 15\n# Of sound.\n[audio]\nx = 1\n"
    ),
    ("[audio]\nx = 1\n", "strict", ["true"], "strict = true\n[audio]\nx = 1\n"),
    // Of one that repeats lines are added and taken away.
    ("exclude = a\nb = 1\n", "exclude", ["x", "y", "z"], "exclude = x\nexclude = y\nexclude = z\nb = 1\n"),
    ("exclude = a\n# c\nexclude = b\nb = 1\n", "exclude", ["x"], "exclude = x\n# c\nb = 1\n"),
    ("exclude = a\n# c\nexclude = b\nb = 1\n", "exclude", [], "# c\nb = 1\n"),
    ("a = 1\n", "b", [], "a = 1\n"), ("a = 1\n", "a", [""], "a = \n"),
  ])
  func aChangeLeavesTheRestAsItIs(before: String, key: String, values: [String], after: String) throws {
    #expect(String(decoding: try text(before).setting(key, to: values).bytes, as: UTF8.self) == after)
  }

  @Test(arguments: ["a\nb = 1", " a", "a ", "a\0b", "a\rb\n", String(repeating: "x", count: 5000), "\n[x]"])
  func aValueThatIsNoLineIsRefused(value: String) {
    let error = #expect(throws: RecorderError.self) { try text("b = 2\n").setting("a", to: [value]) }
    #expect(error?.code == .usage)
    #expect(error?.message == "a: the value cannot be written to a configuration file.")
  }

  /// What a configuration file is made of, and more than a line may have.
  private static let pieces =
    ["\n", "=", "[", "]", "\0", "\r\n", ";", "#", ":", "\u{FEFF}", " = ", "[x]\n", "\u{202E}"]
    + [String(repeating: "a", count: 4200)]

  @Test func anyFileIsReadOrNamed() throws {
    let seeds = [
      """
      # My settings.
      source = monitor:HDMI-1
      exclude = class=KeePassXC
      exclude = title~=^Bank

      [video]
      fps = 15
      lossless = true

      [storage]
      budget = 50G
      keep = 90d

      """,
      "archive = ~/recordings\r\nstrict = yes\r\n[audio]\r\napplication =\r\ngain: app=-6dB,mic=+3dB\r\n; end",
      "on.started = notify-send \"Recording\"\non.stopped = sh -c 'cat > /tmp/x'\n[hold]\nduration = 5m\n",
    ].map { Array($0.utf8) }
    let names = ["source", "exclude", "video.fps"]
    var number = 0
    try Fuzzing.forEachInput("configuration", seeds, pieces: Self.pieces) { bytes in
      number += 1
      let text = ConfigurationText(bytes)
      let count = bytes.split(separator: 10, omittingEmptySubsequences: false).count
      #expect(text.entries.allSatisfy { (1...count).contains($0.line) }, "input \(number)")
      #expect(text.faults.allSatisfy { (1...count).contains($0.line) && !$0.message.isEmpty }, "input \(number)")
      let name = names[number % names.count]
      guard let changed = try? text.setting(name, to: ["15"]) else { return }
      #expect(changed.values(of: name) == ["15"], "input \(number)")
    }
  }
}
