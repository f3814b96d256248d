internal import CLinux
import Glibc
import SessionModel

/// Sockets of the local machine, as the system calls need them.
enum UnixSocket {
  /// A new socket that no child inherits and that never waits.
  /// - Throws: `RecorderError` (systemCall) when no descriptor is left.
  static func open() throws(RecorderError) -> Int32 {
    let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, flags, 0)
    guard descriptor >= 0 else {
      throw RecorderError(.systemCall, "No socket is left: \(String(cString: strerror(errno))).")
    }
    return descriptor
  }

  /// Calls `body` with the address of `path`, which is cut when it is longer than an address can be.
  static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  /// Connects `descriptor` to the listener at `path`. The system refuses a socket that never waits (EAGAIN) while more
  /// clients wait than the listener's queue holds, so this one waits until it is connected.
  /// - Parameter patience: nanoseconds that it waits at most.
  /// - Returns: 0, or the error's number; EAGAIN when the queue stayed full.
  static func connect(_ descriptor: Int32, to path: String, patience: Int64) -> Int32 {
    let flags = fcntl(descriptor, F_GETFL)
    var limit = timeval(tv_sec: Int(patience / 1_000_000_000), tv_usec: Int(patience % 1_000_000_000 / 1_000))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
    defer { _ = fcntl(descriptor, F_SETFL, flags) }
    while true {
      let status = withAddress(path) { address, length in Glibc.connect(descriptor, address, length) }
      if status == 0 || errno == EISCONN { return 0 }
      if errno != EINTR { return errno }
    }
  }

  /// The process that made the other end of `descriptor`; 0 when it is not known.
  static func process(of descriptor: Int32) -> Int32 { recorder_peer_pid(descriptor) }

  /// Takes the next client of `listener` that this user started; others are turned away.
  /// - Returns: nil when there is none.
  static func accept(_ listener: Int32) -> Int32? {
    while true {
      let descriptor = recorder_accept(listener)
      guard descriptor >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return nil
      }
      if recorder_peer_uid(descriptor) == Int64(geteuid()) { return descriptor }
      close(descriptor)
    }
  }
}
