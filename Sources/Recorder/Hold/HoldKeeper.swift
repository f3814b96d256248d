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
    var threads: [Int: WorkerThread] = [:]
    /// Those whose work is done; they are joined by the next one.
    var finished: Set<Int> = []
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
    published: @escaping @Sendable (OpenSession) -> Void
  ) {
    (self.ring, self.sink, self.recipe, self.control, self.video, self.mux) = (ring, sink, recipe, control, video, mux)
    (self.openGaps, self.published) = (openGaps, published)
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
    start("save", answerLast) { [self] () throws(RecorderError) in
      let span = try self.span(of: wish, until: Timestamp(nanoseconds: now - control.epoch))
      taken()
      let (id, _) = try SpanWriter(recipe: recipe, log: control.log).write(
        span, title: wish.title, tags: wish.tags, .saved, droppedFrames: ring.droppedFrames(since: span.start))
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
    start("publish", answerLast) { [self] () throws(RecorderError) in try publish(wish, at: now) }
  }

  private func publish(_ wish: Wish, at now: Timestamp) throws(RecorderError) -> RecordingSession.Effect {
    guard let pin = ring.pin(at: Timestamp(nanoseconds: max(0, now.nanoseconds - (wish.last ?? 0)))) else {
      throw Self.nothing
    }
    defer { ring.unpin(pin) }
    // Saves that were asked for before have their stretch first: the ring runs out then.
    for stretch in state.withLock({ Array($0.stretches.values) }) { _ = stretch.pop() }
    let (held, format, before) = ring.beginning(at: pin.start)
    let new = try recipe.makeSession(
      at: pin.start, format: format, state: held, before: before, title: wish.title, tags: wish.tags)
    let done = BoundedQueue<RecorderError?>(capacity: 1)
    let isOffered = sink.offer(CaptureSink.Publication(new: new) { error in _ = done.tryPush(error) })
    mux.wake()
    if let error = isOffered ? done.pop() ?? nil : SessionControls.ending {
      if sink.session == nil { new.session.discard(in: recipe.archive) }
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
  ) -> (id: SessionID?, error: RecorderError?) {
    do throws(RecorderError) {
      guard let span = try ring.span(from: .zero, to: end, open: openGaps(end)) else { return (nil, nil) }
      let (id, error) = try SpanWriter(recipe: recipe, log: control.log).write(
        span, reason, message: message, droppedFrames: ring.droppedFrames(since: span.start), keepsPart: true)
      state.withLock { $0.last = id }
      return (id, error)
    } catch {
      return (nil, error)
    }
  }

  /// Takes no more wishes, and waits for those underway.
  func close() {
    let threads = state.withLock { state in
      state.isClosed = true
      return Array(state.threads.values)
    }
    for thread in threads { thread.join() }
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
    _ name: String, _ answer: @escaping Answer,
    _ body: @escaping @Sendable () throws(RecorderError) -> RecordingSession.Effect
  ) {
    do throws(RecorderError) {
      try state.withLock { (state) throws(RecorderError) in
        if state.isClosed { throw SessionControls.ending }
        if sink.session != nil { throw Self.isPublished }
        for number in state.finished { state.threads.removeValue(forKey: number)?.join() }
        state.finished = []
        guard state.threads.count < Self.mostSaves else {
          throw RecorderError(.busy, "\(Self.mostSaves) saves are being written already.", hint: "Try again.")
        }
        state.lastNumber += 1
        let number = state.lastNumber
        state.threads[number] = try WorkerThread(name: name) { [self] in
          do throws(RecorderError) { answer(.success(try body())) } catch { answer(.failure(error)) }
          self.state.withLock { state in _ = state.finished.insert(number) }
        }
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
  private static var nothing: RecorderError {
    RecorderError(.busy, "Nothing is held yet.", hint: "Try again in a moment.")
  }
}
