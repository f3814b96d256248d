import SessionModel

/// One argument as it came from the kernel: bytes, which need not be valid UTF-8.
package struct ArgumentText: Hashable, Sendable, CustomStringConvertible {
  /// The argument's bytes, without the NUL that ends it.
  package let bytes: [UInt8]

  /// Makes the argument of `bytes`.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Makes the argument that `text` spells in UTF-8.
  package init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  /// The text, when the bytes are valid UTF-8.
  package var string: String? { String(validating: bytes, as: UTF8.self) }

  /// The argument as it may be shown: printable, invalid bytes replaced, cut to 60 characters.
  package var description: String { String(decoding: bytes, as: UTF8.self).printable(atMost: 60) }

  /// The arguments this process was started with, its own name left out.
  package static var commandLine: [ArgumentText] {
    (0..<Int(CommandLine.argc)).dropFirst().compactMap { index in
      CommandLine.unsafeArgv[index].map { text in
        ArgumentText(bytes: UnsafeBufferPointer(start: text, count: length(text)).map { UInt8(bitPattern: $0) })
      }
    }
  }

  private static func length(_ text: UnsafePointer<CChar>) -> Int {
    var count = 0
    while text[count] != 0 { count += 1 }
    return count
  }
}

/// A word that is passed on as it is.
extension ArgumentText: ExpressibleByArgument {
  package init(argument: ArgumentText) { self = argument }
}
