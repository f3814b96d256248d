import Glibc
package import SessionModel

/// The sole owner of an open file; closed when it goes away.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The descriptor itself.
  let raw: Int32
  /// Where the file was found, for messages alone.
  let path: String
  private var isOwned = true

  /// Takes over `raw`.
  init(raw: Int32, path: String) { (self.raw, self.path) = (raw, path) }

  deinit { if isOwned { close(raw) } }

  /// Gives the descriptor away; the caller closes it.
  consuming func take() -> Int32 {
    isOwned = false
    return raw
  }

  /// The file's size, in bytes.
  package func size() throws(RecorderError) -> Int64 {
    var status = stat()
    guard fstat(raw, &status) == 0 else { throw RecorderError(.read, path, errno: errno) }
    return Int64(status.st_size)
  }

  /// Reads up to `buffer.count` bytes from byte `offset` on.
  /// - Returns: the bytes read; fewer than asked for only at the file's end.
  package func read(into buffer: inout [UInt8], at offset: Int64) throws(RecorderError) -> Int {
    let count = buffer.withUnsafeMutableBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = retrying { pread(raw, bytes.baseAddress.map { $0 + done }, bytes.count - done, Int(offset) + done) }
        if count < 0 { return count }
        if count == 0 { break }
        done += count
      }
      return done
    }
    guard count >= 0 else { throw RecorderError(.read, path, errno: errno) }
    return count
  }

  /// All of the file.
  /// - Throws: `RecorderError` (damagedData) when it has more than `limit` bytes.
  func readAll(atMost limit: Int) throws(RecorderError) -> [UInt8] {
    let size = try size()
    guard size <= limit else {
      throw RecorderError(.damagedData, "\(path.printable) has \(size) bytes, more than the \(limit) that it can have.")
    }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = try read(into: &bytes, at: 0)
    return Array(bytes.prefix(count))
  }

  /// Writes all of `bytes` in one call where the system takes them.
  /// - Returns: 0, or the errno of what kept it from writing all.
  private func writeAll(_ bytes: [UInt8]) -> Int32 {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = retrying { Glibc.write(raw, buffer.baseAddress.map { $0 + done }, buffer.count - done) }
        guard count >= 0 else { return errno }
        done += count
      }
      return 0
    }
  }

  /// Writes all of `bytes`.
  func write(_ bytes: [UInt8]) throws(RecorderError) {
    let failure = writeAll(bytes)
    guard failure == 0 else { throw RecorderError(.write, path, errno: failure) }
  }

  /// Writes `line` to the end of a file that was opened for appending, in one call. When the disk takes only a part of
  /// it, that part is taken back, so that the next line stands alone. The caller keeps other writers away.
  func append(line: [UInt8]) throws(RecorderError) {
    let before = try size()
    let failure = writeAll(line)
    guard failure != 0 else { return }
    _ = ftruncate(raw, Int(before))
    throw RecorderError(.write, path, errno: failure)
  }

  /// Cuts the file after `size` bytes.
  func truncate(to size: Int64) throws(RecorderError) {
    guard retrying({ ftruncate(raw, Int(size)) }) == 0 else { throw RecorderError(.write, path, errno: errno) }
  }

  /// Writes `bytes` over those from byte `offset` on.
  func overwrite(_ bytes: [UInt8], at offset: Int64) throws(RecorderError) {
    let count = bytes.withUnsafeBytes { buffer in
      retrying { pwrite(raw, buffer.baseAddress, buffer.count, Int(offset)) }
    }
    guard count == bytes.count else { throw RecorderError(.write, path, errno: count < 0 ? errno : ENOSPC) }
  }

  /// Makes what was written survive a power cut.
  func synchronize() throws(RecorderError) {
    guard retrying({ fsync(raw) }) == 0 else { throw RecorderError(.write, path, errno: errno) }
  }

  /// Makes the bytes that were written, and the size, survive a power cut; times may be lost.
  func synchronizeData() throws(RecorderError) {
    guard retrying({ fdatasync(raw) }) == 0 else { throw RecorderError(.write, path, errno: errno) }
  }

  /// As `synchronizeData`, of a file that is only appended to: nothing when it still has `size` bytes.
  /// - Parameter size: the bytes that the disk has, before and afterwards.
  func synchronizeGrowth(since size: inout Int64) throws(RecorderError) {
    let found = try self.size()
    guard found != size else { return }
    try synchronizeData()
    size = found
  }

  /// Makes now the time of its last change; one that cannot be changed stays as it is.
  package func touch() { futimens(raw, nil) }

  /// A second descriptor of the same open file.
  func again() throws(RecorderError) -> FileDescriptor {
    let other = fcntl(raw, F_DUPFD_CLOEXEC, 0)
    guard other >= 0 else { throw RecorderError(.read, path, errno: errno) }
    return FileDescriptor(raw: other, path: path)
  }

  /// Takes the file's lock, which goes with the descriptor and with the process.
  /// - Parameters:
  ///   - waiting: whether to wait for it.
  ///   - shared: whether others may hold it too, if they share it as well.
  /// - Returns: false when another holds it.
  package func lock(waiting: Bool, shared: Bool = false) throws(RecorderError) -> Bool {
    if retrying({ flock(raw, (shared ? LOCK_SH : LOCK_EX) | (waiting ? 0 : LOCK_NB)) }) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw RecorderError(.write, path, errno: errno)
  }

  /// Gives the lock back at once, even when a child that is just being started still has the descriptor.
  package func unlock() { flock(raw, LOCK_UN) }
}

/// A file that several hold open; closed when the last lets go.
final class OpenFile: Sendable {
  let descriptor: FileDescriptor
  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

extension Folder {
  /// Opens the file `name` for several to read.
  /// - Returns: nil when there is none.
  func openFile(_ name: String) throws(RecorderError) -> OpenFile? {
    guard let file = try file(name) else { return nil }
    return OpenFile(file)
  }
}
