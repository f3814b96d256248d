internal import Media
import SessionModel
internal import Threading

/// The thread that mixes and encodes: it makes the encoder, waits for the session to begin, and works until its end.
final class AudioMixThread: Sendable {
  /// What the thread is told when the session begins.
  private struct Start: Sendable {
    let epoch: Int64
    let emit: @Sendable (consuming Packet) -> Void
    let fail: @Sendable (RecorderError) -> Void
  }

  /// The encoded stream, for the file's header.
  let stream: StreamDescription
  private let thread: WorkerThread
  private let start = BoundedQueue<Start>(capacity: 1)
  private let failure = BoundedQueue<RecorderError>(capacity: 1)

  /// Opens the encoder on its thread.
  /// - Parameter bitRate: of the encoded mix, in bits a second.
  /// - Throws: `RecorderError` (unavailable, usage) when there is no such encoder or it refuses its settings.
  init(_ shared: AudioShared, bitRate: Int) throws(RecorderError) {
    let opened = BoundedQueue<Result<StreamDescription, RecorderError>>(capacity: 1)
    let (start, failure) = (start, failure)
    thread = try WorkerThread(name: "mix") {
      var fail: (@Sendable (RecorderError) -> Void)?
      do throws(RecorderError) {
        let encoder = try AudioEncoder(.mix, bitRate: bitRate)
        _ = opened.push(.success(encoder.stream))
        guard let session = start.pop() else { return }
        fail = session.fail
        var loop = AudioMixLoop(encoder: encoder, shared: shared, epoch: session.epoch, emit: session.emit)
        try loop.run()
      } catch {
        // Whichever of the three is there.
        _ = opened.tryPush(.failure(error))
        _ = failure.tryPush(error)
        fail?(error)
      }
    }
    guard let answer = opened.pop() else { throw RecorderError(.brokenInvariant, "The mix did not answer.") }
    stream = try answer.get()
  }

  /// Begins to mix; later calls do nothing.
  func start(
    epoch: Int64, emit: @escaping @Sendable (consuming Packet) -> Void,
    fail: @escaping @Sendable (RecorderError) -> Void
  ) {
    _ = start.tryPush(Start(epoch: epoch, emit: emit, fail: fail))
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
