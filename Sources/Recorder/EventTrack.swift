internal import Archive
import SessionModel
import Synchronization
internal import Threading

/// The event track of a session that is being written. A thread of its own appends the events, so that nobody who has
/// something to tell waits for the disk.
final class EventTrack: Sendable {
  /// Told why the events before it are not written, nil when they are; on the track's thread or the caller's.
  typealias Answer = @Sendable (RecorderError?) -> Void

  private enum Item: Sendable {
    case event(Event)
    case answer(Answer)
  }

  private struct Content {
    var waiting: [Item] = []
    /// Events that found no room since the last one that did.
    var omitted = 0
    /// What the answers since the last event that could not be written are told.
    var failure: RecorderError?
    var isClosed = false
  }

  private let writer: SessionWriter
  private let control: PipelineControl
  private let content = Mutex(Content())
  private let wake = BoundedQueue<Bool>(capacity: 1)
  private let thread = Mutex<WorkerThread?>(nil)

  /// Events that wait at most for a disk that takes nothing: two windows that change all the time make twenty each a
  /// second, and the disk is waited for a minute.
  static let mostWaiting = 4096

  /// Starts the thread.
  /// - Throws: `RecorderError` (systemCall) when no thread is left.
  init(_ writer: SessionWriter, _ control: PipelineControl) throws(RecorderError) {
    (self.writer, self.control) = (writer, control)
    let worker = try WorkerThread(name: "track") { [self] in
      while wake.pop() != nil { writeWaiting() }
      writeWaiting()
    }
    thread.withLock { $0 = worker }
  }

  /// Has `event`, whose time is the session's, written; one that finds no room is counted, and the track says so.
  func add(_ event: Event) { add([event], atMost: Self.mostWaiting) }

  /// Has `events` written, however many wait.
  func add(_ events: [Event]) { add(events, atMost: .max) }

  private func add(_ events: [Event], atMost limit: Int) {
    content.withLock { content in
      guard !content.isClosed else { return }
      guard content.waiting.count < limit else {
        content.omitted += events.count
        return
      }
      if content.omitted > 0, let time = events.first?.time {
        let text = "\(content.omitted) events are missing here: the disk took nothing."
        content.waiting.append(.event(Event(time: time, kind: .warning, text: text)))
        content.omitted = 0
      }
      content.waiting += events.map(Item.event)
    }
    _ = wake.tryPush(true)
  }

  /// Tells `answer` when the events up to now are written, or why they are not.
  func whenWritten(_ answer: @escaping Answer) {
    let isTaken = content.withLock { content in
      if !content.isClosed { content.waiting.append(.answer(answer)) }
      return !content.isClosed
    }
    if isTaken { _ = wake.tryPush(true) } else { answer(SessionControls.ending) }
  }

  /// Takes no more, and waits until all is written, at most as long as the disk is waited for.
  /// - Returns: whether all was.
  func finish() -> Bool {
    content.withLock { $0.isClosed = true }
    wake.close()
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    if thread?.join(patience: control.diskPatience) != false { return true }
    let error = control.giveUpDisk()
    for case .answer(let answer) in content.withLock({ $0.waiting }) { answer(error) }
    return false
  }

  private func writeWaiting() {
    let items = content.withLock { content in
      defer { content.waiting = [] }
      return content.waiting
    }
    for item in items {
      switch item {
      case .event(let event): write(event)
      case .answer(let answer):
        let failure = content.withLock { content in
          defer { content.failure = nil }
          return content.failure
        }
        answer(failure)
      }
    }
    control.notingSince.store(0, ordering: .relaxed)
  }

  /// A full disk is the media file's to report, which fails at the same time.
  private func write(_ event: Event) {
    control.notingSince.store(MonotonicClock.now(), ordering: .relaxed)
    do throws(RecorderError) {
      try writer.append(event)
    } catch {
      content.withLock { $0.failure = error }
      control.fail(.writeFailed, error)
    }
  }
}
