internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The thread that mixes and encodes: it makes the encoders, waits for the session to begin, and works until its end.
final class AudioMixThread: Sendable {
  /// What the thread is told when the session begins.
  private struct Start: Sendable {
    let epoch: Int64
    let emit: @Sendable (consuming Packet, Int) -> Void
    let heldSince: @Sendable () -> Timestamp?
    let fail: @Sendable (RecorderError) -> Void
  }

  /// The encoded streams, the mix first, for the file's header.
  let streams: [StreamDescription]
  private let thread: WorkerThread
  private let start = BoundedQueue<Start>(capacity: 1)
  private let failure = BoundedQueue<RecorderError>(capacity: 1)
  /// What is heard of the mix and of each input.
  let heard: [HeardSound]

  /// Opens the encoders on its thread.
  /// - Throws: `RecorderError` (unavailable, usage) when there is no such encoder or it refuses its settings.
  init(_ shared: AudioShared, _ options: AudioOptions) throws(RecorderError) {
    let opened = BoundedQueue<Result<([StreamDescription], [HeardSound]), RecorderError>>(capacity: 1)
    let (start, failure) = (start, failure)
    thread = try WorkerThread(name: "mix") {
      var fail: (@Sendable (RecorderError) -> Void)?
      do throws(RecorderError) {
        let limiter = try Limiter()
        let tracks = try Self.tracks(of: shared.inputs, options)
        _ = opened.push(.success((tracks.compactMap(\.stream), tracks.map(\.heard))))
        guard let session = start.pop() else { return }
        shared.isMixing.store(true, ordering: .relaxed)
        fail = session.fail
        var loop = AudioMixLoop(
          tracks: tracks, limiter: limiter, shared: shared, epoch: session.epoch, emit: session.emit,
          heldSince: session.heldSince)
        try loop.run()
      } catch {
        // Whichever of the three is there.
        _ = opened.tryPush(.failure(error))
        _ = failure.tryPush(error)
        fail?(error)
      }
    }
    guard let answer = opened.pop() else { throw RecorderError(.brokenInvariant, "The mix did not answer.") }
    (streams, heard) = try answer.get()
  }

  /// The mix, and each input; one that is alone is no track of its own, since it would be the mix again.
  private static func tracks(of inputs: [AudioInput], _ options: AudioOptions) throws(RecorderError) -> [AudioTrack] {
    var tracks = [try AudioTrack("mix", options, isTrack: true)]
    let areTracks = options.stems == .all && inputs.count > 1
    for input in inputs { tracks.append(try AudioTrack(input.role.rawValue, options, isTrack: areTracks)) }
    return tracks
  }

  /// Begins to mix; later calls do nothing.
  func start(
    epoch: Int64, emit: @escaping @Sendable (consuming Packet, Int) -> Void,
    heldSince: @escaping @Sendable () -> Timestamp?, fail: @escaping @Sendable (RecorderError) -> Void
  ) {
    _ = start.tryPush(Start(epoch: epoch, emit: emit, heldSince: heldSince, fail: fail))
    start.close()
  }

  /// Waits until the mix has reached the end that it was told; one that was never begun ends at once.
  /// - Returns: what went wrong while encoding.
  func finish() -> RecorderError? {
    start.close()
    thread.join()
    return failure.tryPop()
  }
}
