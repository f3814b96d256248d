/// Writes the bytes of small Matroska files.
enum Matroska {
  /// How an element's size is written.
  enum Size {
    /// In so many bytes.
    case known(Int)
    /// As unknown, in so many bytes.
    case unknown(Int)
  }

  static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  static func element(_ id: UInt32, _ content: [UInt8], _ size: Size = .known(4)) -> [UInt8] {
    let idBytes = number(UInt64(id), 4).drop { $0 == 0 }
    let field: [UInt8]
    switch size {
    case .known(let length): field = number(UInt64(content.count) | 1 << UInt64(7 * length), length)
    case .unknown(let length): field = number(1 << UInt64(7 * length + 1) - 1, length)
    }
    return idBytes + field + content
  }

  static func header(scale: UInt64? = nil) -> [UInt8] {
    let info = scale.map { element(0x2AD7B1, number($0, 4)) } ?? []
    return element(0x1A45_DFA3, element(0x4282, Array("matroska".utf8), .known(1)), .known(1))
      + element(0x1853_8067, [], .unknown(8)) + element(0x1549_A966, info) + element(0xEC, [0, 0, 0], .known(1))
  }

  static func simpleBlock(_ relative: Int16, _ bytes: Int = 5) -> [UInt8] {
    element(
      0xA3, [0x81] + number(UInt64(UInt16(bitPattern: relative)), 2) + [0x80] + [UInt8](repeating: 0x42, count: bytes),
      .known(2))
  }

  static func blockGroup(_ relative: Int16, duration: UInt64) -> [UInt8] {
    let block = [0x81] + number(UInt64(UInt16(bitPattern: relative)), 2) + [0x00, 9, 9]
    return element(0xA0, element(0xA1, block, .known(1)) + element(0x9B, number(duration, 2), .known(1)), .known(1))
  }

  static func cluster(_ time: UInt64, _ blocks: [[UInt8]], _ size: Size = .known(4)) -> [UInt8] {
    element(0x1F43_B675, element(0xE7, number(time, 4), .known(1)) + blocks.flatMap(\.self), size)
  }
}
