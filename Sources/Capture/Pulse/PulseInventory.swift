internal import CPulse

/// What a sound server offers to record.
struct PulseInventory {
  private(set) var devices: [DesktopInventory.SoundDevice] = []
  private(set) var players: [DesktopInventory.Player] = []

  /// Asks the server of `connection`; what has not been answered by `deadline` (ns of `CLOCK_MONOTONIC`) is not there.
  init(_ connection: borrowing PulseConnection, until deadline: Int64) {
    let answers = Answers()
    let pointer = Unmanaged.passUnretained(answers).toOpaque()
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

  /// What the answers are gathered in, an item a call.
  private final class Answers {
    var devices: [DesktopInventory.SoundDevice] = []
    var players: [DesktopInventory.Player] = []

    static func of(_ pointer: UnsafeMutableRawPointer?) -> Answers? {
      pointer.map { Unmanaged<Answers>.fromOpaque($0).takeUnretainedValue() }
    }
  }
}
