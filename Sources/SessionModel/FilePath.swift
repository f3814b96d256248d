/// A path as the kernel takes it: bytes without a NUL, in no particular encoding, so that every file that exists can be
/// named.
package struct FilePath: Hashable, Sendable, CustomStringConvertible {
  /// The path's bytes; never a NUL among them.
  package let bytes: [UInt8]

  /// Makes the path of `bytes`; nil when a NUL is among them, which no path can hold.
  package init?(bytes: [UInt8]) {
    guard !bytes.contains(0) else { return nil }
    self.bytes = bytes
  }

  /// Makes the path that `text` spells in UTF-8; nil when it holds a NUL.
  package init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// Makes the empty path, which names no file.
  package init() { bytes = [] }

  /// The path as it may be shown: printable, invalid bytes replaced.
  package var description: String { String(decoding: bytes, as: UTF8.self).printable }

  /// Calls `body` with the path as a C string, which is valid during the call alone.
  package func withCString<Result, Failure: Error>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let characters = bytes.map { CChar(bitPattern: $0) } + [0]
    return try body(characters)
  }

  /// The letters after the last dot of the last component, in lower case; "" when there are none or they are not ASCII.
  package var fileExtension: String {
    let name = bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "" }
    let letters = name[(dot + 1)...]
    return letters.allSatisfy { $0 < 0x80 } ? String(decoding: letters, as: UTF8.self).lowercased() : ""
  }
}
