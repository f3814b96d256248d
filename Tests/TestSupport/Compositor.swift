/// Picom on a display; it ends with the last reference.
package final class Compositor: Sendable {
  private let process: ChildProcess

  /// Starts it and waits until it draws the screen.
  package init(on display: VirtualDisplay) throws {
    process = try ChildProcess(
      ["picom", "--backend", "xrender", "--config", "/dev/null"], environment: display.environment)
    let process = process
    try waitUntil("picom") {
      guard process.isRunning else { throw TestFailure("picom ended: \(process.errorsSoFar)") }
      // Its window holds the selection that says that there is a compositor.
      return try run(["xwininfo", "-root", "-children"], environment: display.environment).text.contains("\"picom\"")
    }
  }
}
