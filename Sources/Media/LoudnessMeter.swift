internal import CEBUR128
import Glibc
package import SessionModel

/// Measures interleaved stereo sound at 48 kHz, a tenth of a second after the other: how loud it is after EBU R 128 by
/// libebur128, its highest sample, and how much of it is digital silence.
package struct LoudnessMeter: ~Copyable {
  private var state: UnsafeMutablePointer<ebur128_state>?
  private var block = SoundBlock()
  /// Blocks so far.
  private var count = 0

  /// Frames of a block: the steps in which R 128 looks at the last 400 ms.
  private static let blockFrames = AudioFormat.mix.sampleRate / 10
  /// Blocks after which there are 400 ms to look at.
  private static let warmUp = 4

  /// Makes a meter.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  package init() throws(RecorderError) {
    state = ebur128_init(
      UInt32(AudioFormat.mix.channels), UInt(AudioFormat.mix.sampleRate),
      Int32(bitPattern: EBUR128_MODE_M.rawValue))
    guard state != nil else { throw outOfMemory("a loudness meter") }
  }

  deinit {
    var state = state
    ebur128_destroy(&state)
  }

  /// Adds `samples`, whole frames.
  /// - Parameter emit: takes each block that is full.
  package mutating func add(_ samples: UnsafeBufferPointer<Float>, emit: (SoundBlock) -> Void) {
    guard let base = samples.baseAddress else { return }
    let total = samples.count / AudioFormat.mix.channels
    var done = 0
    while done < total {
      let frames = min(total - done, Self.blockFrames - block.frames)
      measure(base + done * AudioFormat.mix.channels, frames)
      done += frames
      if block.frames == Self.blockFrames { endBlock(emit) }
    }
  }

  /// Ends a block that is not full.
  package mutating func finish(emit: (SoundBlock) -> Void) { if block.frames > 0 { endBlock(emit) } }

  private mutating func measure(_ samples: UnsafePointer<Float>, _ frames: Int) {
    for index in 0..<frames {
      let level = max(samples[2 * index].magnitude, samples[2 * index + 1].magnitude)
      if level == 0 { block.silentFrames += 1 }
      block.highest = max(block.highest, level)
    }
    block.frames += frames
    // What it refuses for want of memory is missing from the measure alone.
    _ = ebur128_add_frames_float(state, samples, frames)
  }

  private mutating func endBlock(_ emit: (SoundBlock) -> Void) {
    count += 1
    var value = 0.0
    if block.frames == Self.blockFrames, count >= Self.warmUp,
      ebur128_loudness_momentary(state, &value) == Int32(EBUR128_SUCCESS.rawValue)
    {
      block.loudness = Float(value)
    }
    emit(block)
    block = SoundBlock()
  }
}
