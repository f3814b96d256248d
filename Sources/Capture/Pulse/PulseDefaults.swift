internal import CPulse

/// The default devices of a sound server.
struct PulseDefaults {
  /// The names that lead to them.
  static let names = [AudioDevice.defaultMonitorName, AudioDevice.defaultSourceName]

  private var sink = ""
  private var source = ""

  /// Asks the server of `connection`.
  /// - Returns: nil when it had not answered by `deadline` (ns of `CLOCK_MONOTONIC`).
  static func ask(_ connection: borrowing PulseConnection, until deadline: Int64) -> PulseDefaults? {
    var defaults = PulseDefaults()
    let hasAnswered = withUnsafeMutablePointer(to: &defaults) { defaults in
      let question = pa_context_get_server_info(
        connection.context,
        { _, answer, defaults in
          guard let answer = answer?.pointee, let defaults = defaults?.assumingMemoryBound(to: PulseDefaults.self)
          else { return }
          defaults.pointee.sink = answer.default_sink_name.map { String(cString: $0) } ?? ""
          defaults.pointee.source = answer.default_source_name.map { String(cString: $0) } ?? ""
        }, defaults)
      return connection.wait(for: question, until: deadline)
    }
    return hasAnswered ? defaults : nil
  }

  /// The source that `name` leads to, when it is one of the names for a default; nil when it is none, or there is none.
  func source(called name: String) -> String? {
    switch name {
    // Every server calls an output's monitor so.
    case AudioDevice.defaultMonitorName where isDevice(sink): "\(sink).monitor"
    case AudioDevice.defaultSourceName where isDevice(source): source
    default: nil
    }
  }

  /// Whether `name` is a device's: PipeWire's server tells `@DEFAULT_SINK@` while its session manager has chosen none.
  private func isDevice(_ name: String) -> Bool { !name.isEmpty && !name.hasPrefix("@") }
}
