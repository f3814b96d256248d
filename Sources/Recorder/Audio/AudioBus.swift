internal import Capture
import SessionModel

/// One input on its way into the mix, on the mix thread: the sum of a lane that is always there and one for each stream
/// that comes and goes.
final class AudioBus {
  private let name: String
  private let epoch: Int64
  private let main: AudioLane
  /// The streams', by `AudioBlock.part`, the first being 1.
  private var parts: [(lane: AudioLane, isOpen: Bool)?] = Array(repeating: nil, count: AudioBlock.parts - 1)
  /// The next frame to take.
  private var position: Int64 = 0

  /// Makes the bus of the input `name`.
  /// - Parameters:
  ///   - epoch: the session's, in ns of `CLOCK_MONOTONIC`.
  ///   - report: told of each gap when it has ended.
  init(name: String, epoch: Int64, report: @escaping (Gap) -> Void) {
    (self.name, self.epoch) = (name, epoch)
    main = AudioLane(name: name, epoch: epoch, report: report)
  }

  /// The frame up to which there is sound or silence of all that plays.
  var end: Int64 {
    var end = main.end
    for part in parts { if let part, part.isOpen { end = min(end, part.lane.end) } }
    return end
  }

  /// Puts `block` in its place.
  /// - Throws: `RecorderError` when its sound cannot be converted.
  func place(_ block: borrowing AudioBlock) throws(RecorderError) {
    guard block.part > 0 else {
      // A device that is opened anew has none of its streams of before.
      if block.isBeginning { for index in parts.indices { parts[index]?.isOpen = false } }
      return try main.place(block)
    }
    let index = block.part - 1
    guard !block.isEnd else {
      parts[index]?.isOpen = false
      return
    }
    // Where a stream is not heard it does not play: that is no gap.
    let lane = parts[index]?.lane ?? AudioLane(name: name, epoch: epoch, from: position) { _ in }
    parts[index] = (lane, true)
    try lane.place(block)
  }

  /// Adds the next `frames` to `target`. What has not come by now is silence.
  /// - Parameter reason: why it has not.
  func take(_ frames: Int, addingTo target: UnsafeMutablePointer<Float>, because reason: AudioHole) {
    let end = position + Int64(frames)
    main.fill(to: end, because: reason)
    main.take(frames, addingTo: target)
    for index in parts.indices {
      guard let (lane, isOpen) = parts[index] else { continue }
      if isOpen || lane.end > position {
        lane.fill(to: end, because: .none)
        lane.take(frames, addingTo: target)
      } else {
        parts[index] = nil
      }
    }
    position = end
  }

  /// Reports the silence at the end, when it is long enough to be a gap.
  func finish() { main.finish() }
}
