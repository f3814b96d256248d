import SessionModel
import Synchronization
internal import Threading

/// What other threads hand to the server's thread.
final class ControlMailbox: Sendable {
  private struct Content {
    var answers: [(client: Int, response: ControlResponse)] = []
    var isClosing = false
  }
  private let content = Mutex(Content())
  /// Set when there is something.
  let wake: WakeSignal

  init() throws(RecorderError) { wake = try WakeSignal() }

  /// Hands over the answer for the client `client`.
  func answer(_ client: Int, _ response: ControlResponse) {
    content.withLock { $0.answers.append((client, response)) }
    wake.notify()
  }

  /// Tells the thread to end.
  func close() {
    content.withLock { $0.isClosing = true }
    wake.notify()
  }

  /// What has come since the last call, and whether the thread is to end.
  func take() -> (answers: [(client: Int, response: ControlResponse)], isClosing: Bool) {
    wake.drain()
    return content.withLock { content in
      defer { content.answers = [] }
      return (content.answers, content.isClosing)
    }
  }
}
