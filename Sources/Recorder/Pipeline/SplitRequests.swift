import SessionModel
import Synchronization

/// Where a new file began.
struct Split: Sendable {
  /// The file's number, from 1.
  let number: Int
  /// The session's time at its start.
  let time: Timestamp
}

/// Those who wait for a new media file: first until the grab thread has a frame for it to begin with, then until the mux
/// thread has begun it.
final class SplitRequests: Sendable {
  typealias Answer = @Sendable (Result<Split, RecorderError>) -> Void

  private struct Content {
    var waiting: [Answer] = []
    /// One group a frame that begins a file and is on its way.
    var underway: [[Answer]] = []
  }
  private let content = Mutex(Content())

  /// Adds one who wants a new file.
  func add(_ answer: @escaping Answer) { content.withLock { $0.waiting.append(answer) } }

  /// Whether somebody waits.
  var isPending: Bool { content.withLock { !$0.waiting.isEmpty || !$0.underway.isEmpty } }

  /// Whether the frame that is being handed on is to begin a new file; all who wait are told when it has.
  func take() -> Bool {
    content.withLock { content in
      if content.waiting.isEmpty { return false }
      content.underway.append(content.waiting)
      content.waiting = []
      return true
    }
  }

  /// Tells those who wait for the oldest frame underway where its file began.
  func finish(_ split: Split) {
    let answers = content.withLock { $0.underway.isEmpty ? [] : $0.underway.removeFirst() }
    for answer in answers { answer(.success(split)) }
  }

  /// Tells those for whom there is no frame yet that there will be none, because of `error`.
  func refuse(_ error: RecorderError) {
    let answers = content.withLock { content in
      defer { content.waiting = [] }
      return content.waiting
    }
    for answer in answers { answer(.failure(error)) }
  }

  /// Tells all who wait that there will be none, because of `error`.
  func end(_ error: RecorderError) {
    let underway = content.withLock { content in
      defer { content.underway = [] }
      return content.underway
    }
    for answer in underway.flatMap(\.self) { answer(.failure(error)) }
    refuse(error)
  }
}
