internal import Glibc

/// Picom on a display; it ends with the last reference.
package final class Compositor: Sendable {
  private let process: ChildProcess

  /// Starts it and waits until it draws the screen.
  package init(on display: VirtualDisplay) throws {
    process = try ChildProcess(
      ["picom", "--backend", "xrender", "--config", "/dev/null", "--log-level", "debug"],
      environment: display.environment)
    let process = process
    try waitUntil("picom") {
      guard process.isRunning else { throw TestFailure("picom ended: \(process.errorsSoFar)") }
      // Its window, which says that there is a compositor, is there before that.
      return process.errorsSoFar.contains("Screen redirected.")
    }
  }

  /// Has it draw nothing, so that the screen shows what it showed, or go on.
  package func hold(_ isHeld: Bool) throws {
    process.signal(isHeld ? SIGSTOP : SIGCONT)
    try waitUntil("picom's state") {
      // The state is the letter after the name: T is stopped.
      let stat = String(decoding: try readFile("/proc/\(process.pid)/stat"), as: UTF8.self)
      return stat.split(separator: ")").last?.hasPrefix(" T") == isHeld
    }
  }
}
