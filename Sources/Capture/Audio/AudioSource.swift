package import SessionModel

/// An open sound device that is being captured. It is made, read and freed on one thread, and used generically, never as
/// an existential. It never changes a device's route or volume.
package protocol AudioSource: ~Copyable {
  /// What was negotiated: the rate and the channels that the blocks really have.
  var format: AudioFormat { get }
  /// The device's name as its backend gives it; outside text.
  var deviceName: String { get }

  /// Whether the person has chosen another device since, so that this one is to be opened again by its name.
  var isOutdated: Bool { get }
  /// Whether the person, or a program, has muted the device, as far as it is known.
  var isMuted: Bool { get }
  /// Why the device delivers nothing now.
  var outage: AudioHole { get }
  /// That what is meant plays nothing yet, in one sentence, though the device is open; nil when it plays, or has played.
  var awaited: String? { get }

  /// Waits for sound and puts what there is into `block`: its samples, `frames`, `format`, `time` and `hole`.
  /// - Parameter deadline: ns of `CLOCK_MONOTONIC`.
  /// - Returns: false when nothing had come by then, or the device is outdated; the block is unchanged.
  /// - Throws: `RecorderError` (sourceLost) when the device or its server is gone: it has to be opened again.
  mutating func read(into block: inout AudioBlock, until deadline: Int64) throws(RecorderError) -> Bool
}

extension AudioSource where Self: ~Copyable {
  package var awaited: String? { nil }
}

/// A sound device that can be opened.
package enum AudioDevice: Hashable, Sendable {
  /// A source of a PulseAudio or PipeWire server, by its name.
  case pulse(source: String)
  /// An ALSA PCM, by its name.
  case alsa(pcm: String)
  /// What one application plays on a PulseAudio or PipeWire server.
  case application(AudioApplication)

  /// libpulse's names for the monitor of the default output, and for the default input.
  package static let defaultMonitorName = "@DEFAULT_MONITOR@"
  package static let defaultSourceName = "@DEFAULT_SOURCE@"

  /// The monitor of the default output: what the applications play.
  package static let defaultMonitor = AudioDevice.pulse(source: defaultMonitorName)

  /// The default microphones, best first: the sound server's default input, which is followed when the person switches
  /// it, else ALSA's `default`, which needs no server.
  package static let defaultMicrophones = [AudioDevice.pulse(source: defaultSourceName), .alsa(pcm: "default")]

  /// How it is named on the command line; outside text.
  package var specification: String {
    switch self {
    case .pulse(let source): "pulse:\(source)"
    case .alsa(let pcm): "alsa:\(pcm)"
    case .application(.name(let name)): "app:\(name)"
    case .application(.process(let id)): "pid:\(id)"
    }
  }

  /// What a person calls it, fit to be shown.
  package var description: String {
    switch self {
    case .defaultMonitor: "the default output's monitor"
    case .pulse(Self.defaultSourceName): "the default input"
    default: specification.printable(atMost: 66)
    }
  }

  /// Whether a sound server delivers it.
  package var isServed: Bool { if case .alsa = self { false } else { true } }
}

/// An application that plays sound.
package enum AudioApplication: Hashable, Sendable {
  /// By the name it gives itself or that of its program, in any case.
  case name(String)
  /// By a process: all that it and those that descend from it play.
  case process(Int)
}
