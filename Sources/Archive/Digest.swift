internal import CNettle
import SessionModel

/// A SHA-256 hash that is made piece by piece (FIPS 180-4, by nettle).
struct Digest: ~Copyable {
  /// The bytes of a finished hash.
  static let length = 32
  /// The characters of a hash as it is written, in lower-case hexadecimal.
  static let textLength = 2 * length
  private var context = sha256_ctx()

  init() { nettle_sha256_init(&context) }

  /// Adds `bytes`.
  mutating func add(_ bytes: some Collection<UInt8>) {
    let isAdded: Void? = bytes.withContiguousStorageIfAvailable { buffer in
      guard let base = buffer.baseAddress else { return }
      nettle_sha256_update(&context, buffer.count, base)
    }
    if isAdded == nil { add(Array(bytes)) }
  }

  /// The hash of all that was added, in lower-case hexadecimal; a new hash begins.
  mutating func finish() -> String {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    nettle_sha256_digest(&context, bytes.count, &bytes)
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The hash of `parts`, one after the other.
  static func of(_ parts: [UInt8]...) -> String {
    var digest = Digest()
    for part in parts { digest.add(part) }
    return digest.finish()
  }

  /// Whether `text` is a hash as this type writes it.
  static func isDigest(_ text: String) -> Bool {
    text.utf8.count == textLength
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension FileDescriptor {
  /// Bytes read at a time for a hash.
  private static let digestChunk = 1 << 18

  /// The hash of the `count` bytes from byte `offset` on; nil when the file has fewer.
  func digest(from offset: Int64 = 0, count: Int64) throws(RecorderError) -> String? {
    var digest = Digest()
    var done: Int64 = 0
    while done < count {
      var buffer = [UInt8](repeating: 0, count: Int(min(count - done, Int64(Self.digestChunk))))
      let read = try read(into: &buffer, at: offset + done)
      if read == 0 { return nil }
      digest.add(buffer[..<read])
      done += Int64(read)
    }
    return digest.finish()
  }
}
