/// Names one recording act; its text sorts by the time the recording began: `20261130T021533Z-k3x9`.
package struct SessionID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
  /// The text: UTC date and time to the second, and four characters that tell sessions of one second apart.
  package let description: String

  /// Letters and digits that are not mistaken for one another: Crockford's base 32, in lower case.
  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
  /// Characters after the date: 32^4 = 1,048,576 names a second, and a taken one is drawn again.
  private static let suffixLength = 4

  /// Makes the id of a recording that begins at `time`, with a random suffix from `generator`.
  package init(_ time: WallTime, using generator: inout some RandomNumberGenerator) {
    let date = time.utcComponents
    var text = "\(padded(date.year, 4))\(padded(date.month, 2))\(padded(date.day, 2))T"
    text += "\(padded(date.hour, 2))\(padded(date.minute, 2))\(padded(date.second, 2))Z-"
    for _ in 0..<Self.suffixLength {
      text.append(Self.alphabet.randomElement(using: &generator) ?? "0")
    }
    description = text
  }

  /// The id that `text` spells; nil when it spells none, so that no path can be smuggled in as an id, or when no calendar
  /// has its date, so that a folder somebody made is not taken for the newest session.
  package init?(_ text: some StringProtocol) {
    guard text.utf8.count == 21 else { return nil }
    // Byte by byte: a character may be more than its first letter (a digit with an accent).
    for (index, byte) in text.utf8.enumerated() {
      let fits =
        switch index {
        case 8: byte == UInt8(ascii: "T")
        case 15: byte == UInt8(ascii: "Z")
        case 16: byte == UInt8(ascii: "-")
        case 17...: Self.alphabet.contains(Character(UnicodeScalar(byte)))
        default: (48...57).contains(byte)
        }
      guard fits else { return nil }
    }
    description = String(text)
    guard began != nil else { return nil }
  }

  /// Year, month and day as they name the session's folders: `["2026", "11", "30"]`.
  package var dateComponents: [String] {
    let digits = Array(description)
    return [String(digits[0..<4]), String(digits[4..<6]), String(digits[6..<8])]
  }

  /// When the recording began, to the second.
  package var began: WallTime? {
    let digits = Array(description)
    func number(_ range: Range<Int>) -> Int { Int(String(digits[range])) ?? 0 }
    return WallTime(
      WallTime.Components(
        year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(9..<11), minute: number(11..<13),
        second: number(13..<15)))
  }

  package static func < (left: SessionID, right: SessionID) -> Bool { left.description < right.description }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = SessionID(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a session id")
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
