internal import Capture
package import SessionModel
internal import Threading

/// Waits until there is what a recording is asked for.
package enum SourceWait {
  /// Nanoseconds between two looks: no event tells of every change of a title.
  private static let interval: Int64 = 250_000_000

  /// Returns at once, unless `options` ask to wait and the source is not there.
  /// - Parameter tell: told once that it waits.
  /// - Throws: `RecorderError` (unavailable) when the display cannot be opened, or ends.
  package static func run(_ options: RecordingOptions, tell: (String) -> Void) throws(RecorderError) {
    guard options.video.waits == true else { return }
    let resolver = try SourceResolver(display: options.display)
    if try resolver.isPresent(options.source) { return }
    tell("Waiting for \(options.source.text.printable(atMost: 100)).")
    let pause = try WakeSignal()
    repeat { _ = pause.wait(until: MonotonicClock.now() + interval) } while try !resolver.isPresent(options.source)
  }
}
