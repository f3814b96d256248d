import Glibc

/// A PulseAudio server of a test's own, on its own socket in a temporary folder: an output called `desktop` (the default)
/// and an input called `microphone` (the default) that hears what is played on the output `feed`. It needs no hardware.
package final class SoundServer: Sendable {
  /// What clients have in $PULSE_SERVER.
  package let address: String
  /// The server.
  package let server: ChildProcess
  private let folder: TemporaryFolder
  private let readers: [ChildProcess]

  /// Starts a server and waits until it answers.
  /// - Parameters:
  ///   - desktopRate: the rate of the output `desktop`, in Hz.
  ///   - microphoneRate: the rate of the mono input `microphone`, in Hz.
  ///   - folder: where the socket and the server's files are; a second server in the same folder has the same address.
  package init(desktopRate: Int = 48_000, microphoneRate: Int = 48_000, folder: TemporaryFolder? = nil) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    address = "unix:\(folder.file("native"))"
    // norewinds: else a sink that nobody had asked for haste is two seconds ahead and catches up at its own time.
    let script = """
      load-module module-native-protocol-unix auth-anonymous=1 socket=\(folder.file("native"))
      load-module module-null-sink sink_name=desktop rate=\(desktopRate) channels=2 norewinds=1
      load-module module-null-sink sink_name=feed rate=\(microphoneRate) channels=1 channel_map=mono norewinds=1
      load-module module-virtual-source source_name=microphone master=feed.monitor
      set-default-sink desktop
      set-default-source microphone

      """
    try writeFile(folder.file("rig.pa"), script.utf8)
    let variables: [String: String?] = [
      "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "PULSE_RUNTIME_PATH": folder.path,
      "PULSE_STATE_PATH": folder.path, "PULSE_SERVER": address, "DISPLAY": nil, "DBUS_SESSION_BUS_ADDRESS": nil,
    ]
    let server = try ChildProcess(
      [
        "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
        "--realtime=no", "--high-priority=no", "-F", folder.file("rig.pa"),
      ], environment: variables)
    self.server = server
    let address = address
    try waitUntil("the sound server to answer; stderr: \(server.errorsSoFar)") {
      guard server.isRunning else { throw TestFailure("pulseaudio ended: \(server.errorsSoFar)") }
      let environment: [String: String?] = ["PULSE_SERVER": address]
      return try run(["pactl", "get-default-source"], environment: environment).text == "microphone\n"
    }
    // Without a reader in a hurry an idle null sink delivers in pieces of two seconds.
    readers = try ["desktop.monitor", "feed.monitor"].map { source in try Self.reader(of: source, address) }
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

  /// Plays interleaved stereo samples at 48 kHz on `sink`, half a second ahead, so that a busy machine tears no hole.
  /// - Parameters:
  ///   - name: what the player calls itself.
  ///   - wrapper: a command that runs the player.
  /// - Returns: the player, which ends when all has been played.
  package func play(
    _ samples: [Float], on sink: String = "desktop", as name: String = "pacat", through wrapper: [String] = []
  ) throws -> ChildProcess {
    let file = folder.file("play-\(sink)-\(UInt64.random(in: 0 ... .max)).raw")
    try writeFile(file, samples.withUnsafeBytes { Array($0) })
    return try ChildProcess(
      wrapper + [
        "pacat", "--playback", "--raw", "--format=float32le", "--rate=48000", "--channels=2", "--latency-msec=500",
        "-n", name, "-d", sink, file,
      ], environment: environment, ownGroup: !wrapper.isEmpty)
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
    try play(Self.tone(frequency, amplitude: amplitude, seconds: seconds), on: sink, as: name)
  }

  /// A sine tone as interleaved stereo samples at 48 kHz.
  package static func tone(_ frequency: Double, amplitude: Float, seconds: Double) -> [Float] {
    (0..<Int(seconds * 48_000)).flatMap { frame in
      let sample = amplitude * Float(sin(2 * .pi * frequency * Double(frame) / 48_000))
      return [sample, sample]
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

  /// Adds an output called `sink`, with a reader of its monitor that lasts as long as it does.
  package func addOutput(_ sink: String) throws -> ChildProcess {
    try control("load-module", "module-null-sink", "sink_name=\(sink)", "norewinds=1")
    return try Self.reader(of: "\(sink).monitor", address)
  }

  /// Takes the output called `sink` away, as a headset that is pulled out.
  package func removeOutput(_ sink: String) throws {
    let modules = try control("list", "short", "modules").split(separator: "\n")
    let module = modules.first { $0.contains("sink_name=\(sink) ") }?.prefix { $0.isNumber }
    guard let module else { throw TestFailure("no output \(sink)") }
    try control("unload-module", String(module))
  }

  private static func reader(of source: String, _ address: String) throws -> ChildProcess {
    try ChildProcess(
      ["parec", "--latency-msec=5", "--raw", "-d", source, "/dev/null"], environment: ["PULSE_SERVER": address])
  }

  /// Ends the server at once, as a crash would.
  package func kill() throws {
    server.signal(SIGKILL)
    _ = try server.wait()
  }
}
