internal import CXCB
import Glibc
import Synchronization

/// Breaks a source's connection to the X server from another thread, so that the one that waits for an answer on it goes
/// on, and finds the connection gone.
package final class ConnectionBreaker: Sendable {
  /// A descriptor of its own, so that it never stands for another connection; negative while there is none.
  private let descriptor = Mutex<Int32>(-1)

  /// Makes one without a connection.
  package init() {}

  deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

  /// Stands for `connection` from now on.
  func hold(_ connection: XConnection) {
    let copy = fcntl(xcb_get_file_descriptor(connection.handle), F_DUPFD_CLOEXEC, 0)
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = copy
    }
  }

  /// Ends the connection in both directions; without one it does nothing.
  package func cut() { descriptor.withLock { if $0 >= 0 { shutdown($0, Int32(SHUT_RDWR)) } } }
}
