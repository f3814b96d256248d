import CSystemd
import SessionModel

/// The service manager, which is told how far a recording is when it has started it (Type=notify); nobody else is.
enum ServiceManager {
  /// Tells that the recording runs; without a session the capture is held.
  static func began(_ session: SessionID?) {
    tell("READY=1\nSTATUS=" + (session.map { "Recording \($0)." } ?? "Holding; nothing is kept yet."))
  }

  /// Tells that the recording has ended, and what is still being done.
  static func ended() { tell("STOPPING=1\nSTATUS=The files are finished; hooks may still run.") }

  private static func tell(_ text: String) {
    // It does not matter to the recording whether anybody listens.
    _ = sd_notify(0, text)
  }
}
