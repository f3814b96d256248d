internal import CPulse
import SessionModel
import Threading

/// One record stream of a sound server. It belongs to the thread and the connection that it was made on.
final class PulseStream {
  let format: AudioFormat
  /// The server's name for the source.
  let deviceName: String
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

  /// What a stream listens to.
  enum Target {
    /// A source, by the server's name.
    case source(String)
    /// What one stream of an application plays, by the server's number. The stream is not touched.
    case playback(UInt32)

    var description: String {
      switch self {
      case .source(let name): AudioDevice.pulse(source: name).description
      case .playback(let number): "stream \(number)"
      }
    }
  }

  /// Opens `target` at the device's own rate.
  /// - Parameters:
  ///   - keepsChannels: whether all the device's channels are delivered, or two.
  ///   - explains: whether the error is to name what there is in its place.
  /// - Throws: `RecorderError` (unavailable) when the server has no such thing.
  init(
    _ target: Target, keepsChannels: Bool = false, explains: Bool = false, of connection: borrowing PulseConnection
  ) throws(RecorderError) {
    var wanted = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(AudioFormat.mix.sampleRate), channels: UInt8(AudioFormat.mix.channels))
    guard let stream = pa_stream_new(connection.context, "recording", &wanted, nil) else {
      throw PulseConnection.noMemory
    }
    do throws(RecorderError) {
      try Self.connect(stream, to: target, keepsChannels: keepsChannels, explains: explains, of: connection)
    } catch {
      pa_stream_disconnect(stream)
      pa_stream_unref(stream)
      throw error
    }
    // PA_STREAM_FIX_RATE made it the device's, whatever was asked.
    let spec = pa_stream_get_sample_spec(stream)?.pointee ?? wanted
    format = AudioFormat(sampleRate: Int(spec.rate), channels: Int(spec.channels))
    deviceName = pa_stream_get_device_name(stream).map { String(cString: $0) } ?? target.description
    clock = PulseStreamClock(
      bytesPerSecond: Int64(format.sampleRate * format.channels * MemoryLayout<Float>.stride))
    self.stream = stream
  }

  private static func connect(
    _ stream: OpaquePointer, to target: Target, keepsChannels: Bool, explains: Bool,
    of connection: borrowing PulseConnection
  ) throws(RecorderError) {
    let bytesPerSecond = AudioFormat.mix.sampleRate * AudioFormat.mix.channels * MemoryLayout<Float>.stride
    var attributes = pa_buffer_attr()
    (attributes.maxlength, attributes.tlength, attributes.prebuf, attributes.minreq) = (.max, .max, .max, .max)
    attributes.fragsize = UInt32(bytesPerSecond / piecesPerSecond)
    // ADJUST_LATENCY makes the device itself deliver that often. DONT_MOVE: when an output goes away, servers move those
    // who listen to it to the default input, and the microphone would be recorded in its place.
    let flags = pa_stream_flags(
      rawValue: PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_FIX_RATE.rawValue | PA_STREAM_DONT_MOVE.rawValue
        | (keepsChannels ? PA_STREAM_FIX_CHANNELS.rawValue : 0))
    let deadline = MonotonicClock.now() + PulseConnection.patience
    let status: Int32
    switch target {
    case .source(let name): status = pa_stream_connect_record(stream, name, &attributes, flags)
    case .playback(let number):
      // Its source is then the monitor of the output that the application plays on.
      guard pa_stream_set_monitor_stream(stream, number) >= 0 else {
        throw refused(target, explains: explains, connection)
      }
      status = pa_stream_connect_record(stream, nil, &attributes, flags)
    }
    guard status >= 0 else { throw refused(target, explains: explains, connection) }
    while pa_stream_get_state(stream) != PA_STREAM_READY {
      let isAlive = pa_stream_get_state(stream) == PA_STREAM_CREATING && connection.turn(until: deadline)
      if !isAlive { throw refused(target, explains: explains, connection) }
    }
  }

  private static func refused(
    _ target: Target, explains: Bool, _ connection: borrowing PulseConnection
  ) -> RecorderError {
    if pa_context_errno(connection.context) == Int32(PA_ERR_NOENTITY.rawValue) {
      return missing(target, explains: explains, connection)
    }
    return RecorderError(
      .unavailable, "The sound server does not deliver \(target.description) (\(connection.failure)).")
  }

  /// The error that says that there is no such thing.
  /// - Parameter explains: whether it is to name what there is in its place.
  static func missing(
    _ target: Target, explains: Bool = false, _ connection: borrowing PulseConnection
  ) -> RecorderError {
    guard case .source(let name) = target, !PulseDefaults.names.contains(name) else {
      return RecorderError(
        .unavailable, "The sound server has no source for \(target.description).",
        hint: "`pactl list short sources` lists them.")
    }
    let deadline = MonotonicClock.now() + PulseConnection.patience
    let there = explains ? PulseInventory(connection, until: deadline).devices.map(\.specification) : []
    return MissingDevice.error(AudioDevice.pulse(source: name).specification, among: Set(there))
  }

  deinit {
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
  }

  /// Whether the server still has the stream.
  var isAlive: Bool { pa_stream_get_state(stream) == PA_STREAM_READY }
  /// Whether the server has put the device to sleep.
  var isSuspended: Bool { pa_stream_is_suspended(stream) == 1 }

  /// Makes sure that there is sound to `take`.
  /// - Parameter deadline: until when the server may take to answer, in ns of `CLOCK_MONOTONIC`.
  /// - Returns: false when the server has sent none.
  func fetch(_ connection: borrowing PulseConnection, until deadline: Int64) -> Bool {
    if piece != nil { return true }
    while isAlive, pa_stream_readable_size(stream) > 0 {
      var (data, bytes): (UnsafeRawPointer?, Int) = (nil, 0)
      guard pa_stream_peek(stream, &data, &bytes) >= 0, bytes > 0 else { return false }
      if !date(connection, until: deadline) { return false }
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
  private func date(_ connection: borrowing PulseConnection, until deadline: Int64) -> Bool {
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

  /// Moves what was fetched to `block`.
  func take(into block: inout AudioBlock) {
    guard let (samples, frames, taken, time) = piece else { return }
    let count = min(frames - taken, AudioBlock.capacity / format.channels)
    block.samples.update(from: samples + taken * format.channels, count: count * format.channels)
    block.format = format
    block.frames = count
    block.time = time + Int64(taken) * 1_000_000_000 / Int64(format.sampleRate)
    (block.isBeginning, block.hole) = (isBeginning, hole)
    (block.part, block.isEnd) = (0, false)
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
