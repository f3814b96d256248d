internal import Capture
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// One frame on its way to the encoder.
struct EncodeJob: ~Copyable {
  /// The picture, which goes back to the free list afterwards.
  let picture: Picture
  /// Its true size, in pixels.
  let size: PixelSize
  /// When it was grabbed.
  let time: Timestamp
  /// Whether it must decode without what came before.
  let keyframe: Bool
  /// Whether it is the first of a new file; a keyframe then.
  var startsSegment = false
}

/// The grab thread's work: waits for changes, grabs them into the kept canvas and hands copies of it to the encoder.
/// After the first frames nothing here allocates; when the encoder is behind, changes are left with the X server, where
/// they coalesce, and the next frame carries them.
struct VideoGrabLoop<Source: VideoSource & ~Copyable>: ~Copyable {
  var source: Source
  private var canvas: FrameCanvas
  private let makeCanvas: CanvasMaker
  private let sizes: PictureSizes
  /// The picture's true size, in pixels.
  private var size: PixelSize
  private var watch = SizeWatch()
  let control: PipelineControl
  /// Pictures that the encoder is done with.
  let free: BoundedQueue<Picture>
  /// Frames for the encoder.
  let filled: BoundedQueue<EncodeJob>
  private var lastTime: Timestamp
  private var lastKeyframe = Self.never
  /// Frames since then.
  private var framesAfterKeyframe = 0
  /// When to see that the other threads are looked after, in monotonic ns.
  private var nextRound: Int64 = 0
  /// Whether the source has answered: only then does the thread give signs of life.
  private var isProven = false

  /// So long ago that a keyframe is due.
  private static var never: Timestamp { Timestamp(nanoseconds: .min / 2) }

  /// Makes the canvas of a source of the first size for pictures of the second, both in pixels.
  typealias CanvasMaker = @Sendable (_ source: PixelSize, _ picture: PixelSize) throws(RecorderError) -> FrameCanvas

  /// - Throws: `RecorderError` when there can be no canvas.
  init(
    source: consuming Source, canvas makeCanvas: @escaping CanvasMaker, sizes: PictureSizes, control: PipelineControl,
    free: BoundedQueue<Picture>, filled: BoundedQueue<EncodeJob>
  ) throws(RecorderError) {
    let size = sizes.current
    let canvas = try makeCanvas(source.size, size)
    self.source = source
    self.canvas = canvas
    (self.makeCanvas, self.sizes, self.size) = (makeCanvas, sizes, size)
    (self.control, self.free, self.filled) = (control, free, filled)
    // One that goes on in another's place goes on in its time.
    lastTime = Timestamp(nanoseconds: control.lastFrame.load(ordering: .relaxed))
  }

  /// Grabs until it is asked to stop.
  /// - Throws: `RecorderError` when the source is lost; the frames before it are with the encoder.
  mutating func run() throws(RecorderError) {
    while control.stopRequested == nil { try step() }
    try grabLastChange()
  }

  /// What was drawn just before the stop, and waits for its time still, is the recording's last frame.
  private mutating func grabLastChange() throws(RecorderError) {
    guard let stop = control.stopRequested, lastTime.nanoseconds >= 0, control.isWanted(at: stop),
      let picture = try takePicture()
    else { return }
    try grab(into: picture, at: stop)
  }

  private mutating func step() throws(RecorderError) {
    let now = MonotonicClock.now()
    if isProven { control.heartbeat.store(now, ordering: .relaxed) }
    let isStill = now - control.epoch - lastTime.nanoseconds >= StillScreen.after
    if now >= nextRound {
      nextRound = now + VideoTiming.heartbeatInterval
      if isStill { control.lookAfterOthers(at: now) } else { control.alarm.notify() }
    }
    let beat = now + (isStill ? VideoTiming.stillHeartbeatInterval : VideoTiming.heartbeatInterval)
    guard control.isWanted(at: now) else {
      // What size the source has then is looked at again afterwards.
      watch = SizeWatch()
      return try sleep(until: beat)
    }
    renewWhenAsked()
    if sizes.follows { try followSize(at: now) }
    guard try source.wait(until: min(beat, watch.due)) == .changed else { return }
    // A pause may have come and gone meanwhile.
    renewWhenAsked()
    guard let picture = try takePicture() else {
      control.droppedFrames.add(1, ordering: .relaxed)
      return
    }
    try grab(into: picture)
  }

  /// Makes the next picture a whole one when one is asked for, as after a pause.
  private mutating func renewWhenAsked() {
    guard control.needsKeyframe.exchange(false, ordering: .acquiring) else { return }
    source.invalidate()
    lastKeyframe = Self.never
  }

  /// Has an encoder looked for when the source has taken another size for good, and makes pictures of that size once there
  /// is one; the first begins a file.
  private mutating func followSize(at now: Int64) throws(RecorderError) {
    if let size = watch.settled(at: now), sizes.wish(for: size) { filled.interrupt() }
    let wanted = sizes.current
    guard wanted != size else { return }
    canvas = try makeCanvas(canvas.source, wanted)
    size = wanted
    source.invalidate()
    lastKeyframe = Self.never
  }

  /// A picture that the canvas can be rendered into; nil while all are with the encoder.
  private func takePicture() throws(RecorderError) -> Picture? {
    guard let picture = free.tryPop() else { return nil }
    if canvas.takes(picture) { return picture }
    return try canvas.makePicture()
  }

  /// Rests while no frames are wanted. What the source has to say is still listened to, so that it does not pile up and
  /// a lost source is noticed.
  private mutating func sleep(until deadline: Int64) throws(RecorderError) {
    if control.wake.wait(until: deadline) { control.wake.drain() }
    _ = try source.wait(until: 0)
    isProven = true
  }

  /// Grabs a frame, when there is one and it is wanted.
  /// - Parameter time: when it is to have been, in monotonic ns; nil is when it was.
  private mutating func grab(into picture: consuming Picture, at wanted: Int64? = nil) throws(RecorderError) {
    var time: Int64?
    do throws(RecorderError) {
      time = try Self.fetch(&source, &canvas, into: picture, control)
    } catch {
      // Another may go on in this thread's place, with these pictures.
      _ = free.push(picture)
      throw error
    }
    isProven = true
    if sizes.follows, let time { watch.note(source: canvas.source, picture: size, at: time) }
    guard let time, control.isWanted(at: wanted ?? time) else {
      _ = free.push(picture)
      return
    }
    // One that was being grabbed while the stop was asked for is the last, and not past the end.
    let taken = min(wanted ?? time, control.stopRequested ?? .max)
    submit(picture, at: Timestamp(nanoseconds: taken - control.epoch))
  }

  /// Renders what the source shows, with the pointer, into `picture`.
  /// - Returns: when the pixels were fetched, in monotonic ns; nil when nothing had changed.
  private static func fetch(
    _ source: inout Source, _ canvas: inout FrameCanvas, into picture: borrowing Picture, _ control: PipelineControl
  ) throws(RecorderError) -> Int64? {
    var time = Int64(0)
    var failure: RecorderError?
    let changed = try source.grab { frame in
      time = frame.time
      if frame.size != canvas.source {
        do throws(RecorderError) { try canvas.setSource(frame.size) } catch { failure = error }
        if failure != nil { return }
      }
      for rect in frame.rects { lookForPicture(frame, rect, control) }
      let pointer = frame.pointer.map { pointer in
        PointerOverlay(image: pointer.image, width: pointer.width, height: pointer.height, x: pointer.x, y: pointer.y)
      }
      let pixels = SourcePixels(frame.pixels, bytesPerRow: frame.bytesPerRow)
      canvas.render(pixels, changed: frame.rects, pointer: pointer, into: picture)
    }
    if let failure { throw failure }
    return changed ? time : nil
  }

  private mutating func submit(_ picture: consuming Picture, at time: Timestamp) {
    let time = max(time, lastTime.nanoseconds < 0 ? .zero : lastTime + VideoTiming.tick)
    if let stop = control.stopRequested, control.epoch + time.nanoseconds > stop {
      _ = free.push(picture)
      return
    }
    framesAfterKeyframe += 1
    let keyframe =
      framesAfterKeyframe >= VideoOptions.keyframeDistance || time - lastKeyframe >= VideoTiming.keyframeInterval
    if keyframe { (lastKeyframe, framesAfterKeyframe) = (time, 0) }
    let startsSegment = keyframe && control.splits.take()
    lastTime = time
    control.frames.add(1, ordering: .relaxed)
    control.lastFrame.store(time.nanoseconds, ordering: .relaxed)
    _ = filled.push(
      EncodeJob(picture: picture, size: size, time: time, keyframe: keyframe, startsSegment: startsSegment))
  }

  /// Notes the first pixel that is not black; afterwards it costs one load.
  private static func lookForPicture(
    _ frame: borrowing GrabbedFrame, _ rect: PixelRect, _ control: PipelineControl
  ) {
    if control.sawPicture.load(ordering: .relaxed) { return }
    for row in rect.y..<rect.maxY {
      let pixels = (frame.pixels + row * frame.bytesPerRow).assumingMemoryBound(to: UInt32.self)
      for column in rect.x..<rect.maxX where pixels[column] & 0x00FF_FFFF != 0 {
        control.sawPicture.store(true, ordering: .relaxed)
        return
      }
    }
  }
}
