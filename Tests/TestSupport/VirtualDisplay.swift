import Glibc
package import SessionModel

/// An X server of a test's own (Xvfb) on a free display number; it ends with the last reference.
package final class VirtualDisplay: Sendable {
  /// The display's name, as `:7`.
  package let name: String
  /// The server.
  package let server: ChildProcess

  /// Starts a server and waits until it answers.
  /// - Parameters:
  ///   - size: the root window's size, as `1280x720`.
  ///   - depth: bits a pixel of the root window.
  ///   - arguments: further arguments, as `["-extension", "MIT-SHM"]`.
  ///   - wrapper: a command that becomes the server, as `["unshare", "-i"]`.
  package init(
    size: String = "1280x720", depth: Int = 24, arguments: [String] = [], through wrapper: [String] = []
  ) throws {
    // -noreset: without it modes and monitors vanish with the last client.
    server = try ChildProcess(
      wrapper + ["Xvfb", "-displayfd", "1", "-screen", "0", "\(size)x\(depth)", "-noreset", "-nolisten", "tcp"]
        + arguments)
    let server = server
    // The number is written once the server takes clients.
    try waitUntil("Xvfb's display number; stderr: \(server.errorsSoFar)") {
      guard server.isRunning else { throw TestFailure("Xvfb ended: \(server.errorsSoFar)") }
      return server.outputSoFar.hasSuffix("\n")
    }
    name = ":" + server.outputSoFar.filter(\.isNumber)
  }

  /// What a client of this display needs in its environment.
  package var environment: [String: String?] { ["DISPLAY": name, "WAYLAND_DISPLAY": nil, "XAUTHORITY": nil] }

  /// Resizes the root window by RandR, to at most the size it started with.
  package func resize(to size: PixelSize) throws {
    let mode = "\(size.width)x\(size.height)"
    // Timings mean nothing here. A mode that is there already is refused, which does no harm.
    let timings = [size.width, size.width, size.width, size.width, size.height, size.height, size.height, size.height]
    for command in [
      ["--newmode", mode, "60"] + timings.map { "\($0)" }, ["--addmode", "screen", mode],
      ["--output", "screen", "--mode", mode],
    ] {
      let result = try run(["xrandr"] + command, environment: environment)
      if command[0] == "--output", result.status != 0 { throw TestFailure("xrandr: \(result.errorText)") }
    }
  }
}
