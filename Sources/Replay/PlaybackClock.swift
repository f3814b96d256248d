import SessionModel

/// The time of the session that is shown while nothing but the machine's clock says how fast it passes. Pure: it is told
/// what time it is.
struct PlaybackClock {
  /// How fast time may pass: a quarter to four times; past that sound and eye follow no more.
  static let speeds = 0.25...4.0

  /// The session's length: time stands there.
  let end: Timestamp
  /// How fast the session's time passes.
  private(set) var speed: Double
  /// Whether it passes at all.
  private(set) var isRunning = false
  private var anchor: Timestamp
  /// CLOCK_MONOTONIC at the anchor, in ns.
  private var anchoredAt: Int64 = 0

  /// Stands at `time` of a session that is `end` long.
  init(at time: Timestamp, end: Timestamp, speed: Double) {
    (anchor, self.end, self.speed) = (time, end, speed)
  }

  /// The session's time at `now` (ns of CLOCK_MONOTONIC).
  func time(at now: Int64) -> Timestamp {
    guard isRunning else { return anchor }
    return min(end, anchor + Int64(Double(now - anchoredAt) * speed))
  }

  /// Makes it `time` at `now`: a seek, or what a better clock says.
  mutating func set(_ time: Timestamp, at now: Int64) {
    anchor = min(max(time, .zero), end)
    anchoredAt = now
  }

  /// Lets time pass from `now` on, or stand.
  mutating func run(_ runs: Bool, at now: Int64) {
    set(time(at: now), at: now)
    isRunning = runs
  }

  /// Lets time pass at `speed` from `now` on.
  mutating func setSpeed(_ speed: Double, at now: Int64) {
    set(time(at: now), at: now)
    self.speed = min(max(speed, Self.speeds.lowerBound), Self.speeds.upperBound)
  }

  /// When it will be `time`, in ns of CLOCK_MONOTONIC; nil while time stands.
  func moment(of time: Timestamp, now: Int64) -> Int64? {
    isRunning ? now + Int64(Double(max(0, time - self.time(at: now))) / speed) : nil
  }
}
