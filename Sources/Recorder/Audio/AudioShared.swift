internal import Capture
import SessionModel
import Synchronization
internal import Threading

/// What the sound's threads share.
final class AudioShared: Sendable {
  let inputs: [AudioInput]
  let reporter: AudioReporter
  /// Stretches that are to be silent.
  let quiet = AudioQuiet()
  /// Whether the session has begun, and blocks are taken.
  let isMixing = Atomic<Bool>(false)
  /// Empty blocks and filled ones, of all inputs. Either holds as many as there are, so that a push never waits.
  let free: BoundedQueue<AudioBlock>
  let filled: BoundedQueue<AudioBlock>
  private let endTime = Atomic<Int64>(.max)

  /// Blocks for two seconds of each input (DESIGN section 5) in the pieces of 5 ms that some servers deliver.
  private static let blocksAnInput = 400

  init(inputs: [AudioInput], log: RecorderLog? = nil) {
    (self.inputs, reporter) = (inputs, AudioReporter(log))
    let count = Self.blocksAnInput * inputs.count
    // Two seconds are for a machine that is very busy: else the same few go round, and the others take no memory.
    free = BoundedQueue(capacity: count, order: .newestFirst)
    filled = BoundedQueue(capacity: count)
    for _ in 0..<count { _ = free.tryPush(AudioBlock()) }
  }

  /// Where the sound is to end; nil while nobody has said.
  var end: Timestamp? {
    get {
      let time = endTime.load(ordering: .sequentiallyConsistent)
      return time == .max ? nil : Timestamp(nanoseconds: time)
    }
    set { endTime.store(newValue?.nanoseconds ?? .max, ordering: .sequentiallyConsistent) }
  }
}
