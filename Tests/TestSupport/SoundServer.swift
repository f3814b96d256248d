import Glibc

/// A sound server of a test's own, on its own socket in a temporary folder: an output called `desktop` (the default)
/// and an input called `microphone` (the default) that hears what is played on the output `feed`. It needs no hardware.
/// Since it stands for some, it and what plays on it get their turn before all others where the user may give it.
package final class SoundServer: Sendable {
  /// Which server it is.
  package enum Kind: Sendable, CaseIterable {
    /// PulseAudio.
    case pulseAudio
    /// PipeWire with its PulseAudio server, and WirePlumber as the session manager, as desktops have them.
    case pipeWire
  }

  /// What clients have in $PULSE_SERVER.
  package let address: String
  /// The process that clients talk to.
  package var server: ChildProcess { daemons[daemons.count - 1] }
  private let kind: Kind
  private let daemons: [ChildProcess]
  private let folder: TemporaryFolder
  private let readers: [ChildProcess]

  /// Starts a server and waits until it answers.
  /// - Parameters:
  ///   - desktopRate: the rate of the output `desktop`, in Hz.
  ///   - microphoneRate: the rate of the mono input `microphone`, in Hz.
  ///   - folder: where the socket and the server's files are; a second server in the same folder has the same address.
  package init(
    _ kind: Kind = .pulseAudio, desktopRate: Int = 48_000, microphoneRate: Int = 48_000,
    folder: TemporaryFolder? = nil
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    (self.kind, self.folder) = (kind, folder)
    let rates = (desktop: desktopRate, microphone: microphoneRate)
    switch kind {
    case .pulseAudio: (daemons, address) = try SoundDaemons.pulseAudio(in: folder, rates)
    case .pipeWire: (daemons, address) = try SoundDaemons.pipeWire(in: folder, rates)
    }
    let address = address
    readers = try ["desktop", "feed"].compactMap { sink in try Self.reader(of: sink, kind, address) }
  }

  /// What clients of a server of `kind` in `folder` will have in $PULSE_SERVER.
  package static func address(_ kind: Kind, in folder: TemporaryFolder) -> String {
    "unix:\(folder.file(kind == .pulseAudio ? "native" : "pulse/native"))"
  }

  /// What a client of this server needs in its environment; ALSA's `default` leads to it too.
  package var environment: [String: String?] { ["PULSE_SERVER": address] }

  /// The name of an ALSA PCM that is `source` of this server.
  /// - Parameter rate: the one rate that the PCM has, in Hz; nil is any.
  package func alsaPCM(source: String, rate: Int? = nil) -> String {
    let pulse = "{type pulse server \"\(address)\" device \"\(source)\"}"
    let slave = rate.map { "{type plug slave {pcm \(pulse) rate \($0)}}" } ?? pulse
    return "plug:{SLAVE=\(slave)}"
  }

  /// Plays interleaved samples at 48 kHz on `sink`, half a second ahead, so that a busy machine tears no hole.
  /// - Parameters:
  ///   - name: what the player calls itself.
  ///   - wrapper: a command that runs the player.
  /// - Returns: the player, which ends when all has been played.
  package func play(
    _ samples: [Float], channels: Int = 2, on sink: String = "desktop", as name: String = "pacat",
    through wrapper: [String] = []
  ) throws -> ChildProcess {
    let file = folder.file("play-\(sink)-\(UInt64.random(in: 0 ... .max)).raw")
    try writeFile(file, samples.withUnsafeBytes { Array($0) })
    return try ChildProcess(
      wrapper + [
        "pacat", "--playback", "--raw", "--format=float32le", "--rate=48000", "--channels=\(channels)",
        "--latency-msec=500", "-n", name, "-d", sink, file,
      ], environment: environment, ownGroup: !wrapper.isEmpty, isPrompt: true)
  }

  /// Plays a sine tone on `sink`.
  /// - Parameters:
  ///   - frequency: in Hz.
  ///   - amplitude: its peak; 1 is full scale.
  ///   - seconds: how long.
  package func playTone(
    _ frequency: Double, amplitude: Float = 0.25, seconds: Double, on sink: String = "desktop",
    as name: String = "pacat"
  ) throws -> ChildProcess {
    // `feed` is mono: how a server folds two channels into one is its own affair.
    let channels = sink == "feed" ? 1 : 2
    let samples = Self.tone(frequency, amplitude: amplitude, seconds: seconds, channels: channels)
    return try play(samples, channels: channels, on: sink, as: name)
  }

  /// A sine tone as interleaved samples at 48 kHz, the same in each channel.
  package static func tone(
    _ frequency: Double, amplitude: Float, seconds: Double, channels: Int = 2
  ) -> [Float] {
    (0..<Int(seconds * 48_000)).flatMap { frame in
      let sample = amplitude * Float(sin(2 * .pi * frequency * Double(frame) / 48_000))
      return Array(repeating: sample, count: channels)
    }
  }

  /// Runs `pactl` on this server.
  /// - Returns: what it printed.
  @discardableResult
  package func control(_ arguments: String...) throws -> String {
    let result = try run(["pactl"] + arguments, environment: environment)
    guard result.status == 0 else { throw TestFailure("pactl \(arguments): \(result.errorText)") }
    return result.text
  }

  /// Adds an output called `sink`.
  /// - Returns: a reader of its monitor, to be kept as long as the output is used.
  package func addOutput(_ sink: String) throws -> ChildProcess? {
    try control("load-module", "module-null-sink", "sink_name=\(sink)", "norewinds=1")
    return try Self.reader(of: sink, kind, address)
  }

  /// Takes the output called `sink` away, as a headset that is pulled out.
  package func removeOutput(_ sink: String) throws {
    let modules = try control("list", "short", "modules").split(separator: "\n")
    let module = modules.first { $0.contains("sink_name=\(sink) ") }?.prefix { $0.isNumber }
    guard let module else { throw TestFailure("no output \(sink)") }
    try control("unload-module", String(module))
  }

  /// Without a reader in a hurry PulseAudio's idle null sink delivers in pieces of two seconds; PipeWire's does not.
  private static func reader(of sink: String, _ kind: Kind, _ address: String) throws -> ChildProcess? {
    guard kind == .pulseAudio else { return nil }
    return try ChildProcess(
      ["parec", "--latency-msec=5", "--raw", "-d", "\(sink).monitor", "/dev/null"],
      environment: ["PULSE_SERVER": address], isPrompt: true)
  }

  /// Ends the server at once, as a crash would.
  package func kill() throws {
    for daemon in daemons.reversed() { daemon.signal(SIGKILL) }
    for daemon in daemons { _ = try daemon.wait() }
  }
}
