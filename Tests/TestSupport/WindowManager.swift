/// Openbox on a display; it ends with the last reference.
package final class WindowManager: Sendable {
  private let process: ChildProcess
  private let folder: TemporaryFolder

  /// Starts it and waits until it manages windows.
  package init(on display: VirtualDisplay) throws {
    folder = try TemporaryFolder()
    let started = folder.file("started")
    // Its EWMH properties appear before it takes windows over; one shown in between is never managed. What it is told to
    // start, it starts last.
    process = try ChildProcess(
      ["openbox", "--sm-disable", "--startup", "touch \(started)"], environment: display.environment)
    let process = process
    try waitUntil("openbox") {
      guard process.isRunning else { throw TestFailure("openbox ended: \(process.errorsSoFar)") }
      return (try? readFile(started)) != nil
    }
  }
}
