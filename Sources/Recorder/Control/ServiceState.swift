import Control
import Glibc
import SessionModel
import Synchronization

/// What a control server's thread and the recording share.
final class ServiceState: Sendable {
  private struct Content {
    var session: RecordingSession?
    /// Told when all is finished.
    var stops: [@Sendable (ControlResponse) -> Void] = []
    /// What a stop is answered once all is finished.
    var ended: ControlResponse?
  }

  private let name: String
  private let request: AsyncStream<Void>.Continuation
  private let content = Mutex(Content())

  /// - Parameter request: told when a client asks for the end.
  init(name: String, request: AsyncStream<Void>.Continuation) { (self.name, self.request) = (name, request) }

  func attach(_ session: RecordingSession) { content.withLock { $0.session = session } }

  /// Whether a client waits for the end.
  var isStopping: Bool { content.withLock { !$0.stops.isEmpty } }

  /// What the recording is doing: idle until it has begun.
  var status: RecorderStatus {
    if let session = content.withLock({ $0.session }) { return session.status(name: name) }
    var status = RecorderStatus(name: name, state: .idle)
    status.process = getpid()
    return status
  }

  /// Carries out what a client asked for.
  func perform(_ request: ControlRequest, _ answer: @escaping @Sendable (ControlResponse) -> Void) {
    if request.command == .stop { return stop(answer) }
    guard let session = content.withLock({ $0.session }) else {
      return answer(
        ControlResponse(RecorderError(.busy, "The recording has not begun yet.", hint: "Try again."), status: status))
    }
    session.perform(request) { [self] result in
      switch result {
      case .success(let time): answer(ControlResponse(status, time: time))
      case .failure(let error): answer(ControlResponse(error, status: status))
      }
    }
  }

  private func stop(_ answer: @escaping @Sendable (ControlResponse) -> Void) {
    let ended = content.withLock { content in
      if content.ended == nil { content.stops.append(answer) }
      return content.ended
    }
    if let ended { return answer(ended) }
    request.yield()
  }

  /// Answers those who asked for the end.
  func finish(_ error: RecorderError?) {
    let status = status
    let response = error.map { ControlResponse($0, status: status) } ?? ControlResponse(status)
    let stops = content.withLock { content in
      content.ended = response
      defer { content.stops = [] }
      return content.stops
    }
    for answer in stops { answer(response) }
  }
}
