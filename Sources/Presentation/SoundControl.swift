internal import SessionModel
import Synchronization
import Threading

/// What a sound output and its thread tell each other.
final class SoundControl: Sendable {
  /// What the thread is to do.
  struct Orders {
    /// Counts the wishes, so that the thread sees a new one.
    var number = 0
    /// Where to play from; nil stands still.
    var from: Timestamp?
    /// 0 to 1.
    var volume: Float
  }

  private struct State {
    var orders: Orders
    var isEnding = false
    var hasPlayed = false
    /// The latest measurement: of which wish, frames heard and written since it, and when, in ns of CLOCK_MONOTONIC.
    var measured = (wish: 0, heard: 0, written: 0, at: Int64(0))
    /// When sound was last seen to move, in ns of CLOCK_MONOTONIC.
    var movedAt: Int64 = 0
    /// The latest position told for this wish, which never goes back.
    var told = Timestamp.zero
    var failure: RecorderError?
  }

  /// A device that has not moved for so long, in ns, is taken for lost; a Bluetooth one may take 2 s to wake.
  private static let patience: Int64 = 3_000_000_000

  /// Wakes the thread to a new wish.
  let wake: WakeSignal
  private let state: Mutex<State>

  /// Stands still at `volume`.
  init(volume: Double) throws(RecorderError) {
    wake = try WakeSignal()
    state = Mutex(State(orders: Orders(volume: Self.clamped(volume))))
  }

  private static func clamped(_ volume: Double) -> Float { Float(min(max(volume, 0), 1)) }

  // MARK: - The player's side

  /// Asks to play from `time`, or to stand still.
  func wish(from time: Timestamp?) {
    let now = MonotonicClock.now()
    state.withLock { state in
      state.orders.number += 1
      state.orders.from = time
      state.movedAt = now
      state.told = time ?? .zero
    }
    wake.notify()
  }

  /// Sets the volume of what is written from now on.
  func setVolume(_ volume: Double) { state.withLock { $0.orders.volume = Self.clamped(volume) } }

  /// Ends the thread.
  func end() {
    state.withLock { $0.isEnding = true }
    wake.notify()
  }

  /// Why there is no sound.
  var failure: RecorderError? { state.withLock { $0.failure } }

  /// The session's time that is heard at `now`.
  func position(at now: Int64) -> Timestamp? {
    state.withLock { state in
      guard state.failure == nil, let from = state.orders.from else { return nil }
      guard now - state.movedAt < Self.patience else {
        state.failure = RecorderError(
          .unavailable, "The sound output stands still.", hint: "See that it is not suspended.")
        return nil
      }
      let measured = state.measured
      guard measured.wish == state.orders.number, measured.heard > 0 else { return from }
      // Between two measurements sound goes on, but never past what was written.
      let heard = min(
        Self.nanoseconds(measured.heard) + max(0, now - measured.at), Self.nanoseconds(measured.written))
      state.told = max(state.told, from + heard)
      return state.told
    }
  }

  private static func nanoseconds(_ frames: Int) -> Int64 {
    Int64(frames) * 1_000_000_000 / Int64(AudioFormat.mix.sampleRate)
  }

  // MARK: - The thread's side

  /// What to do now; nil is to end.
  func orders() -> Orders? {
    wake.drain()
    return state.withLock { $0.isEnding ? nil : $0.orders }
  }

  /// Whether sound was ever heard.
  var hasPlayed: Bool { state.withLock { $0.hasPlayed } }

  /// Tells that `heard` of `written` frames have been heard since the wish of that number.
  func measure(wish: Int, heard: Int, written: Int) {
    let now = MonotonicClock.now()
    state.withLock { state in
      if wish != state.measured.wish || heard > state.measured.heard {
        state.movedAt = now
        state.hasPlayed = state.hasPlayed || heard > 0
      }
      state.measured = (wish, heard, written, now)
    }
  }

  /// Tells why there is no sound any more.
  func fail(_ error: RecorderError) { state.withLock { $0.failure = error } }
}
