internal import Archive
import Control
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// Keeps what a held capture is told to keep, on threads of its own, so that the capture goes on meanwhile.
final class HoldKeeper: Sendable {
  typealias Answer = @Sendable (Result<RecordingSession.Effect, RecorderError>) -> Void

  /// What is to be kept.
  struct Wish: Sendable {
    /// Nanoseconds before now; nil is all that is held for a save, and nothing for a publication.
    var last: Int64?
    /// The session's title; nil is the one of the options.
    var title: String?
    /// Its tags beside those of the options.
    var tags: [String] = []
  }

  private struct State {
    var tasks: [Int: KeepTask] = [:]
    var lastNumber = 0
    var isClosed = false
    var isPublishing = false
    /// One for each save that has not taken its stretch yet; closed when it has.
    var stretches: [Int: BoundedQueue<Bool>] = [:]
    var lastStretch = 0
    /// The ends by which a person gives up what is held.
    var losingEnds: Set<Manifest.Reason> = [.stopped, .interrupt, .quit]
    /// What the capture was saved as when it ended.
    var last: SessionID?
  }

  let ring: HoldRing
  private let sink: CaptureSink
  private let recipe: SessionRecipe
  private let control: PipelineControl
  private let video: VideoPipeline
  private let mux: MuxPipeline
  /// The gaps that have not ended yet, at a time.
  private let openGaps: @Sendable (Timestamp) -> [Gap]
  /// What was heard from one time to another; nil without sound.
  private let heard: @Sendable (Timestamp, Timestamp) -> [Manifest.Sound]?
  /// Told when the capture has become a recording.
  private let published: @Sendable (OpenSession) -> Void
  private let state = Mutex(State())

  /// Saves at a time: each has a file open and waits for the disk.
  private static let mostSaves = 16
  /// Nanoseconds that the last moment is waited for: a still screen's next whole picture, and sound that is late.
  private static let patience: Int64 = 3_000_000_000

  init(
    ring: HoldRing, sink: CaptureSink, recipe: SessionRecipe, control: PipelineControl, video: VideoPipeline,
    mux: MuxPipeline, openGaps: @escaping @Sendable (Timestamp) -> [Gap],
    heard: @escaping @Sendable (Timestamp, Timestamp) -> [Manifest.Sound]?,
    published: @escaping @Sendable (OpenSession) -> Void
  ) {
    (self.ring, self.sink, self.recipe, self.control, self.video, self.mux) = (ring, sink, recipe, control, video, mux)
    (self.openGaps, self.heard, self.published) = (openGaps, heard, published)
  }

  /// What the capture was saved as when it ended; nil when it was not.
  var savedAtEnd: SessionID? { state.withLock { $0.last } }

  /// Has what is held saved when `ends` end the capture.
  func keep(at ends: HeldEnds) {
    state.withLock { $0.losingEnds.subtract(ends == .stop ? [.stopped] : [.interrupt, .quit]) }
  }

  /// Whether `reason` is an end by which a person gives up what is held.
  func isLoss(_ reason: Manifest.Reason) -> Bool { state.withLock { $0.losingEnds.contains(reason) } }

  /// Saves what `wish` says up to now as a session.
  /// - Parameter answer: told the session when it is complete, on the save's thread, or why there is none.
  func save(_ wish: Wish, answer: @escaping Answer) {
    let now = MonotonicClock.now()
    let stretch = BoundedQueue<Bool>(capacity: 1)
    let number = state.withLock { state -> Int? in
      if state.isPublishing { return nil }
      state.lastStretch += 1
      state.stretches[state.lastStretch] = stretch
      return state.lastStretch
    }
    guard let number else { return answer(.failure(sink.session == nil ? Self.isBecoming : Self.isPublished)) }
    let taken: @Sendable () -> Void = { [self] in
      stretch.close()
      state.withLock { state in _ = state.stretches.removeValue(forKey: number) }
    }
    let answerLast: Answer = { result in
      taken()
      answer(result)
    }
    start("save", answerLast) { [self] (disk) throws(RecorderError) in
      let span = try self.span(of: wish, until: Timestamp(nanoseconds: now - control.epoch))
      taken()
      disk.isAtWork = true
      let id = try SpanWriter(recipe: recipe, log: control.log).write(
        span, title: wish.title, tags: wish.tags, .saved, droppedFrames: ring.droppedFrames(since: span.start),
        sound: heard(span.start, span.end)
      ).manifest.id
      if disk.isGivenUp {
        try ArchiveReader(recipe.archive).delete(id, as: nil)
        throw Self.tooLate
      }
      control.log?.note(.info, .archive, "A part of what is held was saved.", ["session": "\(id)"])
      return RecordingSession.Effect(time: span.end, session: id)
    }
  }

  /// Makes a recording of the capture, which begins with what `wish` says is held.
  /// - Parameter answer: told the session when all of that is in it, or why there is none.
  func publish(_ wish: Wish, answer: @escaping Answer) {
    let now = Timestamp(nanoseconds: MonotonicClock.now() - control.epoch)
    if let refusal = state.withLock({ state -> RecorderError? in
      defer { state.isPublishing = true }
      return state.isPublishing ? Self.isPublished : nil
    }) {
      return answer(.failure(refusal))
    }
    let answerLast: Answer = { [self] result in
      if case .failure = result { state.withLock { $0.isPublishing = false } }
      answer(result)
    }
    start("publish", answerLast) { [self] (disk) throws(RecorderError) in try publish(wish, at: now, disk) }
  }

  private func publish(
    _ wish: Wish, at now: Timestamp, _ disk: KeepTask.Disk
  ) throws(RecorderError) -> RecordingSession.Effect {
    guard let pin = ring.pin(at: Timestamp(nanoseconds: max(0, now.nanoseconds - (wish.last ?? 0)))) else {
      throw Self.nothing
    }
    defer { ring.unpin(pin) }
    // Saves that were asked for before have their stretch first: the ring runs out then.
    for stretch in state.withLock({ Array($0.stretches.values) }) { _ = stretch.pop() }
    let (held, format, before) = ring.beginning(at: pin.start)
    disk.isAtWork = true
    let new = try recipe.makeSession(
      at: pin.start, format: format, state: held, before: before, title: wish.title, tags: wish.tags)
    // The mux thread's work from here on.
    disk.isAtWork = false
    if disk.isGivenUp {
      new.session.discard(in: recipe.archive)
      throw Self.tooLate
    }
    let track: EventTrack
    do throws(RecorderError) { track = try EventTrack(new.session.writer, control) } catch {
      new.session.discard(in: recipe.archive)
      throw error
    }
    let done = BoundedQueue<RecorderError?>(capacity: 1)
    let publication = CaptureSink.Publication(new: new, track: track) { error in _ = done.tryPush(error) }
    let isOffered = sink.offer(publication)
    mux.wake()
    if let error = isOffered ? done.pop() ?? nil : SessionControls.ending {
      if sink.session == nil {
        _ = track.finish()
        // Of a disk that hangs nothing can be taken away.
        if control.diskError == nil { new.session.discard(in: recipe.archive) }
      }
      throw error
    }
    published(new.session)
    return RecordingSession.Effect(time: .zero, session: new.session.writer.id)
  }

  /// Keeps all that is held when the capture has ended.
  /// - Parameter end: when it ended.
  /// - Returns: the session, and what went wrong; no session when nothing was held.
  func saveRest(
    until end: Timestamp, _ reason: Manifest.Reason, message: String?
  ) -> (manifest: Manifest?, error: RecorderError?) {
    do throws(RecorderError) {
      guard let span = try ring.span(from: .zero, to: end, open: openGaps(end)) else { return (nil, nil) }
      let saved = BoundedQueue<Result<(Manifest, RecorderError?), RecorderError>>(capacity: 1)
      let thread = try WorkerThread(name: "save") { [self] in
        let result = Result { () throws(RecorderError) in
          try SpanWriter(recipe: recipe, log: control.log).write(
            span, reason, message: message, droppedFrames: ring.droppedFrames(since: span.start),
            sound: heard(span.start, span.end), keepsPart: true)
        }
        _ = saved.tryPush(result.map { ($0.manifest, $0.error) })
      }
      guard thread.join(patience: control.diskPatience), let result = saved.tryPop() else {
        return (nil, control.giveUpDisk())
      }
      let (manifest, error) = try result.get()
      state.withLock { $0.last = manifest.id }
      return (manifest, error)
    } catch {
      return (nil, error)
    }
  }

  /// Looks at `now` (monotonic ns) whether a wish is being carried out that the disk hangs on: it is given up, so that
  /// whoever had it is told, and what is held stays held.
  func look(at now: Int64) {
    for task in state.withLock({ Array($0.tasks.values) }) where task.hangs(at: now, for: control.diskPatience) {
      let error = RecorderError(
        .writeFailed, "The disk has taken nothing for \(Timestamp(nanoseconds: control.diskTimeout)).",
        hint: "It is still held: save it again when the disk answers.")
      control.log?.note(.error, .archive, error.message)
      task.giveUp(error)
    }
  }

  /// Takes no more wishes, and waits for those underway, each as long as the disk is waited for.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      return Array(state.tasks.values)
    }
    for task in tasks where !task.join(patience: control.diskPatience) { task.giveUp(control.giveUpDisk()) }
  }

  /// The stretch that `wish` means, up to the first picture at `time` or later.
  private func span(of wish: Wish, until time: Timestamp) throws(RecorderError) -> HoldRing.Span {
    let start = wish.last.map { Timestamp(nanoseconds: max(0, time.nanoseconds - $0)) } ?? .zero
    // What is there now stays there while the last moment is waited for.
    let pin = ring.pin(at: start)
    defer { if let pin { ring.unpin(pin) } }
    video.refresh(at: control.epoch + time.nanoseconds)
    let end = ring.wait(for: time, until: MonotonicClock.now() + Self.patience) ?? time
    guard let span = try ring.span(from: start, to: end, open: openGaps(end)) else {
      throw sink.session == nil ? Self.nothing : Self.isPublished
    }
    return span
  }

  /// Runs `body` on a thread of its own and gives its outcome to `answer`.
  private func start(
    _ name: String, _ answer: @escaping Answer, _ body: @escaping KeepTask.Body
  ) {
    do throws(RecorderError) {
      try state.withLock { (state) throws(RecorderError) in
        if state.isClosed { throw SessionControls.ending }
        if sink.session != nil { throw Self.isPublished }
        state.tasks = state.tasks.filter { !$0.value.isOver }
        guard state.tasks.count < Self.mostSaves else {
          throw RecorderError(.busy, "\(Self.mostSaves) saves are being written already.", hint: "Try again.")
        }
        state.lastNumber += 1
        state.tasks[state.lastNumber] = try KeepTask(name, answer, body)
      }
    } catch {
      answer(.failure(error))
    }
  }

  /// The refusal when all is kept anyway.
  static var isPublished: RecorderError {
    RecorderError(
      .usage, "This is a recording: all of it is kept already.", hint: "recorder stop ends the session.")
  }
  private static var isBecoming: RecorderError {
    RecorderError(.busy, "The capture is just becoming a recording.", hint: "Try again.")
  }
  /// Told nobody: whoever had the wish was told that it failed.
  private static var tooLate: RecorderError { RecorderError(.busy, "It was given up.") }
  private static var nothing: RecorderError {
    RecorderError(.busy, "Nothing is held yet.", hint: "Try again in a moment.")
  }
}
