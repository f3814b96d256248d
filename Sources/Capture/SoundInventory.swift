internal import CALSA
internal import CPulse
import Glibc
import SessionModel
import Threading

/// What a machine's sound server and ALSA offer to record.
struct SoundInventory {
  private(set) var devices: [DesktopInventory.SoundDevice] = []
  private(set) var players: [DesktopInventory.Player] = []

  /// Asks both; what does not answer offers nothing.
  init() {
    askPulse()
    askALSA()
  }

  /// What the sound server's answers are gathered in, an item a call.
  private final class Answers {
    var devices: [DesktopInventory.SoundDevice] = []
    var players: [DesktopInventory.Player] = []

    static func of(_ pointer: UnsafeMutableRawPointer?) -> Answers? {
      pointer.map { Unmanaged<Answers>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  private mutating func askPulse() {
    guard let connection = try? PulseConnection(server: nil) else { return }
    let answers = Answers()
    let pointer = Unmanaged.passUnretained(answers).toOpaque()
    let deadline = MonotonicClock.now() + PulseConnection.patience
    let sources = pa_context_get_source_info_list(
      connection.context,
      { _, source, _, pointer in
        guard let source = source?.pointee, let name = source.name else { return }
        Answers.of(pointer)?.devices.append(
          DesktopInventory.SoundDevice(
            specification: "pulse:\(String(cString: name))",
            description: source.description.map { String(cString: $0) } ?? "",
            isMonitor: source.monitor_of_sink != UInt32.max))
      }, pointer)
    _ = connection.wait(for: sources, until: deadline)
    let inputs = pa_context_get_sink_input_info_list(
      connection.context,
      { _, input, _, pointer in
        guard let input = input?.pointee else { return }
        func property(_ key: String) -> String? { pa_proplist_gets(input.proplist, key).map { String(cString: $0) } }
        Answers.of(pointer)?.players.append(
          DesktopInventory.Player(
            name: property(PA_PROP_APPLICATION_NAME) ?? input.name.map { String(cString: $0) } ?? "",
            pid: property(PA_PROP_APPLICATION_PROCESS_ID).flatMap { Int($0) }, isPaused: input.corked != 0))
      }, pointer)
    _ = connection.wait(for: inputs, until: deadline)
    withExtendedLifetime(answers) { (devices, players) = ($0.devices, $0.players) }
  }

  private mutating func askALSA() {
    recorder_alsa_silence()
    var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard snd_device_name_hint(-1, "pcm", &hints) == 0, let hints else { return }
    defer { snd_device_name_free_hint(hints) }
    var next = hints
    while let hint = next.pointee {
      next += 1
      func text(_ key: String) -> String? {
        guard let value = snd_device_name_get_hint(hint, key) else { return nil }
        defer { free(value) }
        return String(cString: value)
      }
      // No IOID is both directions. "null" has no clock and records nothing.
      guard let name = text("NAME"), name != "null", text("IOID") != "Output" else { continue }
      let words = (text("DESC") ?? "").split(separator: "\n").joined(separator: ", ")
      devices.append(
        DesktopInventory.SoundDevice(specification: "alsa:\(name)", description: words, isMonitor: false))
    }
  }
}
