internal import CPulse
import Glibc
import Synchronization
import Threading

/// A client of a sound server that plays silence and, at times that were asked for, tones: the truth about when something
/// was heard, to hold a recording against. It uses what the server says of the stream's place, as a player does that
/// keeps picture and sound together.
package final class TimedPlayer: Sendable {
  /// A tone that was asked for, by its place among all.
  package struct Tone: Sendable { fileprivate let place: Int }

  private struct Wish: Sendable {
    let time: Int64
    let frequency: Double
    let amplitude: Float
    let seconds: Double
    /// Its first frame in the stream, once that is decided.
    var frame: Int64?
    /// When that was heard, by what the server said afterwards.
    var heard: Int64?
  }

  private final class State: Sendable {
    // The player never waits for these: who holds one may be put aside, and a hole would be torn.
    let wishes = Mutex<[Wish]>([])
    let heard = Mutex<[Int64?]>([])
    let isStopping = Atomic<Bool>(false)
    let isReady = Atomic<Bool>(false)
  }
  private let state = State()
  private let thread: WorkerThread

  /// Begins to play silence on `sink` of `server`; returns when it is heard.
  package init(_ server: SoundServer, sink: String = "desktop") throws {
    let (state, address) = (state, server.address)
    thread = try WorkerThread(name: "player") {
      preferToOthers(0)
      var loop = TimedPlayerLoop(address: address, sink: sink)
      loop?.run(state)
    }
    try waitUntil("the player") { state.isReady.load(ordering: .relaxed) }
  }

  deinit {
    state.isStopping.store(true, ordering: .relaxed)
    thread.join()
  }

  /// Plays a tone that is to be heard at `time`, ns of `CLOCK_MONOTONIC`, at least half a second from now.
  @discardableResult
  package func play(_ frequency: Double, amplitude: Float = 0.5, seconds: Double = 0.2, at time: Int64) -> Tone {
    state.wishes.withLock {
      $0.append(Wish(time: time, frequency: frequency, amplitude: amplitude, seconds: seconds))
      return Tone(place: $0.count - 1)
    }
  }

  /// Waits until `tone` is over.
  /// - Returns: when it began to be heard, in ns of `CLOCK_MONOTONIC`: on a busy machine later than was asked for.
  package func heard(_ tone: Tone) throws -> Int64 {
    func time() -> Int64? { state.heard.withLock { $0.count > tone.place ? $0[tone.place] : nil } }
    try waitUntil("the tone to be over") { time() != nil }
    return time() ?? 0
  }

  /// The player's thread.
  private struct TimedPlayerLoop: ~Copyable {
    let loop: OpaquePointer
    let context: OpaquePointer
    let stream: OpaquePointer
    var written: Int64 = 0
    /// What was asked for so far, and what became of it.
    var wishes: [Wish] = []
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
          _ = state.wishes.withLockIfAvailable { asked in wishes += asked[wishes.count...] }
          var samples = sound(frames)
          _ = state.heard.withLockIfAvailable { heard in heard = wishes.map(\.heard) }
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

    /// The next `frames` of the stream.
    private mutating func sound(_ frames: Int) -> [Float] {
      var samples = [Float](repeating: 0, count: frames)
      guard origins.count == 5 else { return samples }
      let origin = origins.sorted()[2]
      let part = written..<written + Int64(frames)
      for index in wishes.indices {
        let due = Int64(Double(wishes[index].time - origin) / 1e9 * Self.rate)
        if wishes[index].frame == nil, due < part.upperBound { wishes[index].frame = max(due, part.lowerBound) }
        guard let first = wishes[index].frame else { continue }
        let (tone, end) = (wishes[index], first + Int64(wishes[index].seconds * Self.rate))
        for frame in part.clamped(to: first..<max(first, end)) {
          let age = Double(frame - first) / Self.rate
          samples[Int(frame - part.lowerBound)] += tone.amplitude * Float(cos(2 * .pi * tone.frequency * age))
        }
        // All five statements have been made since then.
        let over = origin + Int64(Double(end) / Self.rate * 1e9) + Self.settling
        if tone.heard == nil, MonotonicClock.now() > over {
          wishes[index].heard = origin + Int64(Double(first) / Self.rate * 1e9)
        }
      }
      return samples
    }

    // Nanoseconds in which five pieces are asked for, and the server asked about each.
    private static let settling: Int64 = 200_000_000
  }
}
