package import SessionModel
import Threading

/// Waits for a change on a sound server: a device that is missing may have come.
package struct PulseWatch: ~Copyable {
  private let connection: PulseConnection

  /// Connects.
  /// - Parameter server: the server's address; nil is $PULSE_SERVER or the default.
  /// - Throws: `RecorderError` (unavailable) when no server answers.
  package init(server: String?) throws(RecorderError) { connection = try PulseConnection(server: server) }

  /// Waits until something has changed since the last call, or the server is gone.
  /// - Parameter deadline: ns of `CLOCK_MONOTONIC`.
  /// - Returns: false when nothing has by then.
  package func wait(until deadline: Int64) -> Bool {
    while connection.isAlive {
      if connection.takeNews().isAny { return true }
      if !connection.turn(until: deadline) { return !connection.isAlive }
    }
    return true
  }

  /// Whether the server is still there.
  package var isAlive: Bool { connection.isAlive }
}
