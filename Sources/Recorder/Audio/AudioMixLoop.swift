internal import Capture
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The mix thread's work: puts every input's blocks in their places, sums the inputs, and encodes the sum and the inputs
/// without a gap from the session's epoch to its end.
struct AudioMixLoop: ~Copyable {
  /// The mix, then each input.
  private let tracks: [AudioTrack]
  private var limiter: Limiter
  private let shared: AudioShared
  private let epoch: Int64
  private let buses: [AudioBus]
  private let emit: @Sendable (consuming Packet, Int) -> Void
  /// Since when a held capture is held; nil when all is kept.
  private let heldSince: @Sendable () -> Timestamp?
  private let sum: UnsafeMutableBufferPointer<Float>
  /// One input's part of the sum.
  private let part: UnsafeMutableBufferPointer<Float>
  /// Frames that are mixed at a time: the encoders' packet.
  private let step: Int
  /// What each input is multiplied by.
  private var gains: [AudioGainRamp]
  /// Frames mixed so far.
  private var position: Int64 = 0

  /// Nanoseconds that the mix stays behind the clock, so that a stop can still cut anywhere in them; less than is
  /// noticed at the end of a file, more than a stop takes to arrive.
  private static var holdBack: Int64 { 100_000_000 }
  /// Nanoseconds that the mix waits for a late input at most; then there is silence instead.
  private static var patience: Int64 { 500_000_000 }
  /// Nanoseconds between two looks at the clock when no sound comes.
  private static var tick: Int64 { 50_000_000 }

  init(
    tracks: [AudioTrack], limiter: consuming Limiter, shared: AudioShared, epoch: Int64,
    emit: @escaping @Sendable (consuming Packet, Int) -> Void, heldSince: @escaping @Sendable () -> Timestamp?
  ) {
    let reporter = shared.reporter
    buses = shared.inputs.map { input in
      AudioBus(name: input.role.rawValue, epoch: epoch) { gap in reporter.tell(gap) }
    }
    step = tracks.map(\.frameSize).max() ?? 0
    sum = .allocate(capacity: step * AudioFormat.mix.channels)
    part = .allocate(capacity: step * AudioFormat.mix.channels)
    gains = shared.inputs.map { AudioGainRamp($0.gain) }
    (self.tracks, self.shared, self.epoch, self.emit, self.heldSince) = (tracks, shared, epoch, emit, heldSince)
    self.limiter = limiter
  }

  deinit {
    sum.deallocate()
    part.deallocate()
  }

  /// Mixes until the end that was asked for.
  /// - Throws: `RecorderError` when an encoder fails.
  mutating func run() throws(RecorderError) {
    while true {
      let now = MonotonicClock.now()
      if case .element(let block) = shared.filled.pop(until: now + Self.tick) { place(block) }
      // Everything that has come, before it is decided that something has not.
      while let block = shared.filled.tryPop() { place(block) }
      let end = shared.end
      try mix(to: limit(at: now, end: end), isLast: false)
      if let end, position + Int64(step) > end.frame, isComplete(to: end, at: now) {
        try mix(to: end.frame, isLast: true)
        for bus in buses { bus.finish() }
        try finish()
        return
      }
    }
  }

  private func place(_ block: consuming AudioBlock) {
    do throws(RecorderError) {
      try buses[block.input].place(block)
    } catch {
      // What cannot be converted is missing: it becomes silence when the mix waits for it in vain.
    }
    _ = shared.free.tryPush(block)
  }

  /// The frame up to which can be mixed now: as far as all inputs have come, or as the patience with them goes.
  private func limit(at now: Int64, end: Timestamp?) -> Int64 {
    let clock = now - epoch
    let forced = Timestamp(nanoseconds: clock - Self.patience).frame
    let ready = buses.map(\.end).min() ?? 0
    let latest = end?.frame ?? Timestamp(nanoseconds: clock - Self.holdBack).frame
    return min(latest, max(forced, ready))
  }

  /// Whether nothing more is to be waited for before `end`.
  private func isComplete(to end: Timestamp, at now: Int64) -> Bool {
    if now - epoch >= end.nanoseconds + Self.patience { return true }
    guard now - epoch >= end.nanoseconds else { return false }
    return buses.indices.allSatisfy { index in
      buses[index].end >= end.frame || !shared.inputs[index].isLive.load(ordering: .relaxed)
    }
  }

  /// Sums and encodes up to `frame`: whole packets, and what is left when it is the last call.
  private mutating func mix(to frame: Int64, isLast: Bool) throws(RecorderError) {
    while position < frame {
      let count = min(step, Int(frame - position))
      guard count == step || isLast else { return }
      try mix(count)
      position += Int64(count)
    }
  }

  /// Sums and encodes the next `count` frames.
  private mutating func mix(_ count: Int) throws(RecorderError) {
    guard let target = sum.baseAddress, let own = part.baseAddress else { return }
    let samples = count * AudioFormat.mix.channels
    target.update(repeating: 0, count: samples)
    for (index, input) in shared.inputs.enumerated() {
      own.update(repeating: 0, count: samples)
      let time = epoch + Timestamp(frame: position).nanoseconds
      buses[index].take(count, addingTo: own, because: input.outage(at: time))
      shared.quiet.silence(own, input.index, from: position, count: count)
      try write(UnsafeBufferPointer(start: own, count: samples), to: 1 + index)
      gains[index].add(own, to: target, from: position, count: count)
    }
    let (tracks, emit, start) = (tracks, emit, heldSince())
    try limiter.process(UnsafeBufferPointer(start: target, count: samples)) { (limited) throws(RecorderError) in
      try tracks[0].write(limited, heldSince: start) { packet in emit(packet, 0) }
    }
  }

  private func write(_ samples: UnsafeBufferPointer<Float>, to index: Int) throws(RecorderError) {
    try tracks[index].write(samples, heldSince: heldSince()) { packet in emit(packet, index) }
  }

  private mutating func finish() throws(RecorderError) {
    let (tracks, emit, start) = (tracks, emit, heldSince())
    try limiter.finish { (limited) throws(RecorderError) in
      try tracks[0].write(limited, heldSince: start) { packet in emit(packet, 0) }
    }
    for (index, track) in tracks.enumerated() {
      try track.finish(heldSince: start) { packet in emit(packet, index) }
    }
  }
}
