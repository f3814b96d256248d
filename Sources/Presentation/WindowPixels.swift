internal import CXCB
import Glibc
internal import SessionModel

/// The memory of one window's picture: shared with the server where it can be, else this process's own.
struct WindowPixels: ~Copyable {
  /// The first pixel, 4 bytes: blue, green, red, unused.
  let base: UnsafeMutableRawPointer
  /// Bytes in all.
  let byteCount: Int
  /// The server's name for the shared segment; nil when the memory is not shared.
  let segment: xcb_shm_seg_t?

  /// Makes memory for `byteCount` bytes, all black.
  /// - Parameter shared: whether to try shared memory; a server in another place refuses to attach it.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  init(byteCount: Int, connection: OpaquePointer, shared: Bool) throws(RecorderError) {
    self.byteCount = byteCount
    if shared, let (base, segment) = Self.share(byteCount, connection) {
      (self.base, self.segment) = (base, segment)
      return
    }
    guard let memory = calloc(1, byteCount) else {
      throw RecorderError(.systemCall, "No memory is left for a picture of \(byteCount) bytes.")
    }
    (base, segment) = (memory, nil)
  }

  // The server lets go of a segment when the connection ends, or when `xcb_shm_detach` named it before.
  deinit {
    if segment == nil { free(base) } else { shmdt(base) }
  }

  private static func share(
    _ byteCount: Int, _ connection: OpaquePointer
  ) -> (UnsafeMutableRawPointer, xcb_shm_seg_t)? {
    let id = shmget(IPC_PRIVATE, byteCount, IPC_CREAT | 0o600)
    guard id >= 0 else { return nil }
    // Marked for removal as soon as both sides had their chance to attach: a killed process leaves nothing behind.
    defer { shmctl(id, IPC_RMID, nil) }
    guard let base = shmat(id, nil, 0), Int(bitPattern: base) != -1 else { return nil }
    let segment = xcb_generate_id(connection)
    // Read only: the server never writes into it.
    if let error = xcb_request_check(connection, xcb_shm_attach_checked(connection, segment, UInt32(id), 1)) {
      free(error)
      shmdt(base)
      return nil
    }
    return (base, segment)
  }
}
