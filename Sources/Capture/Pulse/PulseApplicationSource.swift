package import SessionModel
import Threading

/// What one application plays, wherever it plays it: each of its streams on a PulseAudio or PipeWire server is listened
/// to by itself, and none is moved.
///
/// The blocks of each stream are a `part` of their own, since each has a clock of its own. Part 0 is silence that
/// passes while the server is there, so that an application that plays nothing is not taken for a lost device.
package struct PulseApplicationSource: ~Copyable, AudioSource {
  package let format = AudioFormat(sampleRate: AudioFormat.mix.sampleRate, channels: 1)
  package let deviceName: String
  package let isOutdated = false
  package let isMuted = false
  package private(set) var awaited: String?
  private let application: AudioApplication
  /// The streams that are listened to, by the server's numbers; a free place is nil.
  private var streams: [(number: UInt32, stream: PulseStream)?]
  private var mustLook = true
  /// When the silence began, and the frames of it so far.
  private let start = MonotonicClock.now()
  private var silentFrames: Int64 = 0
  private let connection: PulseConnection

  /// Begins to listen to `application`, whether it plays yet or not.
  /// - Parameter server: the server's address; nil is $PULSE_SERVER or the default.
  /// - Throws: `RecorderError` (unavailable) when no server answers.
  package init(_ application: AudioApplication, server: String? = nil) throws(RecorderError) {
    connection = try PulseConnection(server: server)
    self.application = application
    deviceName = AudioDevice.application(application).description
    streams = Array(repeating: nil, count: AudioBlock.parts - 1)
    let deadline = MonotonicClock.now() + PulseConnection.patience
    guard let playing = PulseApplications.ask(application, connection, until: deadline), playing.streams.isEmpty
    else { return }
    let others = Set(playing.others.map { "app:\($0)" })
    let told = MissingDevice.told(others, nearestTo: deviceName)
    let there = others.isEmpty ? "" : "; \(told) \(others.count == 1 ? "plays" : "play")"
    awaited = "\(deviceName) plays nothing yet\(there)."
  }

  package mutating func read(into block: inout AudioBlock, until deadline: Int64) throws(RecorderError) -> Bool {
    while true {
      try connection.checkAlive()
      look(until: deadline)
      if try passSilence(into: &block) { return true }
      if give(into: &block, until: deadline) { return true }
      if !connection.turn(until: min(deadline, nextSilence)), MonotonicClock.now() >= deadline {
        try connection.checkAlive()
        return false
      }
    }
  }

  package var outage: AudioHole { connection.isAlive ? .stalled : .serverLost }

  /// Gives the end of a stream that is over, or the next sound of one that is not.
  private mutating func give(into block: inout AudioBlock, until deadline: Int64) -> Bool {
    for index in streams.indices {
      guard let stream = streams[index]?.stream else { continue }
      if stream.fetch(connection, until: deadline) {
        stream.take(into: &block)
        (block.part, block.isEnd) = (index + 1, false)
        return true
      }
      guard !stream.isAlive else { continue }
      streams[index] = nil
      // It may have moved to another output, which ends what is listened to.
      mustLook = true
      (block.part, block.isEnd, block.frames) = (index + 1, true, 0)
      return true
    }
    return false
  }

  /// Listens to the application's streams that are new.
  private mutating func look(until deadline: Int64) {
    if connection.takeNews().streams { mustLook = true }
    guard mustLook, let playing = PulseApplications.ask(application, connection, until: deadline) else { return }
    mustLook = false
    for number in playing.streams where !streams.contains(where: { $0?.number == number }) {
      guard let place = streams.firstIndex(where: { $0 == nil }) else { return }
      // One that has ended meanwhile is none to listen to.
      guard let stream = try? PulseStream(.playback(number), of: connection) else { continue }
      streams[place] = (number, stream)
      awaited = nil
    }
  }

  // Nanoseconds of silence to a block: less than the 85 ms that fit into one, and than the mix stays behind the clock.
  private static let silence: Int64 = 50_000_000

  private var nextSilence: Int64 { start + silentFrames * 1_000_000_000 / Int64(format.sampleRate) + Self.silence }

  /// Gives the silence that has passed, a block of it at a time.
  /// - Throws: `RecorderError` (sourceLost) when the server is gone.
  private mutating func passSilence(into block: inout AudioBlock) throws(RecorderError) -> Bool {
    guard MonotonicClock.now() >= nextSilence else { return false }
    // A thread that was put aside must not take the time since the server ended for its silence.
    connection.catchUp()
    try connection.checkAlive()
    let rate = Int64(format.sampleRate)
    let passed = (MonotonicClock.now() - start) * rate / 1_000_000_000
    block.frames = Int(min(passed - silentFrames, Int64(AudioBlock.capacity)))
    block.samples.update(repeating: 0, count: block.frames)
    block.format = format
    block.time = start + silentFrames * 1_000_000_000 / rate
    (block.part, block.isEnd, block.hole) = (0, false, .none)
    block.isBeginning = silentFrames == 0
    silentFrames += Int64(block.frames)
    return true
  }
}
