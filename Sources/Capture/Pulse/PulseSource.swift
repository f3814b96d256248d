package import SessionModel
import Threading

/// A source of a PulseAudio or PipeWire server: a microphone, or the monitor of an output. One of the server's defaults
/// becomes outdated when the person chooses another.
package struct PulseSource: ~Copyable, AudioSource {
  package private(set) var isOutdated = false
  package private(set) var isMuted = false
  /// What was asked for, when it is the name of one of the server's defaults, and the source that it led to.
  private let followed: (name: String, source: String)?
  private let stream: PulseStream
  private let connection: PulseConnection

  /// Opens `source` (`@DEFAULT_MONITOR@` and `@DEFAULT_SOURCE@` are the server's defaults) at the device's own rate.
  /// - Parameters:
  ///   - channel: the one channel of it that is wanted, from 1; nil is all of them.
  ///   - server: the server's address; nil is $PULSE_SERVER or the default.
  ///   - explains: whether the error is to name what there is in its place.
  /// - Throws: `RecorderError` (unavailable) when no server answers or it has no such source.
  package init(
    source: String, channel: Int? = nil, server: String? = nil, explains: Bool = false
  ) throws(RecorderError) {
    let connection = try PulseConnection(server: server)
    var (name, followed) = (source, (name: String, source: String)?.none)
    if PulseDefaults.names.contains(source) {
      name = try Self.source(behind: source, connection)
      followed = (source, name)
    }
    // Folded into two channels, none is there by itself.
    stream = try PulseStream(.source(name), keepsChannels: channel != nil, explains: explains, of: connection)
    self.followed = followed
    isMuted = PulseMute.ask(stream.deviceName, connection) ?? false
    self.connection = connection
  }

  /// The source that one of the names for a default leads to. A stream is never opened by that name: PipeWire's server
  /// looks for a device that is called so, finds none, and has the stream listen to another one.
  private static func source(
    behind name: String, _ connection: borrowing PulseConnection
  ) throws(RecorderError) -> String {
    let defaults = PulseDefaults.ask(connection, until: MonotonicClock.now() + PulseConnection.patience)
    guard let source = defaults?.source(called: name) else { throw PulseStream.missing(.source(name), connection) }
    return source
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
    guard let followed, news.defaults, let defaults = PulseDefaults.ask(connection, until: deadline),
      let now = defaults.source(called: followed.name)
    else { return }
    isOutdated = now != followed.source
  }
}
