internal import CPulse
import SessionModel
import Threading

/// A connection to a sound server with a main loop of its own that turns only when its owner says so: libpulse starts no
/// thread and calls nothing back.
struct PulseConnection: ~Copyable {
  /// How long a server may take to answer, in ns: a local one needs a few ms, a busy machine a few hundred.
  static let patience: Int64 = 3_000_000_000

  private let loop: OpaquePointer
  let context: OpaquePointer
  /// Written by libpulse while the loop turns.
  private let news: UnsafeMutablePointer<PulseNews>

  /// Connects, and has the server tell of changes from then on.
  /// - Parameter server: the server's address; nil is $PULSE_SERVER or the default.
  /// - Throws: `RecorderError` (unavailable) when no server answers.
  init(server: String?) throws(RecorderError) {
    guard let loop = pa_mainloop_new() else { throw Self.noMemory }
    guard let context = pa_context_new(pa_mainloop_get_api(loop), "recorder") else {
      pa_mainloop_free(loop)
      throw Self.noMemory
    }
    let news = UnsafeMutablePointer<PulseNews>.allocate(capacity: 1)
    news.initialize(to: PulseNews())
    do throws(RecorderError) {
      try Self.connect(context, to: server, loop: loop)
    } catch {
      Self.free(context, loop: loop)
      news.deallocate()
      throw error
    }
    PulseNews.subscribe(context, news)
    (self.loop, self.context, self.news) = (loop, context, news)
  }

  deinit {
    Self.free(context, loop: loop)
    news.deallocate()
  }

  /// What the server has told of since the last call.
  func takeNews() -> PulseNews {
    defer { news.pointee = PulseNews() }
    return news.pointee
  }

  private static func connect(
    _ context: OpaquePointer, to server: String?, loop: OpaquePointer
  ) throws(RecorderError) {
    // Without the flag libpulse would start a server where there is none.
    guard pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) >= 0 else { throw noServer(context) }
    let deadline = MonotonicClock.now() + patience
    while pa_context_get_state(context) != PA_CONTEXT_READY {
      let hasFailed = [PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED].contains(pa_context_get_state(context))
      if hasFailed || !turn(loop, until: deadline) { throw noServer(context) }
    }
  }

  private static func free(_ context: OpaquePointer, loop: OpaquePointer) {
    pa_context_disconnect(context)
    pa_context_unref(context)
    pa_mainloop_free(loop)
  }

  /// Waits for the server until `deadline` (ns of `CLOCK_MONOTONIC`) and does what it asks.
  /// - Returns: false when the deadline has passed, or the loop cannot go on.
  func turn(until deadline: Int64) -> Bool { Self.turn(loop, until: deadline) }

  /// Does what the server has asked by now, without waiting.
  func catchUp() { while pa_mainloop_iterate(loop, 0, nil) > 0 {} }

  private static func turn(_ loop: OpaquePointer, until deadline: Int64) -> Bool {
    let remaining = deadline - MonotonicClock.now()
    guard remaining > 0 else { return false }
    // Microseconds, rounded up: rounded down the last one would be spun away.
    let timeout = Int32(clamping: (remaining + 999) / 1000)
    return pa_mainloop_prepare(loop, timeout) >= 0 && pa_mainloop_poll(loop) >= 0 && pa_mainloop_dispatch(loop) >= 0
  }

  /// Waits until `operation` is over, and frees it.
  /// - Returns: whether it is, before `deadline`.
  func wait(for operation: OpaquePointer?, until deadline: Int64) -> Bool {
    guard let operation else { return false }
    defer {
      // What comes later must not be written to where the caller no longer is.
      if pa_operation_get_state(operation) == PA_OPERATION_RUNNING { pa_operation_cancel(operation) }
      pa_operation_unref(operation)
    }
    while pa_operation_get_state(operation) == PA_OPERATION_RUNNING {
      if !turn(until: deadline) { return false }
    }
    return pa_operation_get_state(operation) == PA_OPERATION_DONE
  }

  /// Whether the server is still there.
  var isAlive: Bool { pa_context_get_state(context) == PA_CONTEXT_READY }

  /// - Throws: `RecorderError` (sourceLost) when it is not.
  func checkAlive() throws(RecorderError) {
    guard isAlive else { throw RecorderError(.sourceLost, "The sound server ended (\(failure)).") }
  }

  /// libpulse's words for the last failure.
  var failure: String { Self.failure(context) }

  private static func failure(_ context: OpaquePointer) -> String {
    pa_strerror(pa_context_errno(context)).map { String(cString: $0) } ?? "unknown"
  }

  private static func noServer(_ context: OpaquePointer) -> RecorderError {
    RecorderError(
      .unavailable, "No sound server answers (\(failure(context))).",
      hint: "Start PulseAudio or PipeWire with its pulse server, or name an ALSA device as alsa:PCM.")
  }

  static let noMemory = RecorderError(.systemCall, "There is no memory left for sound.")
}
