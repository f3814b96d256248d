import SessionModel

/// What ends a recording by itself; nil is never.
public struct RecordingLimits: Hashable, Sendable {
  /// How long it lasts.
  public var duration: Duration?
  /// The bytes of its media files.
  public var bytes: Int64?
  /// How long the picture may stay unchanged.
  public var stillness: Duration?

  /// Makes limits.
  public init(duration: Duration? = nil, bytes: Int64? = nil, stillness: Duration? = nil) {
    (self.duration, self.bytes, self.stillness) = (duration, bytes, stillness)
  }
}

extension RecordingOptions {
  /// What of these options a program's limits are.
  var publicLimits: RecordingLimits {
    get {
      RecordingLimits(
        duration: duration.map { .nanoseconds($0) }, bytes: limits.maximumBytes,
        stillness: limits.idle.map { .nanoseconds($0) })
    }
    set {
      duration = newValue.duration?.nanoseconds
      (limits.maximumBytes, limits.idle) = (newValue.bytes, newValue.stillness?.nanoseconds)
    }
  }
}

extension Duration {
  /// Nanoseconds, as far as 64 bits hold them.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, more) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || more ? (seconds < 0 ? .min : .max) : sum
  }
}
