package import SessionModel

extension ConfigurationText {
  /// The text with `key` set to `values` and to nothing else; every other line, the comments and the order stay. A key
  /// that the text has is changed where it stands; a new one goes to the end of its section when that has a header,
  /// else to the end of the lines before the first header.
  /// - Throws: `RecorderError` (usage) when a value cannot be written as one line.
  package func setting(_ key: String, to values: [String]) throws(RecorderError) -> ConfigurationText {
    var lines = lines
    let places = entries.filter { $0.key == key }.map { $0.line - 1 }
    let added = values.dropFirst(places.count)
    if !added.isEmpty {
      let (place, beginning) = placeForMore(of: key, after: places.last)
      lines.insert(contentsOf: added.map { beginning + Array($0.utf8) }, at: place)
    }
    // From the last one on, so that the places before it stay right.
    for (number, place) in places.enumerated().reversed() {
      if number < values.count {
        lines[place] = Self.beginning(of: lines[place]) + Array(values[number].utf8) + Self.ending(of: lines[place])
      } else {
        lines.remove(at: place)
      }
    }
    let result = ConfigurationText(Array(lines.map { $0 + [UInt8(ascii: "\n")] }.joined()))
    // What was written is read again, so that no value can change or add a line that it is not.
    guard result.values(of: key) == values, result.others(than: key) == others(than: key),
      result.faults.count == faults.count
    else {
      throw RecorderError(
        .usage, "\(key): the value cannot be written to a configuration file.",
        hint: "A value is one line of at most \(Self.longestLine) bytes that neither begins nor ends with a blank.")
    }
    return result
  }

  /// Every value that the text gives `key`, in order.
  package func values(of key: String) -> [String] { entries.filter { $0.key == key }.map(\.value) }

  private func others(than key: String) -> [[String]] { entries.filter { $0.key != key }.map { [$0.key, $0.value] } }

  /// The lines without their ends.
  private var lines: [[UInt8]] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
    if lines.last == [] { lines.removeLast() }
    return lines
  }

  /// Where lines that add to `key` go, and what they begin with.
  private func placeForMore(of key: String, after last: Int?) -> (place: Int, beginning: [UInt8]) {
    let lines = lines
    if let last { return (last + 1, Self.beginning(of: lines[last])) }
    let headers = lines.indices.filter { Self.firstLetter(of: lines[$0]) == UInt8(ascii: "[") }
    let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
    if parts.count == 2,
      let header = headers.last(where: { Self.trimmed(lines[$0]) == Array("[\(parts[0])]".utf8) })
    {
      let end = headers.first { $0 > header } ?? lines.count
      // After the section's last setting: the comments below that may belong to the next section.
      let setting = entries.last { (header..<end).contains($0.line - 1) }
      return (setting?.line ?? header + 1, Array("\(parts[1]) = ".utf8))
    }
    var place = headers.first ?? lines.count
    // A comment right above a header speaks of the header.
    while !headers.isEmpty, place > 0, Self.isComment(lines[place - 1]) { place -= 1 }
    return (place, Array("\(key) = ".utf8))
  }

  /// A setting's line up to its value: key, sign, and the blanks as they are.
  private static func beginning(of line: [UInt8]) -> [UInt8] {
    guard let sign = line.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }) else { return line }
    return Array(line[...sign] + line[(sign + 1)...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
  }

  private static func ending(of line: [UInt8]) -> [UInt8] { line.last == 13 ? [13] : [] }

  private static func trimmed(_ line: [UInt8]) -> [UInt8] {
    let start = line.drop { isBlank($0) }
    return Array(start[..<((start.lastIndex { !isBlank($0) }).map { $0 + 1 } ?? start.startIndex)])
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
  private static func firstLetter(of line: [UInt8]) -> UInt8? { line.first { !isBlank($0) } }
  private static func isComment(_ line: [UInt8]) -> Bool {
    firstLetter(of: line) == UInt8(ascii: "#") || firstLetter(of: line) == UInt8(ascii: ";")
  }
}
