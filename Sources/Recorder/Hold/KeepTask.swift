import SessionModel
import Synchronization
internal import Threading

/// A wish to keep what is held, on a thread of its own. Whoever had it is answered once: when it is carried out, or given
/// up because the disk hangs.
final class KeepTask: Sendable {
  /// The thread's share of the processor's time, and since when (monotonic ns) it is that.
  private struct Pulse {
    var used: Int64 = -1
    var since: Int64 = 0
  }

  typealias Body = @Sendable (_ disk: Disk) throws(RecorderError) -> RecordingSession.Effect

  /// What the thread and those who look after it tell each other.
  final class Disk: Sendable {
    private let isMeant = Atomic<Bool>(false)
    private let isRefused = Atomic<Bool>(false)

    /// Whether it is at work for the disk, as it says itself: in other waits nothing hangs.
    var isAtWork: Bool {
      get { isMeant.load(ordering: .relaxed) }
      set { isMeant.store(newValue, ordering: .relaxed) }
    }
    /// Whether it was given up: what it has made is not wanted any more.
    var isGivenUp: Bool {
      get { isRefused.load(ordering: .acquiring) }
      set { isRefused.store(newValue, ordering: .releasing) }
    }
  }

  private let answer: Once
  private let disk = Disk()
  private let thread: WorkerThread
  private let pulse = Mutex(Pulse())

  private final class Once: Sendable {
    private let answer: Mutex<HoldKeeper.Answer?>
    private let isOver = Atomic<Bool>(false)
    init(_ answer: @escaping HoldKeeper.Answer) { self.answer = Mutex(answer) }

    /// Whether that was done: the thread needs nothing any more then but to end.
    var isGiven: Bool { isOver.load(ordering: .acquiring) }

    func give(_ result: Result<RecordingSession.Effect, RecorderError>) {
      let answer = answer.withLock { answer in
        defer { answer = nil }
        return answer
      }
      guard let answer else { return }
      answer(result)
      isOver.store(true, ordering: .releasing)
    }
  }

  /// Runs `body` on a thread called `name` and gives its outcome to `answer`.
  /// - Throws: `RecorderError` (systemCall) when no thread is left.
  init(_ name: String, _ answer: @escaping HoldKeeper.Answer, _ body: @escaping Body) throws(RecorderError) {
    let (once, disk) = (Once(answer), disk)
    self.answer = once
    thread = try WorkerThread(name: name) {
      do throws(RecorderError) { once.give(.success(try body(disk))) } catch { once.give(.failure(error)) }
    }
  }

  /// Whether it was answered.
  var isOver: Bool { answer.isGiven }

  /// Whether it hangs at `now` (monotonic ns): has worked for the disk and used none of the processor's time for
  /// `patience` ns, as far as those who ask have seen.
  func hangs(at now: Int64, for patience: Int64) -> Bool {
    guard !isOver, let used = thread.processorTime else { return false }
    return pulse.withLock { pulse in
      if used != pulse.used || !disk.isAtWork { pulse = Pulse(used: used, since: now) }
      return now - pulse.since >= patience
    }
  }

  /// Answers with `error`, and leaves the thread alone.
  func giveUp(_ error: RecorderError) {
    disk.isGivenUp = true
    answer.give(.failure(error))
    thread.join(until: 0)
  }

  /// Waits for its end; false when it has hung for `patience` ns.
  func join(patience: Int64) -> Bool { thread.join(patience: patience) }
}
