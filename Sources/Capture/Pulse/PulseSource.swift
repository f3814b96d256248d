package import SessionModel

/// A source of a PulseAudio or PipeWire server: a microphone, or the monitor of an output. One of the server's defaults
/// becomes outdated when the person chooses another.
package struct PulseSource: ~Copyable, AudioSource {
  package private(set) var isOutdated = false
  package private(set) var isMuted = false
  /// What was asked for: a name of the server, or of one of its defaults.
  private let name: String
  private let stream: PulseStream
  private let connection: PulseConnection

  /// Opens `source` (`@DEFAULT_MONITOR@` and `@DEFAULT_SOURCE@` are the server's defaults) at the device's own rate.
  /// - Parameter server: the server's address; nil is $PULSE_SERVER or the default.
  /// - Throws: `RecorderError` (unavailable) when no server answers or it has no such source.
  package init(source: String, server: String? = nil) throws(RecorderError) {
    let connection = try PulseConnection(server: server)
    stream = try PulseStream(.source(source), of: connection)
    isMuted = PulseMute.ask(stream.deviceName, connection) ?? false
    name = source
    self.connection = connection
  }

  package var format: AudioFormat { stream.format }
  package var deviceName: String { stream.deviceName }

  package mutating func read(into block: inout AudioBlock, until deadline: Int64) throws(RecorderError) -> Bool {
    while true {
      if stream.fetch(connection, until: deadline) {
        stream.take(into: &block)
        return true
      }
      try checkAlive()
      learn(until: deadline)
      if isOutdated { return false }
      guard connection.turn(until: deadline) else {
        try checkAlive()
        return false
      }
    }
  }

  private func checkAlive() throws(RecorderError) {
    try connection.checkAlive()
    guard stream.isAlive else {
      throw RecorderError(.sourceLost, "The sound server took \(deviceName.printable(atMost: 60)) away.")
    }
  }

  package var outage: AudioHole {
    if !connection.isAlive { return .serverLost }
    return !stream.isAlive ? .lost : stream.isSuspended ? .suspended : .stalled
  }

  /// Looks whether the name leads to another device now, and whether the device was muted.
  private mutating func learn(until deadline: Int64) {
    let news = connection.takeNews()
    if news.devices { isMuted = PulseMute.ask(deviceName, connection) ?? isMuted }
    guard news.defaults, let defaults = PulseDefaults.ask(connection, until: deadline),
      let now = defaults.source(called: name)
    else { return }
    isOutdated = now != deviceName
  }
}
