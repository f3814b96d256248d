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
  let broadcast = StateBroadcast()
  private let options: RecorderOptions
  private let archive: ArchiveLocation
  let name: String
  private let notify: @Sendable (String) -> Void
  private let hooks: HookRunner
  private let carrier = Carrier()
  private let content: Mutex<CaptureWishes>

  init(
    _ options: RecorderOptions, in archive: ArchiveLocation, name: String, notify: @escaping @Sendable (String) -> Void
  ) throws(RecorderError) {
    (self.options, self.archive, self.name, self.notify) = (options, archive, name, notify)
    hooks = try HookRunner(options.hooks, output: options.hookOutput, tell: notify)
    content = Mutex(
      CaptureWishes(
        hasMicrophone: options.startsWithMicrophone, archive: archive,
        lastStatus: RecorderStatus(name: name, state: .idle)))
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

  /// Wishes a recording, or none. While one runs, wishing one changes nothing; a capture that is held becomes one.
  func wish(_ share: RecordingOptions?, answer: @escaping CaptureAnswer.Taker) {
    wish(.share(share != nil), answer) { content in
      if share == nil || content.share == nil { content.share = share } else { content.share?.hold = share?.hold }
    }
  }

  /// Notes that the held capture `session` has become a recording.
  func wasPublished(_ session: RecordingSession) {
    content.withLock { content in
      if content.session === session { content.hooks?.wasPublished(session.id) }
    }
  }

  /// Wishes the capture that is held to be recorded, beginning with the `last` ns of it.
  func publish(last: Int64, answer: @escaping CaptureAnswer.Taker) {
    let isCapturing = content.withLock { $0.session != nil || $0.share != nil }
    guard isCapturing else {
      return answer(.failure(RecorderError(.busy, "There is no capture that could be published.")))
    }
    wish(.share(true), answer) { content in
      content.stretch = last
      content.share?.hold = nil
    }
  }

  /// Wishes the microphone to be recorded, or not.
  func wish(microphone isOn: Bool, answer: @escaping CaptureAnswer.Taker) {
    wish(.microphone, answer) { $0.hasMicrophone = isOn }
  }

  /// Ends the recording that runs or is to begin; the first reason counts.
  func end(_ reason: Manifest.Reason, error: RecorderError? = nil, command: Manifest.WrappedCommand? = nil) {
    end(CaptureWishes.Ending(reason: reason, error: error, command: command)) { _ in true }
  }

  private func end(_ ending: CaptureWishes.Ending, of isMeant: (RecordingSession?) -> Bool) {
    content.withLock { content in
      guard isMeant(content.session) else { return }
      content.generation += 1
      content.share = nil
      content.ending = content.ending ?? ending
      work(&content)
    }
  }

  /// Begins a recording for somebody who asks from outside.
  func start(_ answer: @escaping CaptureAnswer.Taker) {
    let isBusy = content.withLock { $0.session != nil || $0.share != nil }
    guard !options.isCommand, !isBusy else {
      return answer(.failure(RecorderError(.busy, "The recorder \(name) records already, or is about to.")))
    }
    wish(options.outside, answer: answer)
  }

  /// Ends the recording for somebody who asks from outside, or the wait before it.
  func stop(_ answer: @escaping CaptureAnswer.Taker) {
    let (isRecording, early): (Bool, CaptureAnswer.Outcome) = content.withLock { content in
      if content.session != nil || content.share != nil { return (true, .success(content.end)) }
      content.sleeper?.cancel()
      if content.sleeper != nil || content.lastStatus.state != .idle { return (false, .success(content.end)) }
      return (false, .failure(RecorderError(.busy, "Nothing is being recorded yet.", hint: "Try again.")))
    }
    guard isRecording else { return answer(early) }
    waitForEnd(answer)
    end(.stopped)
  }

  /// Waits so many ns before a recording is wished.
  /// - Returns: whether they have passed; false as soon as somebody asks for the end.
  func wait(_ delay: Int64) async -> Bool {
    let sleeper = Task(executorPreference: QueueExecutor(label: "delay")) {
      (try? await Task.sleep(for: .nanoseconds(delay))) != nil
    }
    content.withLock { $0.sleeper = sleeper }
    defer { content.withLock { $0.sleeper = nil } }
    return await sleeper.value
  }

  /// Waits for the end of the recording that runs or is to begin; there is none to wait for after the last one's end.
  func waitForEnd(_ answer: @escaping CaptureAnswer.Taker) {
    let last = content.withLock { $0.isClosed ? $0.end : nil }
    if let last { return answer(.success(last)) }
    wish(.end, answer) { _ in }
  }

  /// Takes no more wishes, ends the recording, and tells nobody anything any more.
  func close() async {
    end(.stopped)
    _ = await withCheckedContinuation { continuation in waitForEnd { continuation.resume(returning: $0) } }
    content.withLock { $0.isClosed = true }
    broadcast.close()
    if !options.isCommand { await finishHooks() }
  }

  /// Waits until the hooks have ended; no others are run.
  func finishHooks() async {
    let hooks = hooks
    _ = await carrier.run { () throws(RecorderError) in hooks.finish() }
  }

  /// Tells the hooks that `session` stays in the archive, which was not known when it ended.
  func announce(saved session: SessionID) { hooks.raise(HookMessage(.saved, session, in: archive)) }

  private func wish(
    _ wish: CaptureWishes.Waiter.Wish, _ answer: @escaping CaptureAnswer.Taker,
    change: (inout CaptureWishes) -> Void
  ) {
    let isTaken = content.withLock { content in
      guard !content.isClosed else { return false }
      content.generation += 1
      change(&content)
      content.waiters.append(CaptureWishes.Waiter(wish: wish, generation: content.generation, answer: answer))
      work(&content)
      return true
    }
    if !isTaken { answer(.failure(RecorderError(.busy, "The recorder is closed."))) }
  }

  /// Has the wishes carried out, unless that goes on already.
  private func work(_ content: inout CaptureWishes) {
    guard !content.isWorking else { return }
    content.isWorking = true
    Task.detached(executorPreference: QueueExecutor(label: "wishes")) { [self] in
      while let (step, generation) = next() { settle(await carry(out: step), generation) }
    }
  }

  /// The step that brings what is nearer to what is wished, and the newest wish that it takes into account. When there is
  /// none, the work is over and nobody waits any more.
  private func next() -> (CaptureWishes.Step, Int)? {
    let (step, generation, answers) = content.withLock { content in
      let step = content.step
      guard step == nil else { return (step, content.generation, [CaptureWishes.Answered]()) }
      content.isWorking = false
      content.ending = nil
      return (step, content.generation, content.takeAnswers(.nothing, content.generation))
    }
    for (answer, result) in answers { answer(result) }
    return step.map { ($0, generation) }
  }

  private func carry(out step: CaptureWishes.Step) async -> CaptureWishes.Done {
    switch step {
    case .begin(let options, let microphone): return .began(await begin(options, microphone))
    case .end(let session, let ending): return .ended(await end(session, ending))
    case .publish(let session, let last): return .published(await publish(session, last))
    case .switchMicrophone(let session, let isOn):
      // One that is just ending does not take it: it is for the next one then.
      _ = try? session.set(.microphone, isOn: isOn)
      content.withLock { $0.sessionHasMicrophone = isOn }
      return .nothing
    }
  }

  private func begin(_ recording: RecordingOptions, _ microphone: Bool) async -> CaptureAnswer.Outcome {
    let (follower, hooks) = (SessionFollower(broadcast), SessionHooks(hooks, in: archive))
    let (archive, command, journal, notify) = (archive, options.command, options.journal, notify)
    let result = await carrier.run { () throws(RecorderError) in
      try RecordingSession(
        recording, in: archive, command: command, off: microphone ? [] : [.microphone],
        follow: { state, message in
          follower.note(state, message)
          hooks.note(state, message)
        },
        diskIsLow: { hooks.noteDisk($0) }, journal: journal,
        notify: { event in
          hooks.note(event)
          if let text = event.text { notify(text.printable) }
        })
    }
    switch result {
    case .success(let session):
      let captured: @Sendable () -> CapturedSession? = { session.id.map { CapturedSession($0, in: archive) } }
      follower.begin(captured)
      self.hooks.note(in: session.parts.control.log)
      hooks.began(session.id)
      content.withLock { content in
        (content.session, content.hooks) = (session, hooks)
        content.sessionHasMicrophone = microphone
      }
      // Not before: a duration that is over already ends it at once, and only what is known to run can be ended.
      let watch = EndWatch(of: session, recording) { [weak self] reason, error in
        self?.end(CaptureWishes.Ending(reason: reason, error: error)) { $0 === session }
      }
      content.withLock { $0.watch = watch }
      return .success(CaptureAnswer(session: captured()))
    case .failure(let error):
      content.withLock { content in
        content.share = nil
        content.ending = nil
        content.end = CaptureAnswer()
        content.lastStatus = RecorderStatus(name: name, state: .failed)
        content.lastStatus.message = error.message
      }
      broadcast.change { $0 = CaptureState(.failed, message: error.message) }
      return .failure(error)
    }
  }

  private func end(_ session: RecordingSession, _ ending: CaptureWishes.Ending) async -> CaptureAnswer {
    let outcome = await session.stop(ending.reason, error: ending.error, command: ending.command)
    let captured = session.id.map { CapturedSession($0, in: archive, outcome: outcome) }
    let answer = CaptureAnswer(session: captured, outcome: outcome)
    let hooks = content.withLock { content in
      content.watch?.cancel()
      defer { content.hooks = nil }
      (content.session, content.watch, content.ending) = (nil, nil, nil)
      (content.end, content.lastStatus) = (answer, session.status(name: name))
      return content.hooks
    }
    // A session of a wrapped command may be taken away again.
    hooks?.ended(outcome, isSaved: options.command == nil)
    broadcast.change { state in
      state = CaptureState(
        outcome.error == nil ? .finished : .failed, message: outcome.error?.message ?? outcome.loss,
        session: answer.session)
    }
    return answer
  }

  private func publish(_ session: RecordingSession, _ last: Int64) async -> CaptureAnswer.Outcome {
    var request = ControlRequest(.publish)
    request.last = last
    let publication = request
    let result = await withCheckedContinuation { continuation in
      tell(publication) { continuation.resume(returning: $0) }
    }
    return content.withLock { content in
      switch result {
      // It may have been published from outside at the same time.
      case .success: return .success(CaptureAnswer(session: content.captured))
      case .failure where session.id != nil: return .success(CaptureAnswer(session: content.captured))
      case .failure(let error):
        // It stays held.
        content.share?.hold = options.outside.hold
        return .failure(error)
      }
    }
  }

  private func settle(_ done: CaptureWishes.Done, _ generation: Int) {
    for (answer, result) in content.withLock({ $0.takeAnswers(done, generation) }) { answer(result) }
  }
}
