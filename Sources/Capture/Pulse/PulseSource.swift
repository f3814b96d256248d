internal import CPulse
package import SessionModel
import Threading

/// A source of a PulseAudio or PipeWire server: a microphone, or the monitor of an output. One of the server's defaults
/// becomes outdated when the person chooses another.
package struct PulseSource: ~Copyable, AudioSource {
  package let format: AudioFormat
  package let deviceName: String
  package private(set) var isOutdated = false
  /// What was asked for: a name of the server, or of one of its defaults.
  private let name: String
  private let connection: PulseConnection
  private let stream: OpaquePointer
  /// The server's piece that is being read, with the frames already taken from it.
  private var piece: (samples: UnsafePointer<Float>, frames: Int, taken: Int, time: Int64)?
  private var isBeginning = true
  private var hole = AudioHole.none
  private var clock: PulseStreamClock
  private var lastSound: Int64 = 0
  private var lastQuestion: Int64 = 0
  /// Bytes taken from the stream, holes included.
  private var bytesRead: Int64 = 0

  /// Sound is asked for in pieces of 10 ms: small enough to mix early, large enough to wake a hundred times a second at
  /// most.
  private static let piecesPerSecond = 100

  /// Opens `source` (`@DEFAULT_MONITOR@` and `@DEFAULT_SOURCE@` are the server's defaults) at the device's own rate.
  /// - Parameter server: the server's address; nil is $PULSE_SERVER or the default.
  /// - Throws: `RecorderError` (unavailable) when no server answers or it has no such source.
  package init(source: String, server: String? = nil) throws(RecorderError) {
    let connection = try PulseConnection(server: server)
    var wanted = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(AudioFormat.mix.sampleRate), channels: UInt8(AudioFormat.mix.channels))
    guard let stream = pa_stream_new(connection.context, "recording", &wanted, nil) else {
      throw PulseConnection.noMemory
    }
    do throws(RecorderError) {
      try Self.connect(stream, to: source, of: connection)
    } catch {
      pa_stream_disconnect(stream)
      pa_stream_unref(stream)
      throw error
    }
    // PA_STREAM_FIX_RATE made it the device's, whatever was asked.
    let spec = pa_stream_get_sample_spec(stream)?.pointee ?? wanted
    format = AudioFormat(sampleRate: Int(spec.rate), channels: Int(spec.channels))
    deviceName = pa_stream_get_device_name(stream).map { String(cString: $0) } ?? source
    clock = PulseStreamClock(
      bytesPerSecond: Int64(format.sampleRate * format.channels * MemoryLayout<Float>.stride))
    name = source
    self.stream = stream
    self.connection = connection
  }

  private static func connect(
    _ stream: OpaquePointer, to source: String, of connection: borrowing PulseConnection
  ) throws(RecorderError) {
    let bytesPerSecond = AudioFormat.mix.sampleRate * AudioFormat.mix.channels * MemoryLayout<Float>.stride
    var attributes = pa_buffer_attr()
    (attributes.maxlength, attributes.tlength, attributes.prebuf, attributes.minreq) = (.max, .max, .max, .max)
    attributes.fragsize = UInt32(bytesPerSecond / piecesPerSecond)
    // ADJUST_LATENCY makes the device itself deliver that often. DONT_MOVE: when an output goes away, servers move those
    // who listen to it to the default input, and the microphone would be recorded in its place.
    let flags = PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_FIX_RATE.rawValue | PA_STREAM_DONT_MOVE.rawValue
    let deadline = MonotonicClock.now() + PulseConnection.patience
    guard pa_stream_connect_record(stream, source, &attributes, pa_stream_flags(rawValue: flags)) >= 0 else {
      throw refused(source, connection)
    }
    while pa_stream_get_state(stream) != PA_STREAM_READY {
      let isAlive = pa_stream_get_state(stream) == PA_STREAM_CREATING && connection.turn(until: deadline)
      if !isAlive { throw refused(source, connection) }
    }
  }

  private static func refused(_ source: String, _ connection: borrowing PulseConnection) -> RecorderError {
    let name = AudioDevice.pulse(source: source).description
    if pa_context_errno(connection.context) == Int32(PA_ERR_NOENTITY.rawValue) {
      return RecorderError(
        .unavailable, "The sound server has no source for \(name).", hint: "`pactl list short sources` lists them.")
    }
    return RecorderError(.unavailable, "The sound server does not deliver \(name) (\(connection.failure)).")
  }

  deinit {
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
  }

  package mutating func read(into block: inout AudioBlock, until deadline: Int64) throws(RecorderError) -> Bool {
    while true {
      if try fetch(until: deadline) {
        take(into: &block)
        return true
      }
      follow(until: deadline)
      if isOutdated { return false }
      guard connection.turn(until: deadline) else {
        try checkAlive()
        return false
      }
    }
  }

  private func checkAlive() throws(RecorderError) {
    guard connection.isAlive else {
      throw RecorderError(.sourceLost, "The sound server ended (\(connection.failure)).")
    }
    guard pa_stream_get_state(stream) == PA_STREAM_READY else {
      throw RecorderError(.sourceLost, "The sound server took \(deviceName.printable(atMost: 60)) away.")
    }
  }

  package var outage: AudioHole {
    if !connection.isAlive { return .serverLost }
    if pa_stream_get_state(stream) != PA_STREAM_READY { return .lost }
    return pa_stream_is_suspended(stream) == 1 ? .suspended : .stalled
  }

  /// Looks whether the name leads to another device now.
  private mutating func follow(until deadline: Int64) {
    guard connection.takeNews().defaults, let defaults = PulseDefaults.ask(connection, until: deadline),
      let now = defaults.source(called: name)
    else { return }
    isOutdated = now != deviceName
  }

  /// Makes sure that `piece` holds sound.
  /// - Returns: false when the server has sent none.
  private mutating func fetch(until deadline: Int64) throws(RecorderError) -> Bool {
    if piece != nil { return true }
    try checkAlive()
    while pa_stream_readable_size(stream) > 0 {
      var (data, bytes): (UnsafeRawPointer?, Int) = (nil, 0)
      guard pa_stream_peek(stream, &data, &bytes) >= 0, bytes > 0 else { return false }
      if try !date(until: deadline) { return false }
      let frames = bytes / (format.channels * MemoryLayout<Float>.stride)
      guard let data, frames > 0, let time = clock.time(ofByte: bytesRead) else {
        // The server's buffer ran over: libpulse gives a piece of the right length without data.
        bytesRead += Int64(bytes)
        pa_stream_drop(stream)
        hole = .overrun
        continue
      }
      piece = (data.assumingMemoryBound(to: Float.self), frames, 0, time)
      return true
    }
    return false
  }

  /// Keeps the stream's clock fresh: asks the server every 100 ms, and waits for the answer when sound has only just
  /// begun or begun again, since an output's distance changes when it wakes.
  /// - Returns: false when the server had not answered by `deadline`.
  private mutating func date(until deadline: Int64) throws(RecorderError) -> Bool {
    let now = MonotonicClock.now()
    let isFresh = now - lastSound < AudioBlock.longestPause
    if !isFresh && hole == .none && !isBeginning { hole = .stalled }
    lastSound = now
    if isFresh {
      if now - lastQuestion >= Self.questionInterval {
        lastQuestion = now
        if let question = pa_stream_update_timing_info(stream, nil, nil) { pa_operation_unref(question) }
      }
      clock.update(from: stream)
      return true
    }
    clock.reset()
    lastQuestion = now
    for _ in 0..<Self.firstQuestions {
      guard connection.wait(for: pa_stream_update_timing_info(stream, nil, nil), until: deadline) else {
        lastSound = 0
        try checkAlive()
        return false
      }
      clock.update(from: stream)
    }
    return true
  }

  // Enough for a median that one of them cannot spoil; each takes the server a fraction of a millisecond.
  private static let firstQuestions = 3
  // A device that drifts by 1000 ppm goes 0.1 ms astray in this time.
  private static let questionInterval: Int64 = 100_000_000

  /// Moves sound from `piece` to `block`.
  private mutating func take(into block: inout AudioBlock) {
    guard let (samples, frames, taken, time) = piece else { return }
    let count = min(frames - taken, AudioBlock.capacity / format.channels)
    block.samples.update(from: samples + taken * format.channels, count: count * format.channels)
    block.format = format
    block.frames = count
    block.time = time + Int64(taken) * 1_000_000_000 / Int64(format.sampleRate)
    (block.isBeginning, block.hole) = (isBeginning, hole)
    (isBeginning, hole) = (false, .none)
    if taken + count < frames {
      piece = (samples, frames, taken + count, time)
    } else {
      piece = nil
      bytesRead += Int64(frames * format.channels * MemoryLayout<Float>.stride)
      pa_stream_drop(stream)
    }
  }
}
