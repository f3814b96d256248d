package import FoundationEssentials

extension JSONEncoder {
  /// The encoder of all JSON that leaves the program: keys sorted, so that equal values are equal bytes, and slashes
  /// left as they are.
  package static func canonical(pretty: Bool = false) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
