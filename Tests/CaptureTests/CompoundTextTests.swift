import Capture
import SessionModel
import TestSupport
import Testing

/// Titles in COMPOUND_TEXT, as clients without UTF-8 write them.
@Suite struct CompoundTextTests {
  private static func bytes(_ text: String, _ rest: [UInt8] = []) -> [UInt8] { Array(text.utf8) + rest }

  private static let texts: [(bytes: [UInt8], text: String)] = [
    (bytes("plain"), "plain"),
    // Without a designation the upper half is Latin-1.
    ([0x63, 0x61, 0x66, 0xE9], "café"),
    // ESC - B is Latin-2, ESC - L Cyrillic; Latin-1 again.
    (bytes("\u{1B}-B", [0xB1, 0xE6]) + bytes("\u{1B}-L", [0xB8, 0xD2]) + bytes("\u{1B}-A", [0xE4]), "ąćИвä"),
    // JIS X 0208 in the lower half, then ASCII again; in the upper half; Katakana.
    (bytes("\u{1B}$(BF|K\\\u{1B}(B!"), "日本!"), (bytes("\u{1B}$)B", [0xC6, 0xFC, 0x61, 0xCB, 0xDC]), "日a本"),
    (bytes("\u{1B})I", [0xB1, 0xB2]), "ｱｲ"),
    // KS C 5601, GB 2312, CNS 11643.
    (bytes("\u{1B}$(CGQ19\u{1B}(B"), "한국"), (bytes("\u{1B}$(AVPND"), "中文"), (bytes("\u{1B}$(GD!Dc"), "一中"),
    // UTF-8 in between.
    (bytes("a\u{1B}%G✓日\u{1B}%@", [0xE9]), "a✓日é"),
    // An extended segment: "iso8859-15", STX and a euro sign are 12 bytes.
    (bytes("\u{1B}%/1", [0x80, 0x8C]) + bytes("iso8859-15", [0x02, 0xA4]) + bytes("x"), "€x"),
    // Directions are dropped.
    ([0x9B, 0x32, 0x5D, 0x61, 0x9B, 0x5D, 0x62], "ab"),
    // What is cut, unknown or no text is replaced, and nothing is lost after it.
    (bytes("a\u{1B}"), "a\u{FFFD}"), (bytes("\u{1B}(Zb"), "\u{FFFD}(Zb"), (bytes("\u{1B}$"), "\u{FFFD}$"),
    (bytes("\u{1B}%/1", [0x80, 0x84]) + bytes("nono"), "\u{FFFD}"), ([0x01, 0x62], "\u{FFFD}b"),
  ]

  @Test(arguments: texts) func textIsDecoded(bytes: [UInt8], text: String) {
    #expect(CompoundText.decode(bytes) == text)
  }

  /// No bytes of anybody's window end the program.
  @Test func anyBytesAreTaken() {
    var generator = SystemRandomNumberGenerator()
    let common: [UInt8] = [0x1B, 0x24, 0x25, 0x28, 0x29, 0x2D, 0x2F, 0x31, 0x41, 0x42, 0x47, 0x02, 0x9B, 0x80, 0xFF]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        Bool.random(using: &generator) ? common.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255)
      }
      _ = CompoundText.decode(bytes)
    }
  }

  @Test func aWindowsTitleIsDecoded() throws {
    let display = try VirtualDisplay(size: "64x64")
    let client = try PatternClient(
      on: display, ["color", "--compound-title", "e91b242842467c4b5c1b284221", "--geometry", "20x20"])
    let found = try SourceResolver(display: display.name).resolve(.window(.title("日本!")))
    #expect(found.window == client.window)
    #expect(found.source.window?.title == "é日本!")
    #expect(found.source.window?.titleBytes == nil)
  }
}
