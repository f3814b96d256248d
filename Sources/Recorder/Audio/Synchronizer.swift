/// Keeps one input's sound in its place on the session's time line. Pure: it is told how far each block is off and says
/// what to do about it.
///
/// A device's clock is never quite 48 kHz, and the time of a block is known only to a few milliseconds. The error is
/// therefore low-pass filtered and fed to a PI controller whose output stretches the sound: its integral learns the
/// device's drift. What is too far off to stretch is put right at once, with silence or by leaving sound out.
package struct Synchronizer: Hashable, Sendable {
  /// What to do with one block.
  package struct Decision: Hashable, Sendable {
    /// Seconds of silence to put before the block; negative are seconds of the block to leave out.
    package var shift = 0.0
    /// How much longer than the device's clock says the sound is to become: 0.000_2 stretches it by 200 ppm.
    package var stretch = 0.0
  }

  // SimpleScreenRecorder's controller, in 1/s and 1/s²: 0.0225 is 0.3² / 4, which damps critically. At ±200 ppm it held
  // 0.54 ms over 75 s (DESIGN section 6b).
  private static let proportional = 0.3
  private static let integral = 0.0225
  // Below the hearing threshold for a change of pitch, about 0.3 % (Zwicker and Fastl, Psychoacoustics, section 7.2).
  private static let largestStretch = 0.003
  // Seconds over which the error is averaged: many blocks, and short beside the controller's own 1 / 0.15 s.
  private static let averaging = 0.5
  // SimpleScreenRecorder's bound too: EBU R37 lets sound lead by 40 ms and lag by 60.
  private static let threshold = 0.05
  // Where sound is known to be missing: below this the stretch makes up for it unheard.
  private static let thresholdAtHole = 0.005
  // Seconds for which an error past the threshold has to last when nothing is known to be missing. A source asks its
  // server for the time every 100 ms, so one wrong answer is outlived.
  private static let confirmation = 0.25

  private var average = 0.0
  private var drift = 0.0
  private var stretch = 0.0
  private var secondsPastThreshold = 0.0

  /// Makes a synchroniser of a device that nothing is known of.
  package init() {}

  /// Forgets the device: another one, or the same one opened again, has another clock.
  package mutating func reset() { self = Synchronizer() }

  /// Decides about a block.
  /// - Parameters:
  ///   - error: seconds from where its first sample would land to where its time puts it; positive when sound is missing
  ///     before it.
  ///   - duration: its length in seconds.
  ///   - isFirst: whether it is a device's first, which is put exactly in its place.
  ///   - afterHole: whether the source knows, or the mix has decided, that sound is missing before it.
  package mutating func decide(error: Double, duration: Double, isFirst: Bool, afterHole: Bool) -> Decision {
    let bound = isFirst ? 0 : afterHole ? Self.thresholdAtHole : Self.threshold
    guard abs(error) <= bound else {
      secondsPastThreshold += duration
      if isFirst || afterHole || secondsPastThreshold >= Self.confirmation {
        (average, secondsPastThreshold) = (0, 0)
        stretch = drift
        return Decision(shift: error, stretch: stretch)
      }
      return Decision(stretch: stretch)
    }
    secondsPastThreshold = 0
    average += (error - average) * min(1, duration / Self.averaging)
    let wanted = Self.proportional * average + drift
    stretch = min(Self.largestStretch, max(-Self.largestStretch, wanted))
    // At the bound the integral must not wind up: it would overshoot for as long as it had wound.
    if stretch == wanted { drift += Self.integral * average * duration }
    return Decision(stretch: stretch)
  }
}
