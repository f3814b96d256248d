internal import Archive
import Control
import SessionModel

/// What came of a wish.
struct CaptureAnswer: Sendable {
  /// It, or why it was not carried out.
  typealias Outcome = Result<CaptureAnswer, RecorderError>
  /// Told once, from any task.
  typealias Taker = @Sendable (Outcome) -> Void

  /// The session that is recorded, or that this ended; nil when there is none.
  var session: CapturedSession?
  /// How it ended; nil while it is recorded.
  var outcome: RecordingSession.Outcome?
}

/// What is wished, what there is, what brings the one nearer to the other, and who waits for it.
struct CaptureWishes {
  /// Why the recording that runs is to end.
  struct Ending {
    var reason = Manifest.Reason.stopped
    var error: RecorderError?
    var command: Manifest.WrappedCommand?
  }

  /// Somebody who waits.
  struct Waiter {
    enum Wish { case share(Bool), microphone, end }
    let wish: Wish
    let generation: Int
    let answer: CaptureAnswer.Taker
  }

  /// What is to be done next.
  enum Step {
    case begin(RecordingOptions, microphone: Bool)
    case end(RecordingSession, Ending)
    case publish(RecordingSession, last: Int64)
    case switchMicrophone(RecordingSession, isOn: Bool)
  }

  /// What was done.
  enum Done {
    case began(CaptureAnswer.Outcome)
    case published(CaptureAnswer.Outcome)
    case ended(CaptureAnswer)
    case nothing
  }

  /// One who is told now, and what.
  typealias Answered = (answer: CaptureAnswer.Taker, CaptureAnswer.Outcome)

  private let archive: ArchiveLocation
  /// The number of the newest wish.
  var generation = 0
  /// The recording that is wished.
  var share: RecordingOptions?
  /// Nanoseconds of what is held that its session begins with.
  var stretch: Int64 = 0
  /// Whether its microphone is wished.
  var hasMicrophone: Bool
  /// The recording that there is.
  var session: RecordingSession?
  /// What tells the hooks of it.
  var hooks: SessionHooks?
  /// Whether its microphone is on.
  var sessionHasMicrophone = false
  var watch: EndWatch?
  /// Why the recording has to end even when another is wished after it.
  var ending: Ending?
  /// How the last one ended, and its last status.
  var end = CaptureAnswer()
  var lastStatus: RecorderStatus
  /// The wait before a recording is wished.
  var sleeper: Task<Bool, Never>?
  /// Whether somebody carries the wishes out.
  var isWorking = false
  var isClosed = false
  var waiters: [Waiter] = []

  init(hasMicrophone: Bool, archive: ArchiveLocation, lastStatus: RecorderStatus) {
    (self.hasMicrophone, self.archive, self.lastStatus) = (hasMicrophone, archive, lastStatus)
  }

  /// The step that brings what there is nearer to what is wished; nil when it is as wished.
  var step: Step? {
    guard let session else { return share.map { .begin($0, microphone: hasMicrophone) } }
    if let ending = ending ?? (share == nil ? Ending() : nil) { return .end(session, ending) }
    if session.id == nil, share?.hold == nil { return .publish(session, last: stretch) }
    guard hasMicrophone != sessionHasMicrophone else { return nil }
    return .switchMicrophone(session, isOn: hasMicrophone)
  }

  /// What is recorded; nil while nothing is, or a capture is held.
  var captured: CapturedSession? { session?.id.map { CapturedSession($0, in: archive) } }

  /// Those who have waited for what was done, with wishes up to `generation`, and what they are told.
  mutating func takeAnswers(_ done: Done, _ generation: Int) -> [Answered] {
    var (ready, waiting) = ([Answered](), [Waiter]())
    for waiter in waiters {
      if let outcome = answer(to: waiter, done, generation) {
        ready.append((waiter.answer, outcome))
      } else {
        waiting.append(waiter)
      }
    }
    waiters = waiting
    return ready
  }

  /// What `waiter` is told of what was done; nil when it has to wait on.
  private func answer(to waiter: Waiter, _ done: Done, _ generation: Int) -> CaptureAnswer.Outcome? {
    switch (waiter.wish, done) {
    case (.end, .ended(let answer)): return .success(answer)
    case (.end, .began(.failure(let error))): return .failure(error)
    case (.end, .nothing) where session == nil && share == nil: return .success(end)
    case (.end, _): return nil
    case _ where waiter.generation > generation: return nil
    case (.share(true), .began(let outcome)), (.share(true), .published(let outcome)): return outcome
    // A recording that had to end is followed by the one that was wished meanwhile.
    case (.share(true), .ended): return share == nil ? .success(CaptureAnswer()) : nil
    case (.share(true), .nothing): return .success(CaptureAnswer(session: captured))
    case (.share(false), .ended(let answer)): return .success(answer)
    case (.share(false), _), (.microphone, _): return .success(CaptureAnswer())
    }
  }
}
