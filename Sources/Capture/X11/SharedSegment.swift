internal import CXCB
import Glibc

/// Memory that this process and the X server both have attached.
struct SharedSegment {
  /// Its X id.
  let id: xcb_shm_seg_t
  /// Where it begins here.
  let memory: UnsafeMutableRawPointer

  /// Why memory cannot be shared with a server.
  enum Refusal: Error, Hashable {
    /// The server has no MIT-SHM.
    case noExtension
    /// The system gives none; errno.
    case noMemory(Int32)
    /// The server finds no segment of that number: it is in another IPC namespace, or on another machine.
    case refused
    /// The server has attached another segment of that number, and writes there.
    case elsewhere
  }

  /// Makes memory of `bytes` that the server can write pictures into, filled with 0.
  static func share(bytes: Int, _ connection: XConnection) throws(Refusal) -> SharedSegment {
    guard connection.extension(recorder_xcb_shm_id()) != nil else { throw .noExtension }
    let number = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0o600)
    guard number >= 0 else { throw .noMemory(errno) }
    guard let memory = shmat(number, nil, 0), memory != UnsafeMutableRawPointer(bitPattern: -1) else {
      let failure = errno
      shmctl(number, IPC_RMID, nil)
      throw .noMemory(failure)
    }
    let segment = SharedSegment(id: connection.newID(), memory: memory)
    let refusal = XReply(
      xcb_request_check(
        connection.handle, xcb_shm_attach_checked(connection.handle, segment.id, UInt32(number), 0)))
    // From here it lives as long as somebody is attached: nothing is left behind even when this process is killed.
    shmctl(number, IPC_RMID, nil)
    guard refusal == nil, connection.isAlive else {
      shmdt(memory)
      throw .refused
    }
    guard segment.isWritten(by: connection) else {
      segment.detach(connection)
      throw .elsewhere
    }
    memset(memory, 0, 4)
    return segment
  }

  /// Gives the memory up on both sides.
  func detach(_ connection: XConnection) {
    xcb_shm_detach(connection.handle, id)
    shmdt(memory)
  }

  /// Whether the server really writes into the segment: over `ssh -X` an attach can succeed with a segment of that
  /// number on another machine. Whatever the pixel is, it cannot leave both of two different fillings as they were.
  private func isWritten(by connection: XConnection) -> Bool {
    func grabbed(over filling: UInt32) -> UInt32? {
      memory.storeBytes(of: filling, as: UInt32.self)
      let cookie = xcb_shm_get_image(
        connection.handle, connection.root, 0, 0, 1, 1, ~0, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), id, 0)
      guard XReply(xcb_shm_get_image_reply(connection.handle, cookie, nil)) != nil else { return nil }
      return memory.load(as: UInt32.self)
    }
    guard let first = grabbed(over: 0), let second = grabbed(over: ~0) else { return false }
    return first != 0 || second != ~0
  }
}
