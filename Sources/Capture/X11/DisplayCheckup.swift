internal import CXCB
import FoundationEssentials
import Glibc
package import SessionModel

/// What an X display offers a recorder, and what is done without what it lacks.
package enum DisplayCheckup {
  /// Looks at `display`; nil is $DISPLAY. A display that cannot be opened is a finding, too.
  package static func findings(display: String?) -> [Finding] {
    let connection: XConnection
    do throws(RecorderError) {
      connection = try XConnection(display)
    } catch {
      return [Finding(.display, "X display", error)]
    }
    return [opened(connection), pixels(connection), sharedMemory(connection)] + extensions(connection)
      + desktop(connection) + [waylandSession(connection)].compactMap { $0 }
  }

  private static func opened(_ connection: XConnection) -> Finding {
    Finding(
      .display, "X display", .fine, "\(connection.display) answers, with a screen of \(connection.rootSize) pixels.")
  }

  private static func pixels(_ connection: XConnection) -> Finding {
    do throws(RecorderError) {
      _ = try connection.pixels(of: nil)
    } catch {
      return Finding(.display, "pixels", error)
    }
    let depth = connection.screen.root_depth
    return Finding(.display, "pixels", .fine, "The screen has \(depth) bits a pixel, which can be read.")
  }

  // MARK: Shared memory

  private static func sharedMemory(_ connection: XConnection) -> Finding {
    let subject = "MIT-SHM"
    // The picture, and as much again: `PictureMemory`.
    let bytes = connection.rootSize.area * 4 * 2
    let without = "each picture is sent through the connection instead, which takes ten times as long"
    do throws(SharedSegment.Refusal) {
      try SharedSegment.share(bytes: bytes, connection).detach(connection)
      return Finding(.display, subject, .fine, "Pictures come through shared memory; one was fetched to try it.")
    } catch {
      let (reason, remedy) = words(for: error, bytes: bytes)
      return Finding(.display, subject, .note, "\(reason): \(without).", remedy: remedy)
    }
  }

  private static func words(for refusal: SharedSegment.Refusal, bytes: Int) -> (reason: String, remedy: String) {
    switch refusal {
    case .noExtension: ("The X server does not have it", enable("MIT-SHM"))
    case .noMemory(let number):
      (
        "The system gives no shared memory of \(bytes) bytes (\(String(cString: strerror(number))); "
          + "kernel.shmmax is \(setting("shmmax")) bytes, kernel.shmall \(setting("shmall")) pages)",
        "Raise both as root: sysctl -w kernel.shmmax=\(bytes) kernel.shmall=\(bytes / Int(getpagesize()) + 1), "
          + "and free segments that nobody uses: ipcs -m, ipcrm."
      )
    case .refused:
      (
        "The X server refuses the recorder's shared memory, as one in another IPC namespace or on another machine does",
        "Run the recorder where the X server runs; in a container share its IPC namespace (docker run --ipc=host)."
      )
    case .elsewhere:
      (
        "The X server attached memory of its own machine, as over ssh -X",
        "Run the recorder on the machine that the X server runs on."
      )
    }
  }

  private static func setting(_ name: String) -> String {
    (try? String(contentsOfFile: "/proc/sys/kernel/\(name)", encoding: .utf8))?.filter(\.isNumber) ?? "unknown"
  }

  // MARK: Extensions

  private static func enable(_ name: String) -> String {
    "Start the X server without \"-extension \(name)\", and take Option \"\(name)\" \"Disable\" out of xorg.conf."
  }

  private static func extensions(_ connection: XConnection) -> [Finding] {
    let has = { (id: OpaquePointer?) in connection.extension(id) != nil }
    func check(_ name: String, _ isThere: Bool, with: String, without: String, remedy: String? = nil) -> Finding {
      isThere
        ? Finding(.display, name, .fine, with)
        : Finding(.display, name, .note, without, remedy: remedy ?? enable(name))
    }
    let fixes = has(recorder_xcb_xfixes_id())
    return [
      check(
        "DAMAGE", has(recorder_xcb_damage_id()) && fixes, with: "The X server tells what changed.",
        without: "The X server does not tell what changed (DAMAGE, which needs XFIXES): all of the picture is fetched "
          + "and compared at every frame, and --exclude and --popups are refused.",
        remedy: has(recorder_xcb_damage_id()) ? enable("XFIXES") : nil),
      check(
        "XFIXES", fixes, with: "The X server tells the pointer's shape.",
        without: "The X server does not tell the pointer's shape: a plain arrow is drawn in its place. "
          + "xorg-server 21.1 aborts without XFIXES when a program leaves while others stay."),
      check(
        "Composite", has(recorder_xcb_composite_id()), with: "Windows are recorded themselves, covered or not.",
        without: "The X server keeps no pictures of covered windows: a window is recorded as the part of the screen "
          + "where it is, with what lies over it."),
      randr(connection), pointer(connection),
    ]
  }

  private static func randr(_ connection: XConnection) -> Finding {
    guard let version = connection.randrVersion() else {
      return Finding(
        .display, "RANDR", .note, "The X server names no monitors: the whole display or a region can be recorded.",
        remedy: enable("RANDR"))
    }
    let monitors = connection.monitors().map(\.name).joined(separator: ", ")
    guard version >= (1, 5) else {
      return Finding(
        .display, "RANDR", .note,
        "Version \(version.major).\(version.minor) knows outputs alone, not monitors that a person defined: \(monitors).",
        remedy: "Use an X server of 1.18 or newer for xrandr --setmonitor.")
    }
    return Finding(
      .display, "RANDR", .fine,
      monitors.isEmpty ? "Version 1.5, without a monitor." : "Version 1.5, with the monitors \(monitors).")
  }

  private static func pointer(_ connection: XConnection) -> Finding {
    PointerTracker.hasRawMotion(connection)
      ? Finding(.display, "XInputExtension", .fine, "The X server tells when the pointer moves.")
      : Finding(
        .display, "XInputExtension", .note,
        "The X server does not tell when the pointer moves (XInput 2): it is asked for at every frame.",
        remedy: enable("XInputExtension"))
  }

  // MARK: Desktop

  private static func desktop(_ connection: XConnection) -> [Finding] {
    let compositor =
      connection.hasCompositor
      ? "A compositor draws the screen: a place that an excluded window left stays black for a second more."
      : "No compositor runs; none is needed."
    return [windowManager(connection), Finding(.desktop, "compositor", .fine, compositor)]
  }

  private static func windowManager(_ connection: XConnection) -> Finding {
    let subject = "window manager"
    guard connection.hasWindowManager else {
      return Finding(
        .desktop, subject, .note,
        "No window manager that speaks EWMH runs: windows are found as the root's children, and the active one is the "
          + "one with the keyboard.",
        remedy: "Start one, as openbox, for window titles as people see them.")
    }
    let name =
      connection.words("_NET_SUPPORTING_WM_CHECK", of: connection.root).first
      .map { connection.title(of: $0).text } ?? ""
    let supported = Set(connection.words("_NET_SUPPORTED", of: connection.root))
    let missing = ["_NET_CLIENT_LIST_STACKING", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW"].filter { hint in
      let atom = connection.atom(hint)
      return atom == 0 || !supported.contains(atom)
    }
    let shown = name.isEmpty ? "One without a name" : name
    guard missing.isEmpty else {
      return Finding(
        .desktop, subject, .note,
        "\(shown) runs and does not set \(missing.joined(separator: ", ")): windows or the active one may be missed.",
        remedy: "Use a window manager that sets them, as openbox.")
    }
    return Finding(.desktop, subject, .fine, "\(shown) runs and tells the windows, their order and the active one.")
  }

  private static func waylandSession(_ connection: XConnection) -> Finding? {
    let isXWayland = connection.monitors().contains { $0.name.hasPrefix("XWAYLAND") }
    guard isXWayland || DisplayName.environment("WAYLAND_DISPLAY")?.isEmpty == false else { return nil }
    return Finding(
      .desktop, "Wayland", .note,
      "This is a Wayland session, which lets no program record the screen through X11: X11 windows alone can be "
        + "recorded (window:…).",
      remedy: "Log in to an X11 session to record the screen.")
  }
}
