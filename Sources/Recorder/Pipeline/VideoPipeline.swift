internal import Capture
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The picture's two threads, grab and encode, and the queues between them.
final class VideoPipeline: Sendable {
  /// The encoded stream, for the file's header.
  let stream: StreamDescription
  private let control: PipelineControl
  private let free = BoundedQueue<Picture>(capacity: VideoEncodeLoop.pictures)
  private let filled = BoundedQueue<EncodeJob>(capacity: VideoEncodeLoop.pictures)
  private let encodeThread: WorkerThread
  private let encodeResult: BoundedQueue<RecorderError?>
  private let grabThread = Mutex<WorkerThread?>(nil)

  /// A grab thread that hangs in the X server is given up after so many ns, so that a stopped display cannot keep what
  /// was recorded from being finished.
  static let patience: Int64 = 1_000_000_000

  /// Opens the encoder on its thread.
  /// - Throws: `RecorderError` (unavailable, usage) when there is no such encoder or it refuses its settings.
  init(
    _ settings: VideoEncoderSettings, control: PipelineControl, packets: BoundedQueue<MuxItem>
  ) throws(RecorderError) {
    let opened = BoundedQueue<Result<StreamDescription, RecorderError>>(capacity: 1)
    let result = BoundedQueue<RecorderError?>(capacity: 1)
    let (free, filled) = (free, filled)
    encodeThread = try WorkerThread(name: "encode") {
      do throws(RecorderError) {
        let encoder = try VideoEncoder(settings)
        for _ in 0..<VideoEncodeLoop.pictures { _ = free.push(try encoder.makePicture()) }
        _ = opened.push(.success(encoder.stream))
        var loop = VideoEncodeLoop(
          encoder: encoder, control: control, free: free, filled: filled, packets: packets)
        try loop.run()
        _ = result.push(nil)
      } catch {
        // Whichever of the two is waited for.
        _ = opened.tryPush(.failure(error))
        _ = result.tryPush(error)
        control.fail(.failed, error)
        // The grab thread must not wait for a picture, nor fill more of them.
        filled.close()
        free.close()
      }
    }
    self.control = control
    encodeResult = result
    guard let stream = opened.pop() else { throw RecorderError(.brokenInvariant, "The encoder did not answer.") }
    self.stream = try stream.get()
    control.log?.note(
      .info, .encode, "The picture's encoder is open.",
      [
        "codec": settings.codec, "preset": settings.preset, "size": "\(settings.size)",
        "format": settings.pixelFormat.rawValue, "rate": "\(settings.framesPerSecond)",
        "quality": settings.lossless ? "lossless" : "\(settings.constantRateFactor)",
      ])
  }

  /// Starts to grab: makes the canvas and the source on the grab thread.
  /// - Throws: `RecorderError` when the source cannot be opened.
  func start<Source: VideoSource & ~Copyable>(
    canvas makeCanvas: @escaping @Sendable () throws(RecorderError) -> FrameCanvas,
    source makeSource: @escaping @Sendable () throws(RecorderError) -> Source
  ) throws(RecorderError) {
    let opened = BoundedQueue<RecorderError?>(capacity: 1)
    let (control, free, filled) = (control, free, filled)
    let thread = try WorkerThread(name: "grab") {
      do throws(RecorderError) {
        let canvas = try makeCanvas()
        let source = try makeSource()
        control.log?.note(.info, .capture, "The picture's source is open.", source.facts)
        _ = opened.push(nil)
        var loop = VideoGrabLoop(
          source: source, canvas: canvas, control: control, free: free, filled: filled)
        try loop.run()
      } catch {
        _ = opened.tryPush(error)
        control.stop(at: MonotonicClock.now())
        control.fail(SourceLoss(error)?.reason ?? .failed, error)
      }
      filled.close()
    }
    grabThread.withLock { $0 = thread }
    if let error = opened.pop() ?? nil { throw error }
  }

  /// Waits for both threads, which `control.stop` and the end of the source let run out.
  /// - Returns: what went wrong while encoding.
  func finish() -> RecorderError? {
    grabThread.withLock { $0 }?.join(until: MonotonicClock.now() + Self.patience)
    filled.close()
    let error = encodeResult.pop() ?? nil
    encodeThread.join()
    return error
  }
}
