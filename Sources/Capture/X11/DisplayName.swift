import Glibc
package import SessionModel

/// Which X display is meant, and what to tell a person when there is none.
package struct DisplayName {
  /// The name for `xcb_connect`: `:0`, `host:10.0`.
  package let name: String
  private let isFromEnvironment: Bool
  private let variable: (String) -> String?

  /// Finds the display: `explicit`, else $DISPLAY.
  /// - Parameter variable: looks an environment variable up.
  /// - Throws: `RecorderError` (unavailable) that names DISPLAY, and Wayland when the session is one.
  package init(
    _ explicit: String?, variable: @escaping (String) -> String? = Self.environment
  ) throws(RecorderError) {
    func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
    if let name = nonEmpty(explicit) ?? nonEmpty(variable("DISPLAY")) {
      (self.name, self.variable) = (name, variable)
      isFromEnvironment = nonEmpty(explicit) == nil
      return
    }
    if let wayland = nonEmpty(variable("WAYLAND_DISPLAY")) {
      throw RecorderError(
        .unavailable,
        "This is a Wayland session (WAYLAND_DISPLAY is \"\(wayland.printable(atMost: 60))\") without an X display; "
          + "Wayland lets no program record the screen through X11.",
        hint: "Log in to an X11 session, or set DISPLAY to XWayland's to record X11 windows (window:…).")
    }
    throw RecorderError(
      .unavailable, "There is no X display: DISPLAY is not set.",
      hint: "Set DISPLAY (as :0) and XAUTHORITY to those of the desktop session, or pass --display.")
  }

  /// The process's own environment.
  package static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// What to throw when the display could not be opened.
  package var unreachable: RecorderError {
    let authority = variable("XAUTHORITY").map { "\"\($0.printable(atMost: 200))\"" } ?? "not set"
    return RecorderError(
      .unavailable,
      "The X display \"\(name.printable(atMost: 100))\"\(isFromEnvironment ? " (from DISPLAY)" : "") cannot be opened; "
        + "XAUTHORITY is \(authority).",
      hint: "Check that the X server runs, and set DISPLAY and XAUTHORITY to those of the desktop session.")
  }
}
