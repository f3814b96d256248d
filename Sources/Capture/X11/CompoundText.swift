internal import CLinux
import SessionModel

/// Decodes the text of X properties whose type is COMPOUND_TEXT: ISO 2022 with a fixed set of character sets, named by
/// escape sequences (X.Org, "Compound Text Encoding", version 1.1). What is in them is left to iconv(3).
package struct CompoundText {
  /// A character set that bytes of one half of the code table are in.
  private struct Charset: Equatable {
    /// iconv's name of an encoding that has it in the upper half.
    var encoding: String
    /// What each of its characters begins with in that encoding.
    var prefix: [UInt8] = []
    /// Bytes of a character.
    var width = 1

    static let ascii = Charset(encoding: "ASCII")
    static let latin1 = Charset(encoding: "ISO-8859-1")
  }

  private static let escape: UInt8 = 0x1B
  private let bytes: [UInt8]
  private var position = 0
  /// What the lower (0x20 to 0x7F) and the upper half (0xA0 to 0xFF) of the table hold.
  private var (lower, upper) = (Charset.ascii, Charset.latin1)
  private var text = ""

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The text that `bytes` are, U+FFFD where they are none.
  package static func decode(_ bytes: [UInt8]) -> String {
    var decoder = CompoundText(bytes)
    decoder.decode()
    return decoder.text
  }

  private mutating func decode() {
    while position < bytes.count {
      switch bytes[position] {
      case Self.escape: readEscape()
      // The direction of writing: 9B 31 5D and 9B 32 5D begin one, 9B 5D ends it.
      case 0x9B: skipDirection()
      case 0x09, 0x0A:
        text.unicodeScalars.append(Unicode.Scalar(bytes[position]))
        position += 1
      case 0x20..<0x80: readRun(lower) { (0x20..<0x80).contains($0) }
      case 0xA0...: readRun(upper) { $0 >= 0xA0 }
      default: skip()
      }
    }
  }

  private mutating func skip() {
    text += "\u{FFFD}"
    position += 1
  }

  private mutating func skipDirection() {
    let rest = bytes[(position + 1)...].prefix(2)
    position += rest.first == 0x5D ? 2 : rest.count == 2 && rest.last == 0x5D ? 3 : 1
  }

  private mutating func readRun(_ charset: Charset, _ belongs: (UInt8) -> Bool) {
    let end = bytes[position...].firstIndex { !belongs($0) } ?? bytes.count
    let run = bytes[position..<end]
    position = end
    if charset == .ascii { return text += String(decoding: run, as: UTF8.self) }
    // iconv knows all of them in the upper half.
    var encoded: [UInt8] = []
    for (index, byte) in run.enumerated() {
      if index % charset.width == 0 { encoded += charset.prefix }
      encoded.append(byte == 0x20 && charset.width > 1 ? byte : byte | 0x80)
    }
    text += Self.convert(encoded, from: charset.encoding)
  }

  // MARK: Escape sequences

  private mutating func readEscape() {
    let rest = Array(bytes[(position + 1)...].prefix(5))
    switch rest.first {
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "-"):
      designate(rest.count > 1 ? Self.single(rest[0], rest[1]) : nil, isLower: rest[0] == UInt8(ascii: "("), length: 3)
    case UInt8(ascii: "$"):
      // Without a bracket it is the lower half, as older programs write it.
      let isBare = rest.count > 1 && rest[1] >= 0x40
      let final = isBare ? rest[1] : rest.count > 2 ? rest[2] : 0
      let isLower = isBare || rest.count > 1 && rest[1] == UInt8(ascii: "(")
      designate(Self.double(final), isLower: isLower, length: isBare ? 3 : 4)
    case UInt8(ascii: "%"):
      if rest.count > 1, rest[1] == UInt8(ascii: "G") { return readUTF8() }
      if rest.count > 4, rest[1] == UInt8(ascii: "/") { return readExtended(rest) }
      skip()
    default: skip()
    }
  }

  private mutating func designate(_ charset: Charset?, isLower: Bool, length: Int) {
    guard let charset else { return skip() }
    if isLower { lower = charset } else { upper = charset }
    position = min(bytes.count, position + length)
  }

  private static func single(_ kind: UInt8, _ final: UInt8) -> Charset? {
    if kind == UInt8(ascii: "-") {
      // The registered final letters of ISO 8859's parts.
      let parts: [Character: Int] = [
        "A": 1, "B": 2, "C": 3, "D": 4, "L": 5, "G": 6, "F": 7, "H": 8, "M": 9, "V": 10, "T": 11, "Y": 13, "_": 14,
        "b": 15, "f": 16,
      ]
      return parts[Character(Unicode.Scalar(final))].map { Charset(encoding: "ISO-8859-\($0)") }
    }
    switch final {
    case UInt8(ascii: "B"): return .ascii
    // JIS X 0201's Roman letters differ from ASCII by the yen sign and the overline alone.
    case UInt8(ascii: "J"): return .ascii
    case UInt8(ascii: "I"): return Charset(encoding: "EUC-JP", prefix: [0x8E])
    default: return nil
    }
  }

  private static func double(_ final: UInt8) -> Charset? {
    switch final {
    case UInt8(ascii: "A"): Charset(encoding: "EUC-CN", width: 2)
    case UInt8(ascii: "B"): Charset(encoding: "EUC-JP", width: 2)
    case UInt8(ascii: "C"): Charset(encoding: "EUC-KR", width: 2)
    case UInt8(ascii: "D"): Charset(encoding: "EUC-JP", prefix: [0x8F], width: 2)
    // CNS 11643's planes 1 to 7.
    case UInt8(ascii: "G")...UInt8(ascii: "M"):
      Charset(encoding: "EUC-TW", prefix: [0x8E, 0xA1 + final - UInt8(ascii: "G")], width: 2)
    default: nil
    }
  }

  /// ESC % G, then UTF-8 as far as ESC % @.
  private mutating func readUTF8() {
    position += 3
    let end = bytes[position...].firstIndex(of: Self.escape) ?? bytes.count
    text += String(decoding: bytes[position..<end], as: UTF8.self)
    let isEnd = bytes[end...].starts(with: [Self.escape, UInt8(ascii: "%"), UInt8(ascii: "@")])
    position = isEnd ? end + 3 : end
  }

  /// ESC % / F M L: a length in two numbers of seven bits, an encoding's name, STX, and text in that encoding.
  private mutating func readExtended(_ rest: [UInt8]) {
    let length = Int(rest[3] & 0x7F) << 7 | Int(rest[4] & 0x7F)
    let segment = bytes[(position + 6)...].prefix(length)
    position = segment.endIndex
    let parts = segment.split(separator: 0x02, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return text += "\u{FFFD}" }
    text += Self.convert(Array(parts[1]), from: Self.encoding(String(decoding: parts[0], as: UTF8.self)))
  }

  /// iconv's name of the encoding that XLFD fonts name `name`, as `iso8859-15` or `big5-0`.
  private static func encoding(_ name: String) -> String {
    let name = name.uppercased()
    if name.hasPrefix("ISO8859-") { return "ISO-8859-" + name.dropFirst("ISO8859-".count) }
    if name == "BIG5HKSCS-0" { return "BIG5-HKSCS" }
    return name.hasSuffix("-0") ? String(name.dropLast(2)) : name
  }

  /// `bytes` of `encoding` as text; U+FFFD for each byte that is none, or for all when iconv does not know the encoding.
  private static func convert(_ bytes: [UInt8], from encoding: String) -> String {
    guard let converter = iconv_open("UTF-8", encoding), converter != iconv_t(bitPattern: -1) else { return "\u{FFFD}" }
    defer { iconv_close(converter) }
    // Three bytes of UTF-8 at most for one of any of these encodings, and three for each U+FFFD.
    var output = [CChar](repeating: 0, count: bytes.count * 4)
    var input = bytes.map { CChar(bitPattern: $0) }
    return input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var (from, left) = (input.baseAddress, input.count)
        var (to, room) = (output.baseAddress, output.count)
        var text = ""
        while left > 0 {
          let start = to
          let status = iconv(converter, &from, &left, &to, &room)
          if let start, let to {
            text += String(decoding: UnsafeRawBufferPointer(start: start, count: to - start), as: UTF8.self)
          }
          if status != -1 || left == 0 { break }
          text += "\u{FFFD}"
          (from, left) = (from.map { $0 + 1 }, left - 1)
        }
        return text
      }
    }
  }
}
