import Glibc
package import SessionModel

/// An X server of a test's own on a free display number; it ends with the last reference.
package final class VirtualDisplay: Sendable {
  /// Which X server it is.
  package enum Kind: String, Sendable, CaseIterable {
    /// In memory, and nothing else.
    case xvfb = "Xvfb"
    /// TigerVNC's, whose screen a viewer would show.
    case xvnc = "Xvnc"
    /// What desktops run, with the dummy driver in place of a graphics card; as root.
    case xorg = "Xorg"

    /// The name that RandR has for the one output.
    fileprivate var output: String {
      switch self {
      case .xvfb: "screen"
      case .xvnc: "VNC-0"
      case .xorg: "DUMMY0"
      }
    }
  }

  /// The display's name, as `:7`.
  package let name: String
  /// The server.
  package let server: ChildProcess
  private let kind: Kind
  private let folder: TemporaryFolder

  /// Starts a server and waits until it answers.
  /// - Parameters:
  ///   - kind: which one.
  ///   - size: the root window's size, as `1280x720`.
  ///   - depth: bits a pixel of the root window.
  ///   - arguments: further arguments, as `["-extension", "MIT-SHM"]`.
  ///   - wrapper: a command that becomes the server, as `["unshare", "-i"]`.
  package init(
    _ kind: Kind = .xvfb, size: String = "1280x720", depth: Int = 24, arguments: [String] = [],
    through wrapper: [String] = []
  ) throws {
    folder = try TemporaryFolder()
    var own: [String]
    switch kind {
    case .xvfb: own = ["-screen", "0", "\(size)x\(depth)", "-nolisten", "tcp"]
    case .xvnc:
      own = ["-geometry", size, "-depth", "\(depth)", "-SecurityTypes", "None", "-localhost", "-rfbport", "-1"]
    case .xorg:
      let configuration = folder.file("xorg.conf")
      try writeFile(configuration, Self.dummyCard(size, depth).utf8)
      own = ["-config", configuration, "-logfile", folder.file("log"), "-novtswitch", "-sharevts", "-nolisten", "tcp"]
    }
    // -noreset: without it modes and monitors vanish with the last client.
    server = try ChildProcess(wrapper + [kind.rawValue, "-displayfd", "1", "-noreset"] + own + arguments)
    let server = server
    // The number is written once the server takes clients.
    try waitUntil("\(kind.rawValue)'s display number; stderr: \(server.errorsSoFar)") {
      guard server.isRunning else { throw TestFailure("\(kind.rawValue) ended: \(server.errorsSoFar)") }
      return server.outputSoFar.hasSuffix("\n")
    }
    name = ":" + server.outputSoFar.filter(\.isNumber)
    self.kind = kind
  }

  /// A configuration of Xorg that has no card, no monitor and no devices.
  private static func dummyCard(_ size: String, _ depth: Int) -> String {
    """
    Section "ServerFlags"
      Option "AutoAddDevices" "false"
      Option "AutoEnableDevices" "false"
      Option "AutoAddGPU" "false"
    EndSection
    Section "Device"
      Identifier "card"
      Driver "dummy"
      VideoRam 65536
    EndSection
    Section "Monitor"
      Identifier "monitor"
      HorizSync 1-1000
      VertRefresh 1-1000
    EndSection
    Section "Screen"
      Identifier "screen"
      Device "card"
      Monitor "monitor"
      DefaultDepth \(depth)
      SubSection "Display"
        Depth \(depth)
        Virtual \(size.replacing("x", with: " "))
      EndSubSection
    EndSection

    """
  }

  /// What a client of this display needs in its environment.
  package var environment: [String: String?] { ["DISPLAY": name, "WAYLAND_DISPLAY": nil, "XAUTHORITY": nil] }

  /// Resizes the root window by RandR, to at most the size it started with.
  package func resize(to size: PixelSize) throws {
    // Servers have modes of their own called 1920x1080 and so on.
    let mode = "test-\(size)"
    // Timings mean nothing here. A mode that is there already is refused, which does no harm.
    let timings = [size.width, size.width, size.width, size.width, size.height, size.height, size.height, size.height]
    for command in [
      ["--newmode", mode, "60"] + timings.map { "\($0)" }, ["--addmode", kind.output, mode],
      ["--output", kind.output, "--mode", mode],
    ] {
      let result = try run(["xrandr"] + command, environment: environment)
      if command[0] == "--output", result.status != 0 { throw TestFailure("xrandr: \(result.errorText)") }
    }
  }
}
