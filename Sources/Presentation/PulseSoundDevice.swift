internal import CPulse
internal import SessionModel
import Threading

/// The default output of a PulseAudio server, or of PipeWire's stand-in for one.
struct PulseSoundDevice: ~Copyable, SoundDevice {
  private let mainLoop: OpaquePointer
  private let context: OpaquePointer
  private let stream: OpaquePointer
  private let wakeEvent: OpaquePointer?
  private var isRunning = false

  /// How long a server may take to answer, in ns: a local one takes some ms.
  private static let patience: Int64 = 3_000_000_000

  /// Connects to the default server and opens a stream that stands still.
  /// - Parameter wake: ends `wait`.
  /// - Throws: `RecorderError` (unavailable) when there is no server, or none that answers.
  init(wake: WakeSignal) throws(RecorderError) {
    guard let mainLoop = pa_mainloop_new(), let api = pa_mainloop_get_api(mainLoop),
      let context = pa_context_new(api, "recorder")
    else { throw Self.failure("no memory") }
    var format = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(AudioFormat.mix.sampleRate), channels: UInt8(AudioFormat.mix.channels))
    var opened = false
    defer {
      if !opened {
        pa_context_disconnect(context)
        pa_context_unref(context)
        pa_mainloop_free(mainLoop)
      }
    }
    let deadline = MonotonicClock.now() + Self.patience
    guard pa_context_connect(context, nil, PA_CONTEXT_NOAUTOSPAWN, nil) >= 0 else { throw Self.failure(context) }
    while pa_context_get_state(context) != PA_CONTEXT_READY {
      guard Self.isGood(pa_context_get_state(context)) else { throw Self.failure(context) }
      try Self.iterate(mainLoop, until: deadline)
    }
    guard let stream = pa_stream_new(context, "replay", &format, nil) else { throw Self.failure(context) }
    defer { if !opened { pa_stream_unref(stream) } }
    // The first argument of the server's own choosing is written as all ones (pa_buffer_attr).
    var buffer = pa_buffer_attr(
      maxlength: .max, tlength: UInt32(SoundTiming.bufferFrames * Self.bytesPerFrame), prebuf: .max, minreq: .max,
      fragsize: .max)
    let flags =
      PA_STREAM_START_CORKED.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_INTERPOLATE_TIMING.rawValue
      | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
    guard pa_stream_connect_playback(stream, nil, &buffer, pa_stream_flags_t(rawValue: flags), nil, nil) >= 0 else {
      throw Self.failure(context)
    }
    while pa_stream_get_state(stream) != PA_STREAM_READY {
      guard pa_stream_get_state(stream) == PA_STREAM_CREATING else { throw Self.failure(context) }
      try Self.iterate(mainLoop, until: deadline)
    }
    // The signal's descriptor ends the loop's poll; who waits drains it.
    wakeEvent = api.pointee.io_new(api, wake.fileDescriptor, PA_IO_EVENT_INPUT, { _, _, _, _, _ in }, nil)
    (self.mainLoop, self.context, self.stream) = (mainLoop, context, stream)
    opened = true
  }

  deinit {
    if let wakeEvent, let api = pa_mainloop_get_api(mainLoop) { api.pointee.io_free(wakeEvent) }
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
    pa_context_disconnect(context)
    pa_context_unref(context)
    pa_mainloop_free(mainLoop)
  }

  private static let bytesPerFrame = AudioFormat.mix.channels * MemoryLayout<Float>.size

  mutating func start() throws(RecorderError) {
    isRunning = true
    try finish(pa_stream_cork(stream, 0, nil, nil))
  }

  mutating func stop() throws(RecorderError) {
    isRunning = false
    try finish(pa_stream_cork(stream, 1, nil, nil))
    try finish(pa_stream_flush(stream, nil, nil))
    // The flush moved the write index: a latency from before would count what is no longer there.
    try finish(pa_stream_update_timing_info(stream, nil, nil))
  }

  mutating func writableFrames() throws(RecorderError) -> Int {
    let bytes = pa_stream_writable_size(stream)
    guard bytes != .max else { throw Self.failure(context) }
    return bytes / Self.bytesPerFrame
  }

  mutating func write(_ samples: UnsafeBufferPointer<Float>) throws(RecorderError) {
    let bytes = samples.count * MemoryLayout<Float>.size
    guard pa_stream_write(stream, samples.baseAddress, bytes, nil, 0, PA_SEEK_RELATIVE) >= 0 else {
      throw Self.failure(context)
    }
  }

  mutating func latencyFrames() -> Int? {
    var (microseconds, isNegative) = (pa_usec_t(0), Int32(0))
    guard pa_stream_get_latency(stream, &microseconds, &isNegative) >= 0 else { return nil }
    let frames = Int(clamping: microseconds) * AudioFormat.mix.sampleRate / 1_000_000
    return isNegative == 0 ? frames : -frames
  }

  mutating func wait() throws(RecorderError) {
    try Self.iterate(
      mainLoop, until: isRunning ? MonotonicClock.now() + Int64(SoundTiming.pollMilliseconds) * 1_000_000 : nil)
    guard pa_stream_get_state(stream) == PA_STREAM_READY else { throw Self.failure(context) }
  }

  /// Lets the server answer `operation`.
  private func finish(_ operation: OpaquePointer?) throws(RecorderError) {
    guard let operation else { throw Self.failure(context) }
    defer { pa_operation_unref(operation) }
    let deadline = MonotonicClock.now() + Self.patience
    while pa_operation_get_state(operation) == PA_OPERATION_RUNNING {
      guard MonotonicClock.now() < deadline else { throw Self.failure("it does not answer") }
      try Self.iterate(mainLoop, until: deadline)
    }
  }

  /// Waits for one thing to happen and handles it; a deadline in ns of CLOCK_MONOTONIC, nil waits for ever.
  private static func iterate(_ mainLoop: OpaquePointer, until deadline: Int64?) throws(RecorderError) {
    let microseconds = deadline.map { Int32(clamping: max(0, $0 - MonotonicClock.now()) / 1000) } ?? -1
    guard pa_mainloop_prepare(mainLoop, microseconds) >= 0, pa_mainloop_poll(mainLoop) >= 0,
      pa_mainloop_dispatch(mainLoop) >= 0
    else { throw failure("its loop ended") }
  }

  private static func isGood(_ state: pa_context_state_t) -> Bool {
    state != PA_CONTEXT_FAILED && state != PA_CONTEXT_TERMINATED
  }

  private static func failure(_ context: OpaquePointer) -> RecorderError {
    failure(pa_strerror(pa_context_errno(context)).map { String(cString: $0) } ?? "unknown")
  }

  private static func failure(_ reason: String) -> RecorderError {
    RecorderError(
      .unavailable, "The sound server cannot be used: \(reason).", hint: "See that PulseAudio or PipeWire runs.")
  }
}
