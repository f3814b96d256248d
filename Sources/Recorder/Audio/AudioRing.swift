import SessionModel

/// A few seconds of one input's sound on the session's time line, as 48 kHz stereo: written at its end, taken at its
/// start. Indexes are frames since the session's epoch.
struct AudioRing: ~Copyable {
  /// Frames it holds, a power of two: 5.5 s, past the half second that the mix waits at most and the two seconds that
  /// an output may be ahead of what is heard.
  static var capacity: Int { 1 << 18 }

  /// The frame after the last one written.
  private(set) var end: Int64
  /// The first frame that has not been taken.
  private var start: Int64
  private let samples: UnsafeMutablePointer<Float>

  /// Makes an empty ring whose first frame is `frame`.
  init(from frame: Int64) {
    (start, end) = (frame, frame)
    samples = .allocate(capacity: Self.capacity * AudioFormat.mix.channels)
    samples.initialize(repeating: 0, count: Self.capacity * AudioFormat.mix.channels)
  }

  deinit { samples.deallocate() }

  /// Frames that can be written.
  var room: Int { Self.capacity - Int(end - start) }

  /// Appends `frames` of silence, at most `room`.
  mutating func appendSilence(_ frames: Int) {
    var rest = min(frames, room)
    while rest > 0 {
      let (offset, count) = piece(at: end, rest)
      (samples + offset * 2).update(repeating: 0, count: count * 2)
      end += Int64(count)
      rest -= count
    }
  }

  /// Appends interleaved frames, as many as there is room for: stereo as it is, mono at full level on both sides.
  mutating func append(_ source: UnsafePointer<Float>, frames: Int, channels: Int) {
    var (source, rest) = (source, min(frames, room))
    while rest > 0 {
      let (offset, count) = piece(at: end, rest)
      let target = samples + offset * 2
      if channels == 1 {
        for index in 0..<count {
          target[2 * index] = source[index]
          target[2 * index + 1] = source[index]
        }
      } else {
        target.update(from: source, count: count * 2)
      }
      source += count * channels
      end += Int64(count)
      rest -= count
    }
  }

  /// Adds the next `frames` to `target` and gives them up; they must have been written.
  mutating func take(_ frames: Int, addingTo target: UnsafeMutablePointer<Float>) {
    var (target, rest) = (target, frames)
    while rest > 0 {
      let (offset, count) = piece(at: start, rest)
      let source = samples + offset * 2
      for index in 0..<(count * 2) { target[index] += source[index] }
      target += count * 2
      start += Int64(count)
      rest -= count
    }
  }

  /// Where frame `index` lies, and how many of `frames` follow it before the memory's end.
  private func piece(at index: Int64, _ frames: Int) -> (offset: Int, count: Int) {
    let offset = Int(index) & (Self.capacity - 1)
    return (offset, min(frames, Self.capacity - offset))
  }
}
