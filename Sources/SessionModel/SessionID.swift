/// Names one recording act; its text sorts by the time the recording began, and within a second by which was made first:
/// `20261130T021533Z-k3x9`.
package struct SessionID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
  /// The text: UTC date and time to the second, and four characters that tell sessions of one second apart.
  package let description: String

  /// Letters and digits that are not mistaken for one another: Crockford's base 32, in lower case.
  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
  /// Characters after the date: 32^4 = 1,048,576 names a second, and a taken one is drawn again.
  private static let suffixLength = 4
  private static let suffixes = 1 << (5 * suffixLength)
  /// By how much the next one of a second is later at most. Half of all suffixes are kept for those, so that a thousand
  /// find room; and two recorders that begin at the same moment hardly ever draw the same.
  private static let longestStep = 1024

  /// Makes the id of a recording that begins at `time`, with a random suffix from `generator`.
  /// - Parameter last: the last one of that second that there is; the new one sorts after it as long as there is room.
  package init(_ time: WallTime, after last: SessionID? = nil, using generator: inout some RandomNumberGenerator) {
    var text = Self.prefix(of: time)
    var suffixes = 0..<Self.suffixes / 2
    if let last, last.description.hasPrefix(text), last.suffix + 1 < Self.suffixes {
      suffixes = last.suffix + 1..<min(last.suffix + 1 + Self.longestStep, Self.suffixes)
    }
    let suffix = Int.random(in: suffixes, using: &generator)
    for place in (0..<Self.suffixLength).reversed() { text.append(Self.alphabet[suffix >> (5 * place) & 31]) }
    description = text
  }

  /// What tells it from others of its second, as a number.
  private var suffix: Int {
    description.suffix(Self.suffixLength).reduce(0) { $0 << 5 | (Self.alphabet.firstIndex(of: $1) ?? 0) }
  }

  /// What the ids of all recordings begin with that begin in the second of `time`.
  package static func prefix(of time: WallTime) -> String {
    let date = time.utcComponents
    return "\(padded(date.year, 4))\(padded(date.month, 2))\(padded(date.day, 2))T"
      + "\(padded(date.hour, 2))\(padded(date.minute, 2))\(padded(date.second, 2))Z-"
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
