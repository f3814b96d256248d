import Media
import Recorder
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// A pipeline whose packets are kept and decoded, and whose events are kept.
final class AudioRecording: Sendable {
  let pipeline: AudioPipeline
  /// The session's epoch, in ns of `CLOCK_MONOTONIC`.
  let epoch: Int64
  private let events: Events
  private let packets: [BoundedQueue<Packet>]

  /// What can be shared with the pipeline's closures.
  private final class Events: Sendable {
    let list = Mutex<[Event]>([])
  }

  /// Opens the devices and begins.
  /// - Parameter delay: for how many ns the devices deliver before the session begins.
  init(
    _ options: AudioOptions, windowProcess: Int? = nil, server: SoundServer? = nil, address: String? = nil,
    off: Set<String> = [], delay: Int64 = 0
  ) throws {
    pipeline = try #require(
      try AudioPipeline(options, windowProcess: windowProcess, server: server?.address ?? address, off: off))
    let opened = MonotonicClock.now()
    if delay > 0 { try waitUntil("the beginning") { MonotonicClock.now() - opened >= delay } }
    epoch = MonotonicClock.now()
    let events = Events()
    let packets = pipeline.streams.map { _ in BoundedQueue<Packet>(capacity: 1 << 16) }
    (self.events, self.packets) = (events, packets)
    let report: @Sendable (Event) -> Void = { event in events.list.withLock { $0.append(event) } }
    pipeline.start(
      epoch: epoch, emit: { packet, track in _ = packets[track].push(packet) }, report: report, advise: report,
      fail: { Issue.record($0) })
  }

  /// What was told so far.
  var told: [Event] { events.list.withLock { $0 } }
  var gaps: [Gap] { told.compactMap(\.gap) }
  var warnings: [String] { told.filter { $0.kind == .warning }.compactMap(\.text) }

  /// The session's time now.
  var now: Timestamp { Timestamp(nanoseconds: MonotonicClock.now() - epoch) }

  /// The time `seconds` of the session, in ns of `CLOCK_MONOTONIC`.
  func time(_ seconds: Double) -> Int64 { epoch + Int64(seconds * 1e9) }

  /// The session's time, in seconds, at `time` ns of `CLOCK_MONOTONIC`.
  func seconds(_ time: Int64) -> Double { Double(time - epoch) / 1e9 }

  /// Waits until `seconds` of the session have passed.
  func wait(until seconds: Double) throws {
    try waitUntil("\(seconds) s of the session") { now.seconds >= seconds }
  }

  /// Ends it and decodes the mix.
  /// - Returns: interleaved stereo samples from the session's epoch on.
  func finish(at end: Timestamp) throws -> Track { try finishAll(at: end)[0] }

  /// Ends it and decodes every track.
  func finishAll(at end: Timestamp) throws -> [Track] {
    #expect(pipeline.stop(at: end) == nil)
    return try zip(packets, pipeline.streams).map { packets, stream in try Self.decode(packets, stream) }
  }

  private static func decode(_ packets: BoundedQueue<Packet>, _ stream: StreamDescription) throws -> Track {
    packets.close()
    var decoder = try AudioDecoder(stream)
    var track = Track()
    func add(_ samples: UnsafeBufferPointer<Float>, _ time: Timestamp) {
      let skipped = min(samples.count, max(0, -Int((time.seconds * 48_000).rounded())) * 2)
      if track.samples.isEmpty, skipped == 0 { track.start = time }
      track.samples += samples[skipped...]
    }
    while let packet = packets.pop() {
      track.packetTimes.append(packet.pts)
      try decoder.decode(packet, emit: add)
    }
    try decoder.finish(emit: add)
    return track
  }

  /// A decoded track.
  struct Track {
    var samples: [Float] = []
    /// The time of the first sample kept.
    var start = Timestamp.zero
    var packetTimes: [Timestamp] = []
    var left: [Float] { stride(from: 0, to: samples.count, by: 2).map { samples[$0] } }
    var right: [Float] { stride(from: 1, to: samples.count, by: 2).map { samples[$0] } }
  }
}

extension Array where Element == Float {
  /// The part from `start` to `end` seconds at 48 kHz.
  func seconds(_ start: Double, _ end: Double) -> [Float] {
    let first = Swift.min(count, Int(start * 48_000))
    return Array(self[first..<Swift.max(first, Swift.min(count, Int(end * 48_000)))])
  }
}
