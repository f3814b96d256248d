/// Where one sound input comes from, as a person names it.
package enum AudioDeviceSpecification: Hashable, Codable, Sendable {
  /// The monitor of the default output for application sound, the default input for a microphone.
  case standard
  /// A PulseAudio source by its name.
  case pulse(source: String)
  /// An ALSA PCM by its name.
  case alsa(pcm: String)
  /// What one application plays, by its name.
  case application(name: String)
  /// What one process and those that descend from it play.
  case process(id: Int)
  /// What the process of the recorded window and those that descend from it play.
  case window

  /// The device that `text` names: empty is the standard one, `app:NAME`, `pid:N`, `window`, `pulse:SOURCE`, `alsa:PCM`.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts[0], parts.count == 2 ? String(parts[1]) : "") {
    case ("", ""), ("default", ""): self = .standard
    case ("pulse", let name) where !name.isEmpty && !name.contains("\0"): self = .pulse(source: name)
    case ("alsa", let name) where !name.isEmpty && !name.contains("\0"): self = .alsa(pcm: name)
    case ("app", let name) where !name.isEmpty && !name.contains("\0"): self = .application(name: name)
    case ("pid", let text) where isDigits(text) && (Int(text) ?? 0) > 0: self = .process(id: Int(text) ?? 0)
    case ("window", ""): self = .window
    default:
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" names no sound device.",
        hint: "Write app:NAME, pid:N, window, pulse:SOURCE or alsa:PCM, or leave the value out for the default device.")
    }
  }
}

/// How sound is encoded.
package enum AudioCodec: String, Codable, Sendable, CaseIterable {
  /// AAC: every player plays it.
  case aac
  /// Opus: smaller at the same quality.
  case opus
  /// FLAC: exact, half the size of PCM.
  case flac
  /// 16-bit PCM: exact, and editable anywhere.
  case pcm
}

/// Which sound tracks follow the mix.
package enum StemSelection: String, Codable, Sendable, CaseIterable {
  /// None.
  case none
  /// Each input by itself, when the mix is the sum of more than one.
  case all
}

/// By how much each input is made louder before they are summed, in dB.
package struct AudioGains: Hashable, Codable, Sendable {
  /// Of what the applications play.
  package var application = 0.0
  /// Of what the person says.
  package var microphone = 0.0

  /// Makes gains that change nothing.
  package init() {}

  /// From inaudible beside the other to the most that a quiet microphone needs.
  package static let range = -60.0...30.0

  /// The gains that `text` names, as `app=-6dB,mic=+3dB`; what it does not name is 0.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    let change = try GainChange(parsing: text)
    (application, microphone) = (change.application ?? 0, change.microphone ?? 0)
  }
}

/// The sound's options; a nil device is not recorded.
package struct AudioOptions: Hashable, Sendable {
  /// What the applications play.
  package var application: AudioDeviceSpecification?
  /// What the person says.
  package var microphone: AudioDeviceSpecification?
  /// The one channel of the microphone that is recorded, from 1; nil is all of them.
  package var microphoneChannel: Int?
  /// How each track is encoded.
  package var codec = AudioCodec.aac
  /// Each track's bit rate, in bits a second: transparent for stereo AAC at 48 kHz. FLAC and PCM have no use for it.
  package var bitRate = 160_000
  /// Which tracks follow the mix.
  package var stems = StemSelection.all
  /// By how much each input is made louder.
  package var gains = AudioGains()

  /// The channels that can be named: more than any interface has that a person plugs in.
  package static let channels = 1...64

  /// Checks what needs no device.
  /// - Throws: `RecorderError` (usage) that names the first option out of its range.
  package func check() throws(RecorderError) {
    guard let microphoneChannel, !Self.channels.contains(microphoneChannel) else { return }
    throw RecorderError(
      .usage, "No microphone has a channel \(microphoneChannel).",
      hint: "Give --microphone-channel a number from \(Self.channels.lowerBound) to \(Self.channels.upperBound).")
  }

  /// Makes the defaults: no sound, as a screen share starts.
  package init() {}
}

extension AudioOptions: Codable {
  /// Reads options of any version: what an older one did not write is as it recorded then.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    application = try values.decodeIfPresent(AudioDeviceSpecification.self, forKey: .application)
    microphone = try values.decodeIfPresent(AudioDeviceSpecification.self, forKey: .microphone)
    microphoneChannel = try values.decodeIfPresent(Int.self, forKey: .microphoneChannel)
    bitRate = try values.decode(Int.self, forKey: .bitRate)
    codec = try values.decodeIfPresent(AudioCodec.self, forKey: .codec) ?? .aac
    stems = try values.decodeIfPresent(StemSelection.self, forKey: .stems) ?? .none
    gains = try values.decodeIfPresent(AudioGains.self, forKey: .gains) ?? AudioGains()
  }
}
