extension StringProtocol {
  /// The text with everything that could drive a terminal shown instead of sent: control characters (C0, DEL, C1) and
  /// the bidirectional and invisible formatting characters become `\u{…}`; a newline and a tab become one space.
  package var printable: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: result.unicodeScalars.append(" ")
      case _ where scalar.isHidden: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `printable`, at most `count` characters long, the cut marked by an ellipsis.
  package func printable(atMost count: Int) -> String {
    self.count <= count ? printable : String(prefix(Swift.max(0, count - 1))).printable + "…"
  }
}

extension String {
  /// The text as one word of a shell's command line: as it is where no shell would read anything into it, else quoted.
  package var shellWord: String {
    let isPlain = !isEmpty && utf8.allSatisfy { Self.plainBytes.contains($0) }
    let pieces = split(separator: "'", omittingEmptySubsequences: false)
    return isPlain ? self : "'\(pieces.joined(separator: #"'\''"#))'"
  }

  /// Bytes that mean themselves wherever they stand in a word (POSIX, Shell Command Language, 2.2).
  private static let plainBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/@%+=".utf8)
}

extension Unicode.Scalar {
  /// Whether a terminal obeys it or a person does not see it: control characters (C0, DEL, C1) and the bidirectional and
  /// invisible formatting characters. All are in the basic plane.
  package var isHidden: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
    default: false
    }
  }
}
