package import SessionModel

/// A short piece of captured sound: the sole owner of its memory, which is allocated once and recycled.
package struct AudioBlock: ~Copyable {
  /// Samples that a block holds: 10 ms of 192 kHz stereo, rounded up to a power of two.
  package static let capacity = 4096

  /// Streams that an input may be the sum of: more than an application plays at a time, as a browser's pages.
  package static let parts = 16

  /// A device that had been delivering and paused for so long may have left sound out: ten of the 10 ms pieces that
  /// sources ask for, in ns.
  package static let longestPause: Int64 = 100_000_000

  /// The interleaved samples; room for `capacity`, of which `frames * format.channels` are in use and the others undefined:
  /// what no sound was ever put into costs no memory.
  package let samples: UnsafeMutablePointer<Float>
  /// The shape of the sound as the device negotiated it.
  package var format = AudioFormat.mix
  /// Frames in use.
  package var frames = 0
  /// When the first frame was heard or said, in ns of `CLOCK_MONOTONIC`.
  package var time: Int64 = 0
  /// Whether it is the first of a newly opened device.
  package var isBeginning = false
  /// What lies between the block before and this one.
  package var hole = AudioHole.none
  /// Which of the streams that an input is the sum of it belongs to, below `parts`; the first one never ends.
  package var part = 0
  /// Whether its part ends with it.
  package var isEnd = false
  /// Which of the recording's inputs it came from; free for the owner of the queue.
  package var input = 0

  /// Makes an empty block.
  package init() {
    samples = .allocate(capacity: Self.capacity)
  }

  deinit { samples.deallocate() }

  /// Makes it mono: leaves all channels out but `channel`, which counts from 1 and has to be there.
  package mutating func keep(channel: Int) {
    for frame in 0..<frames { samples[frame] = samples[frame * format.channels + channel - 1] }
    format.channels = 1
  }
}

/// Why sound is missing before a block.
package enum AudioHole: UInt8, Sendable {
  /// Nothing is known to be missing.
  case none
  /// The person has switched to another device.
  case switched
  /// The device's buffer ran over because it was read too late.
  case overrun
  /// The reader had no free block because what follows it was too slow.
  case backlog
  /// The device paused; whether sound is missing, the time tells.
  case stalled
  /// The server had put the device to sleep.
  case suspended
  /// The device was not there.
  case lost
  /// The sound server was not there.
  case serverLost
  /// The person has switched the input off, and its device is closed.
  case off

  /// The reason that a `Gap` gives.
  package var reason: String {
    switch self {
    case .none: "no sound arrived"
    case .overrun: "the device was read too late"
    case .backlog: "the recorder fell behind"
    case .stalled: "the device delivered nothing"
    case .switched: "another device was chosen"
    case .suspended: "the device was asleep"
    case .lost: "the device was not there"
    case .serverLost: "the sound server was not there"
    case .off: "it was switched off"
    }
  }
}
