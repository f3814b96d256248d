internal import CFFmpeg
import Glibc
internal import SessionModel

/// The bytes of an open file, as FFmpeg's input or output: it owns the descriptor and keeps its own position.
final class FileBytes {
  /// The size of FFmpeg's buffer: a block as Matroska writes it is handed over in few calls, and little is lost
  /// between two flushes.
  private static let bufferSize = 32 * 1024

  let descriptor: Int32
  /// Whether the descriptor is closed with this object.
  private let owns: Bool
  private var position: Int64 = 0
  /// The end of what was written, in bytes; for reading, the file's size.
  private(set) var size: Int64 = 0
  /// errno of the first failed call; 0 while none failed.
  private(set) var failure: Int32 = 0

  /// Takes `descriptor`, which is closed with this object.
  init(descriptor: Int32, reading: Bool) {
    (self.descriptor, owns) = (descriptor, true)
    var status = stat()
    if reading, fstat(descriptor, &status) == 0 { size = Int64(status.st_size) }
  }

  /// A second position in the file of `other`, which must outlive this one.
  init(sharing other: FileBytes) { (descriptor, owns, size) = (other.descriptor, false, other.size) }

  deinit { if owns { close(descriptor) } }

  /// FFmpeg's view of these bytes, to be freed by `free`; this object must outlive it.
  func makeContext(writing: Bool) throws(RecorderError) -> UnsafeMutablePointer<AVIOContext> {
    let buffer = av_malloc(Self.bufferSize)
    let context = avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), writing ? 1 : 0,
      Unmanaged.passUnretained(self).toOpaque(), writing ? nil : readBytes, writing ? writeBytes : nil, seekBytes)
    guard let context, buffer != nil else {
      av_free(buffer)
      throw outOfMemory("a file's buffer")
    }
    return context
  }

  /// Frees a context and its buffer, which FFmpeg may have replaced.
  static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
    av_free(context.pointee.buffer)
    var context: UnsafeMutablePointer<AVIOContext>? = context
    avio_context_free(&context)
  }

  /// Writes all of `count` bytes at the position.
  fileprivate func write(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    var done = 0
    while done < count {
      let written = pwrite(descriptor, bytes + done, count - done, off_t(position))
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return fail(written == 0 ? EIO : errno) }
      done += written
      position += Int64(written)
      size = max(size, position)
    }
    return Int32(count)
  }

  /// Reads up to `count` bytes from the position.
  fileprivate func read(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
    while true {
      let got = pread(descriptor, bytes, count, off_t(position))
      if got < 0, errno == EINTR { continue }
      if got < 0 { return fail(errno) }
      position += Int64(got)
      return got == 0 ? recorder_averror_eof : Int32(got)
    }
  }

  /// Moves the position; `whence` is lseek's, or FFmpeg's question for the size.
  fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    if whence & AVSEEK_SIZE != 0 { return size }
    let base: Int64
    switch whence & ~AVSEEK_FORCE {
    case SEEK_SET: base = 0
    case SEEK_CUR: base = position
    case SEEK_END: base = size
    default: return Int64(recorder_averror(EINVAL))
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return Int64(recorder_averror(EINVAL)) }
    position = target
    return target
  }

  /// Cuts off what is past `length` bytes. A file that cannot be cut stays as it is: readers cope with its end.
  func truncate(to length: Int64) {
    if ftruncate(descriptor, off_t(length)) == 0 { size = length }
  }

  private func fail(_ error: Int32) -> Int32 {
    if failure == 0 { failure = error }
    return recorder_averror(error)
  }
}

private func bytes(_ opaque: UnsafeMutableRawPointer?) -> FileBytes? {
  opaque.map { Unmanaged<FileBytes>.fromOpaque($0).takeUnretainedValue() }
}

private func writeBytes(_ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32)
  -> Int32
{
  guard let file = bytes(opaque), let buffer else { return recorder_averror(EINVAL) }
  return file.write(buffer, Int(count))
}

private func readBytes(_ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32)
  -> Int32
{
  guard let file = bytes(opaque), let buffer else { return recorder_averror(EINVAL) }
  return file.read(buffer, Int(count))
}

private func seekBytes(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
  guard let file = bytes(opaque) else { return Int64(recorder_averror(EINVAL)) }
  return file.seek(offset, whence)
}
