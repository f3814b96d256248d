package import FoundationEssentials
import Glibc
import SessionModel

/// The reader of standard output went away (`recorder list | head -1`): the command ends, and nothing was wrong.
package struct OutputClosed: Error {}

/// Data for the person or program that called: standard output carries nothing else.
package enum StandardOutput {
  /// Writes one line. `text` is sent as it is: outside text in it has been made `printable`.
  /// - Throws: `OutputClosed`, or `RecorderError` (writeFailed).
  package static func line(_ text: String) throws { try write(Array((text + "\n").utf8)) }

  /// Writes `value` as indented JSON.
  /// - Throws: as `line`.
  package static func json(_ value: some Encodable) throws {
    try write(escaped(JSONEncoder.canonical(pretty: true).encode(value)) + [UInt8(ascii: "\n")])
  }

  /// Writes each of `values` as JSON on a line of its own.
  /// - Throws: as `line`.
  package static func jsonLines(_ values: some Sequence<some Encodable>) throws {
    let encoder = JSONEncoder.canonical()
    var buffer = Data()
    for value in values {
      buffer += try escaped(encoder.encode(value))
      buffer.append(UInt8(ascii: "\n"))
      // One system call for so many lines, and a reader that is not kept waiting for long.
      if buffer.count >= 1 << 16 {
        try write(buffer)
        buffer.removeAll(keepingCapacity: true)
      }
    }
    try write(buffer)
  }

  /// `json` with the hidden characters that the encoder leaves in its strings (DEL, C1, bidirectional ones) escaped: the
  /// same JSON, and no window's title can drive the terminal that it is printed on.
  package static func escaped(_ json: Data) -> Data {
    guard json.contains(where: { $0 >= 0x7F }) else { return json }
    var result = ""
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      // Below it the encoder has escaped what is in a string; the rest are its own line ends.
      if scalar.value >= 0x7F, scalar.isHidden {
        let digits = String(scalar.value, radix: 16)
        result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return Data(result.utf8)
  }

  /// Writes `table`: cut to the terminal's width when standard output is one, whole otherwise.
  /// - Throws: as `line`.
  package static func table(_ table: TextTable) throws {
    try write(Array(table.text(width: Terminal.width(of: STDOUT_FILENO)).utf8))
  }

  /// Writes `bytes`, all of them.
  /// - Throws: as `line`.
  package static func write(_ bytes: some ContiguousBytes) throws {
    let failure = bytes.withUnsafeBytes { buffer in writeAll(buffer, to: STDOUT_FILENO) }
    if failure == EPIPE { throw OutputClosed() }
    guard failure == 0 else {
      throw RecorderError(.writeFailed, "Standard output cannot be written: \(String(cString: strerror(failure))).")
    }
  }
}

/// Writes all of `buffer` to `descriptor`; 0, or the `errno` that stopped it.
package func writeAll(_ buffer: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
  var rest = buffer[...]
  while !rest.isEmpty {
    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0 {
      if errno == EINTR { continue }
      return errno
    }
    rest = rest.dropFirst(count)
  }
  return 0
}
