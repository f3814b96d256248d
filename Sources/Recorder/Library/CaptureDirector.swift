internal import Archive
import Control
import Glibc
import SessionModel
import Synchronization
internal import Threading

/// Makes what is recorded follow what was wished last.
///
/// A wish is noted at once, from any thread, and takes the place of the one before; a single task carries the newest one
/// out, a step at a time. Whoever had a wish is answered when it, or a later one that took its place, was carried out.
final class CaptureDirector: Sendable {
  /// What came of a wish.
  struct Answer: Sendable {
    /// The session that is recorded, or that this ended; nil when there is none.
    var session: CapturedSession?
    /// How it ended; nil while it is recorded.
    var outcome: RecordingSession.Outcome?
  }

  /// Why the recording that runs is to end.
  private struct Ending {
    var reason = Manifest.Reason.stopped
    var error: RecorderError?
    var command: Manifest.WrappedCommand?
  }

  /// Somebody who waits.
  private struct Waiter {
    enum Wish { case share(Bool), microphone, end }
    let wish: Wish
    let generation: Int
    let answer: @Sendable (Result<Answer, RecorderError>) -> Void
  }

  private struct Content {
    /// The number of the newest wish.
    var generation = 0
    /// The recording that is wished.
    var share: RecordingOptions?
    var hasMicrophone: Bool
    /// The recording that there is.
    var session: RecordingSession?
    var captured: CapturedSession?
    /// Whether the session's microphone is on.
    var sessionHasMicrophone = false
    var watch: EndWatch?
    /// Why the session has to end even when another is wished after it.
    var ending: Ending?
    /// How the last one ended, and its last status.
    var last = Answer()
    var lastStatus: RecorderStatus
    var waiters: [Waiter] = []
    var isWorking = false
    /// The wait before a recording is wished.
    var sleeper: Task<Bool, Never>?
    var isClosed = false
  }

  /// What is to be done next.
  private enum Step {
    case begin(RecordingOptions, microphone: Bool)
    case end(RecordingSession, Ending)
    case switchMicrophone(RecordingSession, isOn: Bool)
  }

  /// What was done.
  private enum Done {
    case began(Result<Answer, RecorderError>)
    case ended(Answer)
    case nothing
  }

  let broadcast = StateBroadcast()
  private let options: RecorderOptions
  private let archive: ArchiveLocation
  private let name: String
  private let notify: @Sendable (String) -> Void
  private let carrier = Carrier()
  private let content: Mutex<Content>

  init(
    _ options: RecorderOptions, in archive: ArchiveLocation, name: String, notify: @escaping @Sendable (String) -> Void
  ) {
    (self.options, self.archive, self.name, self.notify) = (options, archive, name, notify)
    content = Mutex(
      Content(hasMicrophone: options.startsWithMicrophone, lastStatus: RecorderStatus(name: name, state: .idle)))
  }

  /// The recording that runs.
  var session: RecordingSession? { content.withLock { $0.session } }

  /// What it is doing, as the control socket tells it.
  var status: RecorderStatus {
    let (session, last) = content.withLock { ($0.session, $0.lastStatus) }
    if let session { return session.status(name: name) }
    var status = last
    status.process = getpid()
    return status
  }

  /// Wishes a recording, or none. While one runs, wishing one changes nothing.
  func wish(_ share: RecordingOptions?, answer: @escaping @Sendable (Result<Answer, RecorderError>) -> Void) {
    wish(.share(share != nil), answer) { content in
      if share == nil || content.share == nil { content.share = share }
    }
  }

  /// Wishes the microphone to be recorded, or not.
  func wish(microphone isOn: Bool, answer: @escaping @Sendable (Result<Answer, RecorderError>) -> Void) {
    wish(.microphone, answer) { $0.hasMicrophone = isOn }
  }

  /// Ends the recording that runs or is to begin; the first reason counts.
  func end(_ reason: Manifest.Reason, error: RecorderError? = nil, command: Manifest.WrappedCommand? = nil) {
    end(Ending(reason: reason, error: error, command: command)) { _ in true }
  }

  private func end(_ ending: Ending, of isMeant: (RecordingSession?) -> Bool) {
    content.withLock { content in
      guard isMeant(content.session) else { return }
      content.generation += 1
      content.share = nil
      content.ending = content.ending ?? ending
      work(&content)
    }
  }

  /// Begins a recording for somebody who asks from outside.
  func start(_ answer: @escaping @Sendable (Result<Answer, RecorderError>) -> Void) {
    let isBusy = content.withLock { $0.session != nil || $0.share != nil }
    guard !options.isCommand, !isBusy else {
      return answer(.failure(RecorderError(.busy, "The recorder \(name) records already, or is about to.")))
    }
    wish(options.recording, answer: answer)
  }

  /// Ends the recording for somebody who asks from outside, or the wait before it.
  func stop(_ answer: @escaping @Sendable (Result<Answer, RecorderError>) -> Void) {
    let (isRecording, early): (Bool, Result<Answer, RecorderError>) = content.withLock { content in
      if content.session != nil || content.share != nil { return (true, .success(content.last)) }
      content.sleeper?.cancel()
      if content.sleeper != nil || content.lastStatus.state != .idle { return (false, .success(content.last)) }
      return (false, .failure(RecorderError(.busy, "Nothing is being recorded yet.", hint: "Try again.")))
    }
    guard isRecording else { return answer(early) }
    waitForEnd(answer)
    end(.stopped)
  }

  /// Waits so many ns before a recording is wished.
  /// - Returns: whether they have passed; false as soon as somebody asks for the end.
  func wait(_ delay: Int64) async -> Bool {
    let sleeper = Task { (try? await Task.sleep(for: .nanoseconds(delay))) != nil }
    content.withLock { $0.sleeper = sleeper }
    defer { content.withLock { $0.sleeper = nil } }
    return await sleeper.value
  }

  /// Waits for the end of the recording that runs or is to begin; there is none to wait for after the last one's end.
  func waitForEnd(_ answer: @escaping @Sendable (Result<Answer, RecorderError>) -> Void) {
    let last = content.withLock { $0.isClosed ? $0.last : nil }
    if let last { return answer(.success(last)) }
    wish(.end, answer) { _ in }
  }

  /// Takes no more wishes, ends the recording, and tells nobody anything any more.
  func close() async {
    end(.stopped)
    _ = await withCheckedContinuation { continuation in waitForEnd { continuation.resume(returning: $0) } }
    content.withLock { $0.isClosed = true }
    broadcast.close()
  }

  private func wish(
    _ wish: Waiter.Wish, _ answer: @escaping @Sendable (Result<Answer, RecorderError>) -> Void,
    change: (inout Content) -> Void
  ) {
    let isTaken = content.withLock { content in
      guard !content.isClosed else { return false }
      content.generation += 1
      change(&content)
      content.waiters.append(Waiter(wish: wish, generation: content.generation, answer: answer))
      work(&content)
      return true
    }
    if !isTaken { answer(.failure(RecorderError(.busy, "The recorder is closed."))) }
  }

  /// Has the wishes carried out, unless that goes on already.
  private func work(_ content: inout Content) {
    guard !content.isWorking else { return }
    content.isWorking = true
    Task.detached { [self] in
      while let (step, generation) = next() { settle(await carry(out: step), generation) }
    }
  }

  /// The step that brings what is nearer to what is wished, and the newest wish that it takes into account. When there is
  /// none, the work is over and nobody waits any more.
  private func next() -> (Step, Int)? {
    let (step, generation, answers) = content.withLock { content in
      let step = Self.step(content)
      guard step == nil else { return (step, content.generation, [Answered]()) }
      content.isWorking = false
      content.ending = nil
      return (step, content.generation, Self.takeAnswers(.nothing, content.generation, from: &content))
    }
    for (answer, result) in answers { answer(result) }
    return step.map { ($0, generation) }
  }

  private static func step(_ content: Content) -> Step? {
    guard let session = content.session else {
      return content.share.map { .begin($0, microphone: content.hasMicrophone) }
    }
    if let ending = content.ending ?? (content.share == nil ? Ending() : nil) { return .end(session, ending) }
    guard content.hasMicrophone != content.sessionHasMicrophone else { return nil }
    return .switchMicrophone(session, isOn: content.hasMicrophone)
  }

  private func carry(out step: Step) async -> Done {
    switch step {
    case .begin(let options, let microphone): return .began(await begin(options, microphone))
    case .end(let session, let ending): return .ended(await end(session, ending))
    case .switchMicrophone(let session, let isOn):
      // One that is just ending does not take it: it is for the next one then.
      _ = try? session.set(.microphone, isOn: isOn)
      content.withLock { $0.sessionHasMicrophone = isOn }
      return .nothing
    }
  }

  private func begin(_ recording: RecordingOptions, _ microphone: Bool) async -> Result<Answer, RecorderError> {
    let follower = SessionFollower(broadcast)
    let (archive, command, notify) = (archive, options.command, notify)
    let result = await carrier.run { () throws(RecorderError) in
      try RecordingSession(
        recording, in: archive, command: command, off: microphone ? [] : [.microphone],
        follow: { follower.note($0, $1) },
        notify: { event in if let text = event.text { notify(text.printable) } })
    }
    switch result {
    case .success(let session):
      let captured = CapturedSession(session.id, in: archive)
      follower.attach(captured)
      let watch = EndWatch(of: session, recording) { [weak self] reason, error in
        self?.end(Ending(reason: reason, error: error)) { $0 === session }
      }
      content.withLock { content in
        (content.session, content.captured, content.watch) = (session, captured, watch)
        content.sessionHasMicrophone = microphone
      }
      return .success(Answer(session: captured))
    case .failure(let error):
      content.withLock { content in
        content.share = nil
        content.ending = nil
        content.last = Answer()
        content.lastStatus = RecorderStatus(name: name, state: .failed)
        content.lastStatus.message = error.message
      }
      broadcast.change { $0 = CaptureState(.failed, message: error.message) }
      return .failure(error)
    }
  }

  private func end(_ session: RecordingSession, _ ending: Ending) async -> Answer {
    let outcome = await session.stop(ending.reason, error: ending.error, command: ending.command)
    let answer = Answer(session: CapturedSession(session.id, in: archive, outcome: outcome), outcome: outcome)
    content.withLock { content in
      content.watch?.cancel()
      (content.session, content.captured, content.watch, content.ending) = (nil, nil, nil, nil)
      (content.last, content.lastStatus) = (answer, session.status(name: name))
    }
    broadcast.change { state in
      state = CaptureState(
        outcome.error == nil ? .finished : .failed, message: outcome.error?.message, session: answer.session)
    }
    return answer
  }

  private typealias Answered = (answer: @Sendable (Result<Answer, RecorderError>) -> Void, Result<Answer, RecorderError>)

  private func settle(_ done: Done, _ generation: Int) {
    for (answer, result) in content.withLock({ Self.takeAnswers(done, generation, from: &$0) }) { answer(result) }
  }

  /// Those who have waited for what was done, with wishes up to `generation`, and what they are told.
  private static func takeAnswers(_ done: Done, _ generation: Int, from content: inout Content) -> [Answered] {
    var (ready, waiting) = ([Answered](), [Waiter]())
    for waiter in content.waiters {
      if let result = answer(to: waiter, done, generation, content) {
        ready.append((waiter.answer, result))
      } else {
        waiting.append(waiter)
      }
    }
    content.waiters = waiting
    return ready
  }

  /// What `waiter` is told of what was done; nil when it has to wait on.
  private static func answer(
    to waiter: Waiter, _ done: Done, _ generation: Int, _ content: Content
  ) -> Result<Answer, RecorderError>? {
    switch (waiter.wish, done) {
    case (.end, .ended(let answer)): return .success(answer)
    case (.end, .began(.failure(let error))): return .failure(error)
    case (.end, .nothing) where content.session == nil && content.share == nil: return .success(content.last)
    case (.end, _): return nil
    case _ where waiter.generation > generation: return nil
    case (.share(true), .began(let result)): return result
    // A recording that had to end is followed by the one that was wished meanwhile.
    case (.share(true), .ended): return content.share == nil ? .success(Answer()) : nil
    case (.share(true), .nothing): return .success(Answer(session: content.captured))
    case (.share(false), .ended(let answer)): return .success(answer)
    case (.share(false), _): return .success(Answer())
    case (.microphone, _): return .success(Answer())
    }
  }
}
