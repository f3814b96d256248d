/// The shape of sound in memory: interleaved 32-bit floats, full scale at ±1.
package struct AudioFormat: Hashable, Sendable {
  /// Frames a second, in Hz.
  package var sampleRate: Int
  /// Samples a frame.
  package var channels: Int

  /// Makes a format of `sampleRate` Hz with `channels` interleaved channels.
  package init(sampleRate: Int, channels: Int) { (self.sampleRate, self.channels) = (sampleRate, channels) }

  /// 48 kHz stereo: what sound is mixed and encoded in.
  package static let mix = AudioFormat(sampleRate: 48_000, channels: 2)
}
