import Configuration
import FoundationEssentials
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

  /// As many as RECORDER_TORTURE_INPUTS says under `make torture`.
  private static let inputs = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_INPUTS"] ?? "") ?? 10_000

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
    var generator = RandomBytes(seed: 0x636F_6E66)
    let names = ["source", "exclude", "video.fps"]
    for number in 0..<Self.inputs {
      let bytes = generator.mutated(seeds[number % seeds.count])
      let text = ConfigurationText(bytes)
      let count = bytes.split(separator: 10, omittingEmptySubsequences: false).count
      #expect(text.entries.allSatisfy { (1...count).contains($0.line) }, "input \(number)")
      #expect(text.faults.allSatisfy { (1...count).contains($0.line) && !$0.message.isEmpty }, "input \(number)")
      let name = names[number % names.count]
      guard let changed = try? text.setting(name, to: ["15"]) else { continue }
      #expect(changed.values(of: name) == ["15"], "input \(number)")
    }
  }
}

/// Bytes that are changed at random, the same ones each time.
private struct RandomBytes {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  /// SplitMix64 (Steele, Lea and Flood, 2014).
  private mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ (z >> 31)) % UInt64(bound))
  }

  /// `seed`, changed at up to six places.
  mutating func mutated(_ seed: [UInt8]) -> [UInt8] {
    let pieces = ["\n", "=", "[", "]", "\0", "\r\n", ";", "#", ":", "\u{FEFF}", " = ", "[x]\n", "\u{202E}"]
    var bytes = seed
    for _ in 0...next(6) where !bytes.isEmpty {
      let place = next(bytes.count)
      let end = min(bytes.count, place + 1 + next(40))
      switch next(6) {
      case 0: bytes[place] = UInt8(next(256))
      case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 2: bytes.removeSubrange(place..<end)
      case 3: bytes.insert(contentsOf: pieces[next(pieces.count)].utf8, at: place)
      // Past the longest line, now and then.
      case 4: bytes.insert(contentsOf: repeatElement(UInt8(ascii: "a"), count: next(20) == 0 ? 4200 : 3), at: place)
      default: bytes.removeSubrange(place...)
      }
    }
    return bytes
  }
}
