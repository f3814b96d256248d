package import SessionModel

/// An open sound device that is being captured. It is made, read and freed on one thread, and used generically, never as
/// an existential. It never changes a device's route or volume.
package protocol AudioSource: ~Copyable {
  /// What was negotiated: the rate and the channels that the blocks really have.
  var format: AudioFormat { get }
  /// The device's name as its backend gives it; outside text.
  var deviceName: String { get }

  /// Waits for sound and puts what there is into `block`: its samples, `frames`, `format`, `time` and `hole`.
  /// - Parameter deadline: ns of `CLOCK_MONOTONIC`.
  /// - Returns: false when nothing had come by then; the block is unchanged.
  /// - Throws: `RecorderError` (sourceLost) when the device or its server is gone: it has to be opened again.
  mutating func read(into block: inout AudioBlock, until deadline: Int64) throws(RecorderError) -> Bool
}

/// A sound device that can be opened.
package enum AudioDevice: Hashable, Sendable {
  /// A source of a PulseAudio or PipeWire server, by its name.
  case pulse(source: String)
  /// An ALSA PCM, by its name.
  case alsa(pcm: String)

  /// The monitor of the default output: what the applications play.
  package static let defaultMonitor = AudioDevice.pulse(source: "@DEFAULT_MONITOR@")

  /// The default microphones, best first. ALSA's `default` is what the machine's administrator and its user configured,
  /// with or without a sound server; where ALSA has none the server's own default source is taken.
  package static let defaultMicrophones = [AudioDevice.alsa(pcm: "default"), .pulse(source: "@DEFAULT_SOURCE@")]

  /// What a person calls it, fit to be shown.
  package var description: String {
    switch self {
    case .defaultMonitor: "the default output's monitor"
    case .pulse("@DEFAULT_SOURCE@"): "the default input"
    case .pulse(let source): "pulse:\(source.printable(atMost: 60))"
    case .alsa(let pcm): "alsa:\(pcm.printable(atMost: 60))"
    }
  }
}
