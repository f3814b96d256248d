internal import CXCB
package import SessionModel

/// Asks whether an X server still serves anybody.
package enum DisplayProbe {
  /// Connects to `display` anew and waits for an answer; for as long as it takes when the server is stopped.
  /// - Throws: `RecorderError`: unavailable when nobody listens there, `SourceLoss.displayLost` when it hangs up.
  package static func run(_ display: String) throws(RecorderError) {
    let connection = try XConnection(display)
    _ = XReply(xcb_get_input_focus_reply(connection.handle, xcb_get_input_focus(connection.handle), nil))
    try connection.checkAlive()
  }
}
