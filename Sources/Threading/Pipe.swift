internal import CLinux
import Glibc
package import SessionModel

/// The two ends of a new pipe, which whoever made it closes.
package struct Pipe: Sendable {
  /// Where it is read.
  package let read: Int32
  /// Where it is written.
  package let write: Int32

  /// Makes a pipe that no child inherits by itself.
  /// - Throws: `RecorderError` (systemCall) when none is left.
  package init() throws(RecorderError) {
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else {
      throw RecorderError(.systemCall, "No pipe is left: \(String(cString: strerror(errno))).")
    }
    (read, write) = (ends[0], ends[1])
  }
}
