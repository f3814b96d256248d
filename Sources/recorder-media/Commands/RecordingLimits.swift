import Recorder
import SessionModel

/// What a recording was told of its end.
struct RecordingLimits: Sendable {
  /// Nanoseconds after which it ends.
  let duration: Int64?
  /// The time of the wall clock at which it ends.
  let until: WallTime?
  /// The bytes of its media files at which it ends.
  let size: Int64?
  /// Nanoseconds without a change of the picture after which it ends.
  let idle: Int64?

  /// Takes the limits from the options; a time of day is the next one from now on.
  init(_ options: RecordingOptions) {
    let now = WallTime.now()
    duration = options.duration
    until = options.limits.until?.next(after: now, utcOffset: now.localUTCOffset)
    size = options.limits.maximumBytes
    idle = options.limits.idle
  }

  /// Waits until one of them other than the duration is reached.
  func reached(by session: RecordingSession) async -> Manifest.Reason {
    while true {
      let progress = session.progress
      if let until, WallTime.now() >= until { return .timeOfDay }
      if let size, progress.bytes >= size { return .sizeLimit }
      if let idle, let still = progress.still, still >= idle { return .idle }
      // The size is known twice a second; a clock that is set is noticed as soon.
      try? await Task.sleep(for: .milliseconds(250))
    }
  }
}
