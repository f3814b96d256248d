internal import Capture
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The picture's two threads, grab and encode, and the queues between them.
final class VideoPipeline: Sendable {
  /// The encoded stream that it begins with, for the file's header.
  let format: PictureFormat
  private let settings: VideoEncoderSettings
  private let sizes: PictureSizes
  private let control: PipelineControl
  private let free = BoundedQueue<Picture>(capacity: VideoEncodeLoop.pictures)
  private let filled = BoundedQueue<EncodeJob>(capacity: VideoEncodeLoop.pictures)
  private let encodeThread: WorkerThread
  private let encodeResult: BoundedQueue<RecorderError?>
  private let grabbing = Mutex(Grabbing())

  /// The grab thread that counts.
  private struct Grabbing {
    var thread: WorkerThread?
    var turn = GrabTurn()
    /// Starts another and returns when its source is open, or could not be opened.
    var launch: (@Sendable (GrabTurn) throws(RecorderError) -> GrabStart)?
    /// Ends the connection of the one that hangs.
    var cut: @Sendable () -> Void = {}
    var isFinishing = false
  }

  /// A thread that was started, and what became of its source.
  private struct GrabStart {
    let thread: WorkerThread
    let opened: BoundedQueue<RecorderError?>
  }

  /// A grab thread that hangs in the X server is given up after so many ns, so that a stopped display cannot keep what
  /// was recorded from being finished.
  static let patience: Int64 = 1_000_000_000
  /// An encoder that is at one frame for so many ns when all is to end has hung: the slowest presets take a second or two
  /// for a large picture.
  static let encoderPatience: Int64 = 10_000_000_000

  /// Opens the encoder on its thread.
  /// - Parameters:
  ///   - settings: the encoder's; its size follows from `sizes`.
  ///   - sizes: the picture's size, now and later.
  /// - Throws: `RecorderError` (unavailable, usage) when there is no such encoder or it refuses its settings.
  init(
    _ settings: VideoEncoderSettings, sizes: PictureSizes, control: PipelineControl, packets: BoundedQueue<MuxItem>
  ) throws(RecorderError) {
    let opened = BoundedQueue<Result<PictureFormat, RecorderError>>(capacity: 1)
    let result = BoundedQueue<RecorderError?>(capacity: 1)
    let (free, filled) = (free, filled)
    encodeThread = try WorkerThread(name: "encode") {
      do throws(RecorderError) {
        let encoding = try VideoEncodeLoop.Encoding(settings, size: sizes.current)
        for _ in 0..<VideoEncodeLoop.pictures { _ = free.push(try encoding.encoder.makePicture()) }
        _ = opened.push(.success(encoding.format))
        var loop = VideoEncodeLoop(
          encoding, settings, sizes: sizes, control: control, free: free, filled: filled, packets: packets)
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
    (self.settings, self.sizes, self.control) = (settings, sizes, control)
    encodeResult = result
    guard let format = opened.pop() else { throw RecorderError(.brokenInvariant, "The encoder did not answer.") }
    self.format = try format.get()
    control.log?.note(
      .info, .encode, "The picture's encoder is open.",
      [
        "codec": settings.codec, "preset": settings.preset, "size": "\(settings.size)",
        "format": settings.pixelFormat.rawValue, "rate": "\(settings.framesPerSecond)",
        "quality": settings.lossless ? "lossless" : "\(settings.constantRateFactor)",
      ])
  }

  /// Starts to grab: makes the canvas and the source on the grab thread.
  /// - Parameters:
  ///   - enlarges: whether a source that is smaller than the picture is scaled up to fill it.
  ///   - makeSource: opens the source, on the grab thread.
  ///   - cut: ends the source's connection, from any thread, so that a call that hangs in it returns.
  /// - Throws: `RecorderError` when the source cannot be opened.
  func start<Source: VideoSource & ~Copyable>(
    enlarges: Bool = false, source makeSource: @escaping @Sendable () throws(RecorderError) -> Source,
    cut: @escaping @Sendable () -> Void = {}
  ) throws(RecorderError) {
    let (control, free, filled, sizes, settings) = (control, free, filled, sizes, settings)
    let makeCanvas: VideoGrabLoop<Source>.CanvasMaker = { (source, picture) throws(RecorderError) in
      try FrameCanvas(
        source: source, settings: settings.sized(for: picture), picture: picture, enlarges: enlarges)
    }
    let launch: @Sendable (GrabTurn) throws(RecorderError) -> GrabStart = { (turn) throws(RecorderError) in
      let opened = BoundedQueue<RecorderError?>(capacity: 1)
      let thread = try WorkerThread(name: "grab") {
        do throws(RecorderError) {
          let source = try makeSource()
          control.log?.note(.info, .capture, "The picture's source is open.", source.facts)
          var loop = try VideoGrabLoop(
            source: source, canvas: makeCanvas, sizes: sizes, control: control, free: free, filled: filled)
          _ = opened.push(nil)
          try loop.run()
        } catch {
          _ = opened.tryPush(error)
          // Another goes on in its place.
          if turn.isOver.load(ordering: .sequentiallyConsistent) { return }
          control.stop(at: MonotonicClock.now())
          control.fail(SourceLoss(error)?.reason ?? .failed, error)
        }
        if !turn.isOver.load(ordering: .sequentiallyConsistent) { filled.close() }
      }
      return GrabStart(thread: thread, opened: opened)
    }
    let opened = try grabbing.withLock { (grabbing) throws(RecorderError) in
      (grabbing.launch, grabbing.cut) = (launch, cut)
      let start = try launch(grabbing.turn)
      grabbing.thread = start.thread
      return start.opened
    }
    if let error = opened.pop() ?? nil { throw error }
  }

  /// Ends the grab thread, which hangs, by ending its connection; waits until it is gone, however long that takes, and
  /// starts another in its place. There are never two at work, and the queues stay as they are: the encoder only sees
  /// that no picture comes for a while.
  func restart() {
    let (thread, cut) = grabbing.withLock { grabbing in
      grabbing.turn.isOver.store(true, ordering: .sequentiallyConsistent)
      return (grabbing.thread, grabbing.cut)
    }
    cut()
    thread?.join()
    grabbing.withLock { grabbing in
      guard !grabbing.isFinishing, let launch = grabbing.launch else { return }
      grabbing.turn = GrabTurn()
      do throws(RecorderError) {
        grabbing.thread = try launch(grabbing.turn).thread
      } catch {
        control.stop(at: MonotonicClock.now())
        control.fail(.failed, error)
        filled.close()
      }
    }
  }

  /// Has a picture of `time` (monotonic ns) or later encoded even when none comes by itself: the last one once more then.
  func refresh(at time: Int64) {
    control.refreshTime.store(time, ordering: .relaxed)
    filled.interrupt()
  }

  /// Waits for both threads, which `control.stop` and the end of the source let run out.
  /// - Parameter encoderPatience: ns for which an encoder may be at one frame before it is given up.
  /// - Returns: what went wrong while encoding.
  func finish(encoderPatience: Int64 = VideoPipeline.encoderPatience) -> RecorderError? {
    let thread = grabbing.withLock { grabbing in
      grabbing.isFinishing = true
      return grabbing.thread
    }
    thread?.join(until: MonotonicClock.now() + Self.patience)
    filled.close()
    while true {
      switch encodeResult.pop(until: MonotonicClock.now() + min(Self.patience, encoderPatience)) {
      case .element(let error):
        encodeThread.join()
        return error
      case .closed: return nil
      case .timedOut:
        let (now, since) = (MonotonicClock.now(), control.encodingSince.load(ordering: .relaxed))
        // One that waits for the disk is waited for: the disk's frames come first.
        let isWriting = control.writingSince.load(ordering: .relaxed) != 0
        guard since != 0, now - since > encoderPatience, !isWriting else { continue }
        encodeThread.join(until: 0)
        return RecorderError(.incomplete, "The encoder hangs: the last frames are missing; those before are kept.")
      }
    }
  }
}

/// Whether a grab thread still counts, or another goes on in its place.
private final class GrabTurn: Sendable { let isOver = Atomic<Bool>(false) }
