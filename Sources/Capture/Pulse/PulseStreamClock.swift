internal import CPulse
import Glibc
import Threading

/// When the samples of a record stream were taken, from what the server says of its place: "byte W was taken S µs before
/// and, for an output's monitor, is heard K µs after the moment T".
///
/// libpulse's own interpolation is not used. It smooths over a second what the server states as a fact: on an output that
/// had been idle it was 713 ms off in the first second and passed that off as half the sampling rate. Here the median of
/// the last statements counts, since any single one may have been made by a process that was put aside half-way: on a
/// busy machine some are 8 ms off.
struct PulseStreamClock {
  /// The statements that the median is taken of; a device whose latency changes is followed after three.
  private static let statements = 5

  private let bytesPerSecond: Int64
  /// When byte 0 was taken or is heard, in ns of `CLOCK_MONOTONIC`, by each of the last statements.
  private var origins = InlineArray<5, Int64>(repeating: 0)
  private var count = 0
  private var lastStatement = timeval()
  private var origin: Int64?

  /// Makes the clock of a stream of so many bytes a second.
  init(bytesPerSecond: Int64) { self.bytesPerSecond = bytesPerSecond }

  /// Forgets the statements so far: the device paused, and its latency may be another.
  mutating func reset() { (count, origin) = (0, nil) }

  /// Takes over the server's last statement about `stream`, if it is a new one.
  mutating func update(from stream: OpaquePointer) {
    guard let info = pa_stream_get_timing_info(stream)?.pointee, info.write_index_corrupt == 0,
      info.timestamp.tv_sec != lastStatement.tv_sec || info.timestamp.tv_usec != lastStatement.tv_usec
    else { return }
    lastStatement = info.timestamp
    // The moment is told by the wall clock, whose steps must not count; it has only just passed.
    let age = min(Int64(clamping: pa_timeval_age(&lastStatement)), Self.oldestStatement)
    let distance = Int64(clamping: info.sink_usec) - Int64(clamping: info.source_usec)
    let time = MonotonicClock.now() + (distance - age) * 1000
    origins[count % Self.statements] = time - duration(ofBytes: info.write_index)
    count += 1
    origin = median(of: min(count, Self.statements))
  }

  // Microseconds. Statements are taken over with the next piece, at the latest a device's period later.
  private static let oldestStatement: Int64 = 100_000

  /// When byte `byte` was taken or is heard; nil before the first statement.
  func time(ofByte byte: Int64) -> Int64? { origin.map { $0 + duration(ofBytes: byte) } }

  private func duration(ofBytes bytes: Int64) -> Int64 {
    let (seconds, rest) = bytes.quotientAndRemainder(dividingBy: bytesPerSecond)
    return seconds * 1_000_000_000 + rest * 1_000_000_000 / bytesPerSecond
  }

  /// The middle one of the first `count` origins, found without memory of its own.
  private func median(of count: Int) -> Int64? {
    for candidate in 0..<count {
      var rank = 0
      for other in 0..<count
      where origins[other] < origins[candidate] || (origins[other] == origins[candidate] && other < candidate) {
        rank += 1
      }
      if rank == count / 2 { return origins[candidate] }
    }
    return nil
  }
}
