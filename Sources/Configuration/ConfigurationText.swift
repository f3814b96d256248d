internal import CINI
import Glibc

/// The text of a configuration file: lines of `KEY = VALUE`, headers `[SECTION]` that put `SECTION.` before the keys
/// below them, and comments, which begin with `#` or `;`. Read by inih.
package struct ConfigurationText: Sendable {
  /// One line that sets a key.
  package struct Entry: Hashable, Sendable {
    /// The key, its section before it.
    package let key: String
    /// The value, without the blanks around it; empty takes back what the files below said.
    package let value: String
    /// The line, from 1.
    package let line: Int
  }

  /// A line that cannot be read.
  package struct Fault: Hashable, Sendable {
    /// The line, from 1.
    package let line: Int
    /// One sentence.
    package let message: String
  }

  /// The bytes as they are in the file.
  package let bytes: [UInt8]
  /// The settings, in the order of the lines.
  package let entries: [Entry]
  /// What is not read, in no order.
  package let faults: [Fault]

  /// Bytes that a line can have: as much as Linux's longest path, which is the longest value that makes sense.
  package static let longestLine = 4096
  /// Bytes that a file can have: more than a person writes, and read in no time.
  package static let largestFile = 1 << 20

  /// Reads `bytes`; what is wrong in them keeps nothing else from being read.
  package init(_ bytes: [UInt8]) {
    let reader = LineReader(bytes)
    // inih asks for three bytes more than the longest line has.
    let status = withExtendedLifetime(reader) {
      let place = Unmanaged.passUnretained(reader).toOpaque()
      return recorder_ini_parse(readLine, place, takeEntry, place, Int32(Self.longestLine + 3))
    }
    // It tells the first line that it does not understand.
    if status > 0 {
      reader.faults.append(
        Fault(line: Int(status), message: "The line is no KEY = VALUE, no [SECTION] and no comment."))
    }
    (self.bytes, entries, faults) = (bytes, reader.entries, reader.faults)
  }
}

/// Gives inih one line after the other and keeps what it makes of them.
private final class LineReader {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 0
  var entries: [ConfigurationText.Entry] = []
  var faults: [ConfigurationText.Fault] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Writes the next line and its end to `buffer`, as fgets does; one that cannot be read is written as an empty one.
  func next(into buffer: UnsafeMutablePointer<CChar>) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard place < bytes.count else { return false }
      line += 1
      let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
      var content = UnsafeRawBufferPointer(rebasing: rest[..<(Self.place(of: 10, in: rest) ?? rest.count)])
      place += content.count + 1
      if let message = Self.fault(content) {
        faults.append(ConfigurationText.Fault(line: line, message: message))
        content = UnsafeRawBufferPointer(rebasing: content[..<0])
      }
      if let start = content.baseAddress { memcpy(buffer, start, content.count) }
      (buffer[content.count], buffer[content.count + 1]) = (CChar(UInt8(ascii: "\n")), 0)
      return true
    }
  }

  /// Where `byte` is in `bytes` first.
  private static func place(of byte: Int32, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, byte, bytes.count) else { return nil }
    return UnsafeRawPointer(found) - start
  }

  private static func fault(_ content: UnsafeRawBufferPointer) -> String? {
    if content.count > ConfigurationText.longestLine {
      return "The line has \(content.count) bytes, more than the \(ConfigurationText.longestLine) that it can have."
    }
    if place(of: 0, in: content) != nil { return "The line holds a NUL." }
    return String(validating: content, as: UTF8.self) == nil ? "The line is not valid UTF-8." : nil
  }

  func take(section: String, name: String, value: String) {
    entries.append(
      ConfigurationText.Entry(key: section.isEmpty ? name : "\(section).\(name)", value: value, line: line))
  }
}

/// inih's reader: fills `buffer`, which has room for the longest line.
private func readLine(
  _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int32, _ stream: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<CChar>? {
  guard let buffer, let stream, room >= ConfigurationText.longestLine + 3 else { return nil }
  return Unmanaged<LineReader>.fromOpaque(stream).takeUnretainedValue().next(into: buffer) ? buffer : nil
}

/// inih's handler: keeps one setting. It returns 1, since no setting is wrong to inih.
private func takeEntry(
  _ user: UnsafeMutableRawPointer?, _ section: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> Int32 {
  guard let user, let section, let name, let value else { return 1 }
  Unmanaged<LineReader>.fromOpaque(user).takeUnretainedValue().take(
    section: String(cString: section), name: String(cString: name), value: String(cString: value))
  return 1
}
