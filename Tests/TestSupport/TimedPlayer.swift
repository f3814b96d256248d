internal import CPulse
import Glibc
import Synchronization
import Threading

/// A client of a sound server that plays silence and, at times that were asked for, tones: the truth about when something
/// was heard, to hold a recording against. It uses what the server says of the stream's place, as a player does that
/// keeps picture and sound together.
package final class TimedPlayer: Sendable {
  private struct Tone: Sendable {
    let time: Int64
    let frequency: Double
    let amplitude: Float
    let seconds: Double
  }

  private final class State: Sendable {
    let tones = Mutex<[Tone]>([])
    let isStopping = Atomic<Bool>(false)
    let isReady = Atomic<Bool>(false)
  }
  private let state = State()
  private let thread: WorkerThread

  /// Begins to play silence on `sink` of `server`; returns when it is heard.
  package init(_ server: SoundServer, sink: String = "desktop") throws {
    let (state, address) = (state, server.address)
    thread = try WorkerThread(name: "player") {
      var loop = TimedPlayerLoop(address: address, sink: sink)
      loop?.run(state)
    }
    try waitUntil("the player") { state.isReady.load(ordering: .relaxed) }
  }

  deinit {
    state.isStopping.store(true, ordering: .relaxed)
    thread.join()
  }

  /// Plays a tone that is first heard at `time`, ns of `CLOCK_MONOTONIC`, at least half a second from now.
  package func play(_ frequency: Double, amplitude: Float = 0.5, seconds: Double = 0.2, at time: Int64) {
    state.tones.withLock {
      $0.append(Tone(time: time, frequency: frequency, amplitude: amplitude, seconds: seconds))
    }
  }

  /// The player's thread.
  private struct TimedPlayerLoop: ~Copyable {
    let loop: OpaquePointer
    let context: OpaquePointer
    let stream: OpaquePointer
    var written: Int64 = 0
    /// When frame 0 was heard, by each of the server's last statements.
    var origins: [Int64] = []
    static let rate = 48_000.0

    init?(address: String, sink: String) {
      guard let loop = pa_mainloop_new(), let context = pa_context_new(pa_mainloop_get_api(loop), "player")
      else { return nil }
      pa_context_connect(context, address, PA_CONTEXT_NOAUTOSPAWN, nil)
      while pa_context_get_state(context) != PA_CONTEXT_READY {
        guard pa_context_get_state(context) != PA_CONTEXT_FAILED, pa_mainloop_iterate(loop, 1, nil) >= 0
        else { return nil }
      }
      var format = pa_sample_spec(format: PA_SAMPLE_FLOAT32LE, rate: 48_000, channels: 1)
      guard let stream = pa_stream_new(context, "tones", &format, nil) else { return nil }
      // A fifth of a second ahead: a busy machine tears no hole.
      var buffer = pa_buffer_attr(maxlength: .max, tlength: 38_400, prebuf: .max, minreq: 1920, fragsize: .max)
      pa_stream_connect_playback(stream, sink, &buffer, PA_STREAM_ADJUST_LATENCY, nil, nil)
      while pa_stream_get_state(stream) != PA_STREAM_READY {
        guard pa_stream_get_state(stream) == PA_STREAM_CREATING, pa_mainloop_iterate(loop, 1, nil) >= 0
        else { return nil }
      }
      (self.loop, self.context, self.stream) = (loop, context, stream)
    }

    deinit {
      pa_stream_disconnect(stream)
      pa_stream_unref(stream)
      pa_context_disconnect(context)
      pa_context_unref(context)
      pa_mainloop_free(loop)
    }

    mutating func run(_ state: State) {
      while !state.isStopping.load(ordering: .relaxed), pa_stream_get_state(stream) == PA_STREAM_READY {
        let frames = pa_stream_writable_size(stream) / 4
        if frames > 0 && frames < Int.max / 4 {
          ask()
          let tones = state.tones.withLock { $0 }
          var samples = (0..<frames).map { sample(at: written + Int64($0), tones) }
          pa_stream_write(stream, &samples, samples.count * 4, nil, 0, PA_SEEK_RELATIVE)
          written += Int64(frames)
          // The buffer is full once, and its clock has been asked a few times since.
          if origins.count == 5 { state.isReady.store(true, ordering: .relaxed) }
        }
        guard pa_mainloop_prepare(loop, 10_000) >= 0, pa_mainloop_poll(loop) >= 0, pa_mainloop_dispatch(loop) >= 0
        else { return }
      }
    }

    /// Asks the server which frame is heard now.
    private mutating func ask() {
      guard let question = pa_stream_update_timing_info(stream, nil, nil) else { return }
      while pa_operation_get_state(question) == PA_OPERATION_RUNNING, pa_mainloop_iterate(loop, 1, nil) >= 0 {}
      pa_operation_unref(question)
      guard var info = pa_stream_get_timing_info(stream)?.pointee, info.playing != 0 else { return }
      let age = Int64(pa_timeval_age(&info.timestamp))
      let heard = Double(info.read_index) / 4 / Self.rate * 1e9 - Double(info.sink_usec) * 1000
      origins.append(MonotonicClock.now() - age * 1000 - Int64(heard))
      if origins.count > 5 { origins.removeFirst() }
    }

    private func sample(at frame: Int64, _ tones: [Tone]) -> Float {
      guard origins.count == 5 else { return 0 }
      let time = origins.sorted()[2] + Int64(Double(frame) / Self.rate * 1e9)
      for tone in tones {
        let age = Double(time - tone.time) / 1e9
        if age >= 0, age < tone.seconds { return tone.amplitude * Float(cos(2 * .pi * tone.frequency * age)) }
      }
      return 0
    }
  }
}
