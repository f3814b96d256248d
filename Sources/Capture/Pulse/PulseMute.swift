internal import CPulse
import Threading

/// Whether a source of a sound server is muted.
struct PulseMute {
  private var isMuted = false

  // Nanoseconds: the sound waits meanwhile, in the server's buffer of seconds.
  private static let patience: Int64 = 100_000_000

  /// Asks the server of `connection` about the source called `name`.
  /// - Returns: nil when it did not answer in time, or has no such source.
  static func ask(_ name: String, _ connection: borrowing PulseConnection) -> Bool? {
    var mute = PulseMute()
    let hasAnswered = withUnsafeMutablePointer(to: &mute) { mute in
      let question = pa_context_get_source_info_by_name(
        connection.context, name,
        { _, answer, _, mute in
          guard let answer = answer?.pointee, let mute = mute?.assumingMemoryBound(to: PulseMute.self) else { return }
          mute.pointee.isMuted = answer.mute != 0
        }, mute)
      return connection.wait(for: question, until: MonotonicClock.now() + patience)
    }
    return hasAnswered ? mute.isMuted : nil
  }
}
