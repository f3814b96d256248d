package import SessionModel

/// The name by which a recording is controlled. It names files, so it holds letters, digits, `.`, `_` and `-` alone.
package struct InstanceName: Hashable, Sendable {
  /// The name.
  package let text: String

  private static let suffix = ".sock"
  /// Longer names are of no use to anybody; file names end at 255.
  private static let longest = 64

  /// The name that a person gave: it begins with a letter.
  /// - Throws: `RecorderError` (usage) when it cannot be one.
  package init(parsing text: String) throws(RecorderError) {
    guard Self.isPossible(text), text.first?.isLetter == true else {
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" cannot name a recording.",
        hint: "Begin with a letter, and use letters, digits, dots, hyphens and underscores, 64 at most.")
    }
    self.text = text
  }

  /// The name of a recording that was given none: the recorder's process id, which no given name can be.
  package init(process: Int32) { text = String(process) }

  /// The name that a running recorder says it has; nil when none can.
  init?(_ text: String) {
    guard Self.isPossible(text) else { return nil }
    self.text = text
  }

  /// The name whose socket is called `file`; nil when it is none of ours.
  init?(socketFile file: String) {
    guard file.hasSuffix(Self.suffix), Self.isPossible(file.dropLast(Self.suffix.count)) else { return nil }
    text = String(file.dropLast(Self.suffix.count))
  }

  private static func isPossible(_ text: some StringProtocol) -> Bool {
    (1...longest).contains(text.utf8.count) && text.first != "."
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// The socket's file.
  var socketFile: String { text + Self.suffix }
  /// The file whose lock says that the recorder lives.
  var lockFile: String { text + ".lock" }
}
