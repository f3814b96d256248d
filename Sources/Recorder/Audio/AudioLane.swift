internal import Capture
internal import Media
import SessionModel

/// One input on its way into the mix, on the mix thread: puts each block in its place on the session's time line, at
/// 48 kHz, and says where sound is missing.
final class AudioLane {
  /// The input's name in gaps and manifest.
  let name: String
  private let epoch: Int64
  private let report: (Gap) -> Void
  private var ring: AudioRing
  private var synchronizer = Synchronizer()
  private var resampler: Resampler?
  private var format: AudioFormat?
  private var converted: UnsafeMutableBufferPointer<Float>
  /// Why the silence at the ring's end is there, when the mix has not waited for the input.
  private var hole = AudioHole.none
  /// Whether a device's first block has not found its place yet.
  private var isFirst = true
  /// Where the silence began that the ring ends with; nil when it ends with sound.
  private var silence: Int64?
  private var stretch = 0.0

  /// Makes the lane of the input `name`.
  /// - Parameters:
  ///   - epoch: the session's, in ns of `CLOCK_MONOTONIC`.
  ///   - frame: the first that it has, of the session's.
  ///   - report: told of each gap when it has ended.
  init(name: String, epoch: Int64, from frame: Int64 = 0, report: @escaping (Gap) -> Void) {
    (self.name, self.epoch, self.report) = (name, epoch, report)
    ring = AudioRing(from: frame)
    silence = frame
    converted = .allocate(capacity: 0)
  }

  deinit { converted.deallocate() }

  /// The frame up to which there is sound or silence.
  var end: Int64 { ring.end }

  /// Puts `block` in its place.
  /// - Throws: `RecorderError` when its sound cannot be converted.
  func place(_ block: borrowing AudioBlock) throws(RecorderError) {
    try prepare(for: block)
    let rate = Double(AudioFormat.mix.sampleRate)
    let landing = Double(ring.end + Int64(resampler?.delay ?? 0))
    let hole = hole == .none ? block.hole : hole
    let decision = synchronizer.decide(
      error: Double(block.time - epoch) / 1e9 - landing / rate,
      duration: Double(block.frames) / Double(block.format.sampleRate), isFirst: isFirst,
      afterHole: hole != .none)
    var skipped = 0
    if decision.shift < 0 {
      skipped = min(block.frames, Int((-decision.shift * Double(block.format.sampleRate)).rounded()))
    }
    guard skipped < block.frames else {
      // All of it lies before its place; so may the next, which then has to be looked at as closely.
      self.hole = hole
      return
    }
    isFirst = false
    if decision.shift > 0 {
      silence = silence ?? ring.end
      ring.appendSilence(Int((decision.shift * rate).rounded()))
    }
    endSilence(because: hole)
    self.hole = .none
    try stretch(by: decision.stretch)
    try append(block, skipping: skipped)
  }

  /// Fills up with silence to `frame`; what comes later for the time before is left out.
  func fill(to frame: Int64, because reason: AudioHole) {
    guard frame > ring.end else { return }
    // Being switched off, and being missing before or after that, are two gaps.
    if hole != .none, (hole == .off) != (reason == .off) {
      endSilence(because: hole)
      hole = .none
    }
    silence = silence ?? ring.end
    if hole == .none { hole = reason }
    ring.appendSilence(Int(frame - ring.end))
  }

  /// Reports the silence at the end, when it is long enough to be a gap.
  func finish() { endSilence(because: hole) }

  /// Adds the next `frames` to `target`.
  func take(_ frames: Int, addingTo target: UnsafeMutablePointer<Float>) {
    ring.take(frames, addingTo: target)
  }

  // 50 ms: what the synchroniser would put right by stretching is no gap.
  private static let shortestGap: Int64 = 2400

  private func endSilence(because hole: AudioHole) {
    guard let start = silence else { return }
    silence = nil
    if ring.end - start >= Self.shortestGap {
      report(
        Gap(track: name, start: Timestamp(frame: start), end: Timestamp(frame: ring.end), reason: hole.reason))
    }
  }

  /// Makes the resampler when the device is another, or another format of it.
  private func prepare(for block: borrowing AudioBlock) throws(RecorderError) {
    guard block.isBeginning || block.format != format else { return }
    format = block.format
    isFirst = true
    synchronizer.reset()
    stretch = 0
    // Mono stays mono: libswresample would put it at -3 dB on either side.
    let target = AudioFormat(sampleRate: AudioFormat.mix.sampleRate, channels: min(block.format.channels, 2))
    resampler = try Resampler(from: block.format, to: target)
    let capacity = (resampler?.outputCapacity(for: AudioBlock.capacity / block.format.channels) ?? 0) + Self.spare
    converted.deallocate()
    converted = .allocate(capacity: capacity * target.channels)
  }

  // Frames by which a stretched block may exceed the capacity that was told before; a block has 4096 at most, and is
  // stretched by 0.3 %.
  private static let spare = 64

  private func stretch(by amount: Double) throws(RecorderError) {
    // A hundredth of the controller's usual range: steps below it are not worth a new setting.
    guard abs(amount - stretch) >= 0.000_002 else { return }
    stretch = amount
    try resampler?.compensate(
      frames: Int((amount * Double(Self.stretchDistance)).rounded()), over: Self.stretchDistance)
  }

  // Frames over which a stretch holds. Set again long before; ten seconds resolve 2 ppm.
  private static let stretchDistance = 480_000

  private func append(_ block: borrowing AudioBlock, skipping skipped: Int) throws(RecorderError) {
    let channels = block.format.channels
    let samples = UnsafeBufferPointer(
      start: block.samples + skipped * channels, count: (block.frames - skipped) * channels)
    guard let frames = try resampler?.convert(samples, into: converted), let source = converted.baseAddress else {
      return
    }
    ring.append(source, frames: frames, channels: min(channels, 2))
  }
}

extension Timestamp {
  /// The time of frame `frame` at 48 kHz.
  init(frame: Int64) {
    let (seconds, rest) = frame.quotientAndRemainder(dividingBy: Int64(AudioFormat.mix.sampleRate))
    self.init(nanoseconds: seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(AudioFormat.mix.sampleRate))
  }

  /// The frame at 48 kHz that is nearest to this time.
  var frame: Int64 { Int64(frames(at: AudioFormat.mix.sampleRate)) }

  /// The frames of `rate` Hz up to this time, to the nearest.
  func frames(at rate: Int) -> Int {
    let (seconds, rest) = Int(nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * rate + (rest * rate + 500_000_000) / 1_000_000_000
  }
}
