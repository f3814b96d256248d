import SessionModel

/// Reads single bytes of a file through a window that moves with them.
struct FileWindow: ~Copyable {
  /// The file's size when it was opened, in bytes.
  let size: Int64
  private let file: FileDescriptor
  private var buffer: [UInt8]
  private var start: Int64 = 0
  private var filled = 0
  /// Bytes read at a time: a cluster's header needs few, so that walking a long file reads little of it.
  private static let length = 4096

  /// A window on `file`, whose owner it becomes.
  init(_ file: consuming FileDescriptor) throws(RecorderError) {
    size = try file.size()
    self.file = file
    buffer = [UInt8](repeating: 0, count: Self.length)
  }

  /// The byte at `offset`; nil past the end.
  mutating func byte(at offset: Int64) throws(RecorderError) -> UInt8? {
    guard offset >= 0, offset < size else { return nil }
    if offset < start || offset >= start + Int64(filled) {
      (start, filled) = (offset, try file.read(into: &buffer, at: offset))
      // The file shrank meanwhile.
      if filled == 0 { return nil }
    }
    return buffer[Int(offset - start)]
  }

  /// The unsigned number in the `count` (1 … 8) bytes from `offset` on, the highest first; nil past the end.
  mutating func number(at offset: Int64, count: Int) throws(RecorderError) -> UInt64? {
    var value: UInt64 = 0
    for index in 0..<count {
      guard let byte = try byte(at: offset + Int64(index)) else { return nil }
      value = value << 8 | UInt64(byte)
    }
    return value
  }

  /// Gives the file back.
  consuming func close() -> FileDescriptor { file }
}
