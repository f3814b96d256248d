package import SessionModel
package import Threading

/// How an `X11VideoSource` records.
package struct X11SourceOptions: Sendable {
  /// Whether the pointer is reported.
  package var cursor: Bool
  /// Nanoseconds between frames at the most frequent.
  package var frameInterval: Int64
  /// Ends a `wait` when it is notified.
  package var wake: WakeSignal
  /// Whether the picture takes the source's size when that changes; else it keeps its own, and what is past it is cut.
  package var followsSize = false
  /// Whether another window that matches is waited for when the recorded one is closed; else that is the end.
  package var waitsWhenClosed = false
  /// Whether windows are recorded with their window manager's frames.
  package var decorations = false
  /// Whether a window's menus and dialogs are in its picture.
  package var popups = false
  /// Windows that are blanked wherever they are.
  package var exclusions: [WindowExclusion] = []
  /// Given the connection, to break it from another thread.
  package var breaker: ConnectionBreaker?
  /// Told what happens to the source, on the grab thread, with the time in ns of `CLOCK_MONOTONIC`.
  package var report: @Sendable (SourceChange, Int64) -> Void = { _, _ in }

  /// Makes options; set the rest.
  package init(cursor: Bool, frameInterval: Int64, wake: WakeSignal) {
    (self.cursor, self.frameInterval, self.wake) = (cursor, frameInterval, wake)
  }
}
