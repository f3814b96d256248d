internal import CLinux
import Glibc
package import SessionModel

/// A descriptor that wakes a thread out of `poll`: an eventfd.
package final class WakeSignal: Sendable {
  /// Readable from the first `notify` to the next `drain`.
  package let fileDescriptor: Int32

  /// Makes a signal that is not set.
  /// - Throws: `RecorderError` (systemCall) when no descriptor is left.
  package init() throws(RecorderError) {
    fileDescriptor = recorder_eventfd()
    guard fileDescriptor >= 0 else {
      throw RecorderError(.systemCall, "No descriptor is left: \(String(cString: strerror(errno))).")
    }
  }

  deinit { close(fileDescriptor) }

  /// Sets the signal, from any thread.
  package func notify() {
    var one: UInt64 = 1
    _ = write(fileDescriptor, &one, 8)
  }

  /// Waits until the signal is set, `descriptor` can be read or hung up, or `deadline` (monotonic ns) is there.
  /// - Returns: whether the signal is set; it stays so.
  package func wait(orFor descriptor: Int32? = nil, until deadline: Int64) -> Bool {
    var entries = (
      pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0),
      // poll leaves out an entry whose descriptor is negative.
      pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    )
    return withUnsafeMutableBytes(of: &entries) { bytes in
      let entries = bytes.bindMemory(to: pollfd.self)
      while true {
        var time = timespec(nanoseconds: max(0, deadline - MonotonicClock.now()))
        // A signal handler's interruption is no end of the wait.
        if ppoll(entries.baseAddress, 2, &time, nil) >= 0 || errno != EINTR { return entries[0].revents != 0 }
      }
    }
  }

  /// Takes the signal back.
  package func drain() {
    var value: UInt64 = 0
    _ = read(fileDescriptor, &value, 8)
  }
}
