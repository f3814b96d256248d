internal import CPulse
import Glibc
import Threading

/// When the samples of a record stream were taken, from what the server says of its place: "byte W was taken S µs before
/// and, for an output's monitor, is heard K µs after the moment T".
///
/// libpulse's own interpolation is not used. It smooths over a second what the server states as a fact: on an output that
/// had been idle it was 713 ms off in the first second and passed that off as half the sampling rate.
struct PulseStreamClock {
  /// A byte of the stream and when it was taken or is heard, in ns of `CLOCK_MONOTONIC`.
  private var anchor: (byte: Int64, time: Int64)?
  private var lastStatement = timeval()

  /// Takes over the server's last statement about `stream`, if it is a new one.
  mutating func update(from stream: OpaquePointer) {
    guard let info = pa_stream_get_timing_info(stream)?.pointee, info.write_index_corrupt == 0,
      info.timestamp.tv_sec != lastStatement.tv_sec || info.timestamp.tv_usec != lastStatement.tv_usec
    else { return }
    lastStatement = info.timestamp
    // The moment is told by the wall clock, whose steps must not count; it has only just passed.
    let age = min(Int64(clamping: pa_timeval_age(&lastStatement)), Self.oldestStatement)
    let distance = Int64(clamping: info.sink_usec) - Int64(clamping: info.source_usec)
    anchor = (info.write_index, MonotonicClock.now() + (distance - age) * 1000)
  }

  // Microseconds. Statements are taken over with the next piece, at the latest a device's period later.
  private static let oldestStatement: Int64 = 100_000

  /// When byte `byte` was taken or is heard; nil before the first statement.
  func time(ofByte byte: Int64, bytesPerSecond: Int64) -> Int64? {
    guard let anchor else { return nil }
    let (seconds, rest) = (byte - anchor.byte).quotientAndRemainder(dividingBy: bytesPerSecond)
    return anchor.time + seconds * 1_000_000_000 + rest * 1_000_000_000 / bytesPerSecond
  }
}
