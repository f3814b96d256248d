internal import CALSA
import SessionModel

/// The sample formats that are read from ALSA; every other one has ALSA's own `plug` to convert it.
enum ALSASampleFormat: CaseIterable {
  case float
  case signed32
  case signed16

  private var identifier: snd_pcm_format_t {
    switch self {
    case .float: SND_PCM_FORMAT_FLOAT_LE
    case .signed32: SND_PCM_FORMAT_S32_LE
    case .signed16: SND_PCM_FORMAT_S16_LE
    }
  }

  /// Puts `count` samples of this format at `source` into `target` as floats at ±1; floats are there already.
  func convert(_ source: UnsafeMutablePointer<Int32>, to target: UnsafeMutablePointer<Float>, count: Int) {
    switch self {
    case .float: break
    case .signed32: for index in 0..<count { target[index] = Float(source[index]) / 0x1p31 }
    case .signed16:
      source.withMemoryRebound(to: Int16.self, capacity: count) { samples in
        for index in 0..<count { target[index] = Float(samples[index]) / 0x1p15 }
      }
    }
  }

  /// Periods of 10 ms wake a hundred times a second at most.
  private static let periodMicroseconds: UInt32 = 10_000
  /// The device keeps sound for half a second, so that a busy machine may be late by that.
  private static let bufferMicroseconds: UInt32 = 500_000

  /// Agrees with the device on a format, the nearest rate and channel count, and on periods.
  /// - Parameter channel: the one channel that is wanted, from 1; nil is all of them.
  /// - Returns: what was agreed, which need not be what was asked.
  /// - Throws: `RecorderError`: unavailable when the device refuses, usage when it has nothing that can be recorded as it was
  ///   asked for.
  static func negotiate(
    _ pcm: OpaquePointer, name: String, channel: Int?
  ) throws(RecorderError) -> (AudioFormat, ALSASampleFormat) {
    var allocated: OpaquePointer?
    guard snd_pcm_hw_params_malloc(&allocated) >= 0, let parameters = allocated else {
      throw RecorderError(.systemCall, "There is no memory left for sound.")
    }
    defer { snd_pcm_hw_params_free(parameters) }
    func agree(_ status: Int32) throws(RecorderError) {
      if status < 0 { throw ALSAFailure.opening(name, status) }
    }
    try agree(snd_pcm_hw_params_any(pcm, parameters))
    // ALSA's own converter is linear, and its clock would hide the device's.
    _ = snd_pcm_hw_params_set_rate_resample(pcm, parameters, 0)
    try agree(snd_pcm_hw_params_set_access(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
    let offered = allCases.first { snd_pcm_hw_params_test_format(pcm, parameters, $0.identifier) == 0 }
    guard let sampleFormat = offered else {
      throw RecorderError(
        .usage,
        "\(AudioDevice.alsa(pcm: name).description) delivers no samples of 16 or 32 bits.",
        hint: "Name it through ALSA's converter, as alsa:plughw:0.")
    }
    try agree(snd_pcm_hw_params_set_format(pcm, parameters, sampleFormat.identifier))
    var (rate, channels) = (UInt32(AudioFormat.mix.sampleRate), UInt32(max(AudioFormat.mix.channels, channel ?? 0)))
    try agree(snd_pcm_hw_params_set_channels_near(pcm, parameters, &channels))
    try agree(snd_pcm_hw_params_set_rate_near(pcm, parameters, &rate, nil))
    var (buffer, period) = (bufferMicroseconds, periodMicroseconds)
    try agree(snd_pcm_hw_params_set_period_time_near(pcm, parameters, &period, nil))
    try agree(snd_pcm_hw_params_set_buffer_time_near(pcm, parameters, &buffer, nil))
    try agree(snd_pcm_hw_params(pcm, parameters))
    // What the device has now, not what it said before.
    try agree(snd_pcm_hw_params_get_rate(parameters, &rate, nil))
    try agree(snd_pcm_hw_params_get_channels(parameters, &channels))
    let channelLimit = channel == nil ? maximumChannels : AudioOptions.channels.upperBound
    guard (1...maximumRate).contains(Int(rate)), (1...channelLimit).contains(Int(channels)) else {
      throw RecorderError(
        .usage, "\(AudioDevice.alsa(pcm: name).description) delivers \(channels) channels at \(rate) Hz.",
        hint: "Choose one with --microphone-channel, or name it through ALSA's converter, as alsa:plughw:0.")
    }
    return (AudioFormat(sampleRate: Int(rate), channels: Int(channels)), sampleFormat)
  }

  // The fastest converters that exist, and the most channels that have a usual order (7.1): which of a studio device's
  // eighteen are a voice, nobody could tell.
  private static let maximumRate = 768_000
  private static let maximumChannels = 8
}
