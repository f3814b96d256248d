import Glibc
import SessionModel
import Synchronization

/// By how much an input is made louder before it is summed: set from any thread, carried out by the mix, which is late
/// enough to be exact to the sample.
final class AudioGain: Sendable {
  private struct State {
    /// What was last asked for, in dB.
    var decibels: Double
    /// What the mix has not come to yet: frames since the epoch, and what samples are multiplied by from there on.
    var changes: [(frame: Int64, factor: Float)] = []
  }

  private let state: Mutex<State>

  /// Starts with a gain of so many dB.
  init(_ decibels: Double) { state = Mutex(State(decibels: decibels)) }

  /// What was last asked for, in dB.
  var decibels: Double { state.withLock { $0.decibels } }

  /// Makes it so many dB from `frame` on.
  func set(_ decibels: Double, at frame: Int64) {
    state.withLock { state in
      state.decibels = decibels
      state.changes.append((frame, Self.factor(of: decibels)))
    }
  }

  /// Takes the next change out that lies before `frame`.
  fileprivate func takeChange(before frame: Int64) -> (frame: Int64, factor: Float)? {
    state.withLock { state in
      guard let first = state.changes.first, first.frame < frame else { return nil }
      return state.changes.removeFirst()
    }
  }

  /// What samples are multiplied by for a gain of so many dB.
  fileprivate static func factor(of decibels: Double) -> Float { Float(pow(10, decibels / 20)) }
}

/// The mix's side of an input's gain: adds its samples to the sum, and goes from one gain to the next without a click.
struct AudioGainRamp {
  private let gain: AudioGain
  private var from: Float
  private var to: Float
  /// The frame at which it leaves `from`.
  private var start: Int64 = 0

  // Frames from one gain to the next, 10 ms: slower than a click, faster than is noticed.
  private static let length: Int64 = 480

  /// Begins with what `gain` is now.
  init(_ gain: AudioGain) {
    self.gain = gain
    from = AudioGain.factor(of: gain.decibels)
    to = from
  }

  /// Adds `count` stereo frames of `source`, the first being `frame` of the session, to `target`.
  mutating func add(
    _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, from frame: Int64, count: Int
  ) {
    var done = 0
    while let change = gain.takeChange(before: frame + Int64(count)) {
      let place = max(frame + Int64(done), change.frame)
      add(source, target, frame, done..<Int(place - frame))
      done = Int(place - frame)
      (from, to, start) = (factor(at: place), change.factor, place)
    }
    add(source, target, frame, done..<count)
  }

  private func add(
    _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>, _ frame: Int64, _ part: Range<Int>
  ) {
    let ramp = part.clamped(to: part.lowerBound..<max(part.lowerBound, Int(clamping: start + Self.length - frame)))
    for index in ramp {
      let factor = factor(at: frame + Int64(index))
      target[2 * index] += factor * source[2 * index]
      target[2 * index + 1] += factor * source[2 * index + 1]
    }
    let channels = AudioFormat.mix.channels
    for index in ramp.upperBound * channels..<part.upperBound * channels { target[index] += to * source[index] }
  }

  private func factor(at frame: Int64) -> Float {
    guard frame < start + Self.length else { return to }
    return from + (to - from) * Float(frame - start) / Float(Self.length)
  }
}
