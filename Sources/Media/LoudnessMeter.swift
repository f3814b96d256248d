internal import CEBUR128
import Glibc
package import SessionModel

/// Measures interleaved stereo sound at 48 kHz: its loudness after EBU R 128 by libebur128, its highest sample, and how
/// much of it is digital silence.
package struct LoudnessMeter: ~Copyable {
  private var state: UnsafeMutablePointer<ebur128_state>?
  private var frames: Int64 = 0
  private var silentFrames: Int64 = 0
  private var highest: Float = 0

  /// Makes a meter.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  package init() throws(RecorderError) {
    // The histogram keeps its memory the same for any length, at a tenth of a dB.
    let mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_HISTOGRAM.rawValue
    state = ebur128_init(
      UInt32(AudioFormat.mix.channels), UInt(AudioFormat.mix.sampleRate), Int32(bitPattern: mode))
    guard state != nil else { throw outOfMemory("a loudness meter") }
  }

  deinit {
    var state = state
    ebur128_destroy(&state)
  }

  /// Adds `samples`, whole frames.
  package mutating func add(_ samples: UnsafeBufferPointer<Float>) {
    let count = samples.count / AudioFormat.mix.channels
    guard let base = samples.baseAddress else { return }
    for index in 0..<count {
      let level = max(base[2 * index].magnitude, base[2 * index + 1].magnitude)
      if level == 0 { silentFrames += 1 }
      highest = max(highest, level)
    }
    frames += Int64(count)
    // What it refuses for want of memory is missing from the measure alone.
    _ = ebur128_add_frames_float(state, base, count)
  }

  /// The loudness of all that was added, in LUFS; nil when none of it was loud enough to count.
  package var loudness: Double? {
    var value = 0.0
    guard ebur128_loudness_global(state, &value) == Int32(EBUR128_SUCCESS.rawValue), value.isFinite else { return nil }
    return value
  }

  /// The highest sample, in dB of full scale; nil when all was silence.
  package var peak: Double? { highest > 0 ? 20 * log10(Double(highest)) : nil }

  /// The part of all frames that are digital silence, 0 to 1; 1 when there was none.
  package var silentShare: Double { frames == 0 ? 1 : Double(silentFrames) / Double(frames) }
}
