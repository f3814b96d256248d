import Synchronization

/// The state of a recorder, told to everybody who follows it.
final class StateBroadcast: Sendable {
  private struct Content {
    var state = CaptureState(.idle)
    var followers: [Int: AsyncStream<CaptureState>.Continuation] = [:]
    var lastFollower = 0
    var isClosed = false
  }

  private let content = Mutex(Content())

  /// States that wait for a follower; of one that is slower the oldest are left out, and it gets the newest in any case.
  private static let capacity = 32

  /// What the recorder is doing.
  var state: CaptureState { content.withLock { $0.state } }

  /// Changes the state, and tells who follows when it is another.
  func change(_ body: (inout CaptureState) -> Void) {
    content.withLock { content in
      var state = content.state
      body(&state)
      guard state != content.state else { return }
      content.state = state
      for follower in content.followers.values { follower.yield(state) }
    }
  }

  /// The state now and each one that follows, until the recorder is closed.
  func follow() -> AsyncStream<CaptureState> {
    let (stream, follower) = AsyncStream.makeStream(
      of: CaptureState.self, bufferingPolicy: .bufferingNewest(Self.capacity))
    content.withLock { content in
      follower.yield(content.state)
      guard !content.isClosed else { return follower.finish() }
      content.lastFollower += 1
      let number = content.lastFollower
      content.followers[number] = follower
      follower.onTermination = { [weak self] reason in
        // A stream that was finished has been taken off the list already, by the one who holds the lock.
        guard case .cancelled = reason else { return }
        self?.content.withLock { $0.followers[number] = nil }
      }
    }
    return stream
  }

  /// Ends all streams, after what was told last.
  func close() {
    let followers = content.withLock { content in
      content.isClosed = true
      defer { content.followers = [:] }
      return content.followers.values
    }
    for follower in followers { follower.finish() }
  }
}
