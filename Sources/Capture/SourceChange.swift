package import SessionModel

/// What happened to a source while it was recorded.
package enum SourceChange: Hashable, Sendable {
  /// What is recorded has another size, or a part of the root another place: from and to, in pixels of the root.
  case geometry(from: PixelRect, to: PixelRect)
  /// There is nothing new to record; the last picture stands.
  case absent(Absence)
  /// It is recorded again.
  case present
  /// This window is recorded from here on, after the one that was closed, or since it is active now.
  case replaced(WindowInfo)

  /// Why there is nothing to record.
  package enum Absence: Hashable, Sendable {
    /// The window is unmapped or minimised.
    case hidden
    /// The window was closed.
    case closed
    /// The monitor is not there.
    case unplugged
    /// No window is active, or one that must not be shown; the active one is followed.
    case unfocused
  }
}
