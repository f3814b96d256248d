import Control
import SessionModel
import Synchronization
internal import Threading

/// Passes the states of one recording on, from when it has begun.
final class SessionFollower: Sendable {
  private struct Content {
    /// Says which session it is; nil before it has begun.
    var session: (@Sendable () -> CapturedSession?)?
    var phase = CaptureState.Phase.recording
    var message: String?
  }

  private let broadcast: StateBroadcast
  private let content = Mutex(Content())

  init(_ broadcast: StateBroadcast) { self.broadcast = broadcast }

  /// Takes the state that the recording is in now. How it ended is told by who ended it.
  func note(_ state: RecordingState, _ message: String?) {
    guard state.isLive else { return }
    content.withLock { content in
      (content.phase, content.message) = (CaptureState.Phase(state), message)
      tell(content)
    }
  }

  /// Begins to pass on.
  /// - Parameter session: says which session it is; while a capture is held there is none.
  func begin(_ session: @escaping @Sendable () -> CapturedSession?) {
    content.withLock { content in
      content.session = session
      tell(content)
    }
  }

  private func tell(_ content: Content) {
    guard let session = content.session else { return }
    broadcast.change { $0 = CaptureState(content.phase, message: content.message, session: session()) }
  }
}

/// A queue of its own, where the beginning of a recording waits for devices and threads.
actor Carrier {
  private nonisolated let executor = QueueExecutor(label: "recorder")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Does `body` on the queue.
  func run<Value: Sendable>(
    _ body: @Sendable () throws(RecorderError) -> Value
  ) -> Result<Value, RecorderError> {
    Result { () throws(RecorderError) in try body() }
  }
}
