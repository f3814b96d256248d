import FoundationEssentials
import SessionModel

/// Reading a file of lines that its writer may have been killed in.
enum Line {
  /// The byte that ends a line.
  static let end = UInt8(ascii: "\n")
  /// The longest line that is read, in bytes; the longest that is written is an event whose window title and its raw
  /// bytes have 64 KiB each, at most 6 bytes of JSON a byte. A longer one is passed over.
  static let longest = 4 << 20
  /// Bytes read at a time.
  private static let chunk = 1 << 16

  /// Gives each whole line of `file` from byte `start` on to `body`, without its end.
  /// - Returns: the bytes up to the end of the last whole line.
  static func forEach(
    in file: borrowing FileDescriptor, from start: Int64 = 0, _ body: (Data) throws(RecorderError) -> Void
  ) throws(RecorderError) -> Int64 {
    var (offset, whole) = (start, start)
    var line = Data()
    var skipping = false
    var buffer = [UInt8](repeating: 0, count: chunk)
    while true {
      let count = try file.read(into: &buffer, at: offset)
      if count == 0 { return whole }
      var rest = buffer[..<count]
      while let end = rest.firstIndex(of: Self.end) {
        if !skipping {
          line.append(contentsOf: rest[..<end])
          try body(line)
        }
        line.removeAll(keepingCapacity: true)
        skipping = false
        whole = offset + Int64(end) + 1
        rest = rest[(end + 1)...]
      }
      if line.count + rest.count > longest {
        skipping = true
        line.removeAll()
      } else if !skipping {
        line.append(contentsOf: rest)
      }
      offset += Int64(count)
    }
  }
}
