/// Turns text into words for the full-text index, and what a person types into a pattern that is always valid.
///
/// The index breaks text at everything that is no letter or digit (SQLite's unicode61). Scripts without spaces would be
/// one long word each, so that no part of it could be found: each of their characters becomes a word, and what is
/// searched becomes a phrase of them. Symbols such as emoji, which the index would drop, become words by their number.
enum SearchText {
  /// `text` as it is indexed.
  static func indexed(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch kind(of: scalar) {
      case .alone: result += " \(scalar) "
      // SQLite's tables of letters end with the basic plane and know no symbols: a number is a word everywhere.
      case .numbered: result += " u\(String(scalar.value, radix: 16)) "
      case .letter, .mark, .separator: result.unicodeScalars.append(scalar.value == 0 ? " " : scalar)
      }
    }
    return result
  }

  /// The full-text pattern that finds all the words of `text` in `column`, the last one by its beginning; nil when
  /// `text` has no word. Each word is quoted: nothing that a person types is syntax.
  static func pattern(_ text: String, column: String) -> String? {
    let words = text.split(whereSeparator: \.isWhitespace).filter { word in
      word.unicodeScalars.map { kind(of: $0) }.contains { $0 != .separator && $0 != .mark }
    }
    if words.isEmpty { return nil }
    // A word is asked for once: SQLite's time grows with the square of its repetitions.
    var asked: Set<Substring> = []
    let phrases = (words.dropLast().filter { asked.insert($0).inserted } + words.suffix(1)).map { word in
      "\"\(String(indexed(String(word)).map { $0 == "\"" ? " " : $0 }))\""
    }
    return "\(column) : (\(phrases.joined(separator: " AND ")) *)"
  }

  private enum Kind { case letter, mark, separator, alone, numbered }

  private static func kind(of scalar: Unicode.Scalar) -> Kind {
    if scalar.isASCII {
      return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) ? .letter : .separator
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      if scalar.value > 0xFFFF { return .numbered }
      return isUnspaced(scalar.value) ? .alone : .letter
    case .otherSymbol, .privateUse, .unassigned: return .numbered
    // Accents that stand on the letter before them; SQLite leaves them out.
    case .nonspacingMark: return .mark
    default: return .separator
    }
  }

  /// Scripts that are written without spaces, by their Unicode blocks.
  private static func isUnspaced(_ value: UInt32) -> Bool {
    switch value {
    case 0x0E00...0x0EFF,  // Thai, Lao
      0x1000...0x109F,  // Myanmar
      0x1100...0x11FF,  // Hangul Jamo
      0x1780...0x17FF,  // Khmer
      0x2E80...0x2FDF,  // CJK radicals
      0x3005...0x3007, 0x3040...0x30FF,  // iteration marks, Hiragana, Katakana
      0x3100...0x318F, 0x31A0...0x31FF,  // Bopomofo, Hangul compatibility Jamo, Katakana extensions
      0x3400...0x4DBF, 0x4E00...0x9FFF,  // Han
      0xA960...0xA97F, 0xAC00...0xD7FF,  // Hangul
      0xF900...0xFAFF, 0xFF66...0xFFDC:  // Han compatibility, half-width Katakana and Hangul
      true
    default: false
    }
  }
}
