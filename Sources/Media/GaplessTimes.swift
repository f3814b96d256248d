/// Finds the exact times of AAC packets whose container rounds them to milliseconds: packets that follow each other
/// within a tick belong together without a gap, so each begins where the one before ends.
struct GaplessTimes {
  /// Frames in a packet of AAC-LC (ISO/IEC 14496-3). Other kinds of AAC hold 960 or 2048, which takes their packets more
  /// than a tick off, so that they keep the container's times.
  static let framesPerPacket: Int64 = 1024
  /// Matroska's tick, in nanoseconds.
  private static let tick: Int64 = 1_000_000

  private let sampleRate: Int64
  private var start: Int64?
  private var packets: Int64 = 0

  /// Begins with the packets of a stream of `sampleRate` Hz.
  init(sampleRate: Int) { self.sampleRate = Int64(max(1, sampleRate)) }

  /// A packet's length in nanoseconds.
  var duration: Int64 { Self.framesPerPacket * 1_000_000_000 / sampleRate }

  /// The exact time in nanoseconds of the next packet, which the container has at `time`; nil when it does not follow
  /// the one before, or is the first.
  mutating func time(of time: Int64) -> Int64? {
    packets += 1
    if let start {
      let frames = packets * Self.framesPerPacket
      // Whole seconds and the rest apart, since the product of both overflows after two days.
      let exact = start + frames / sampleRate * 1_000_000_000 + frames % sampleRate * 1_000_000_000 / sampleRate
      if (exact - Self.tick...exact + Self.tick).contains(time) { return exact }
    }
    (start, packets) = (time, 0)
    return nil
  }

  /// Forgets the packets before, after a seek.
  mutating func reset() { start = nil }
}
