import Control
import SessionModel

/// What a recorder can be told from outside while it runs; none of it waits.
extension CaptureDirector {
  /// Notes what the process `sender` asks for.
  func note(_ request: ControlRequest, from sender: Int32) { session?.note(request, from: sender) }

  /// Carries out what a client of the control socket asks for.
  func perform(_ request: ControlRequest, _ answer: @escaping @Sendable (ControlResponse) -> Void) {
    switch request.command {
    case .stop:
      if request.keeps == true { session?.keepHeld(.stop) }
      stop { [self] result in
        answer(response(result.flatMap { ended in ended.outcome?.error.map { .failure($0) } ?? .success(nil) }))
      }
    case .start: start { [self] result in answer(response(result.map { _ in nil })) }
    default: tell(request) { [self] result in answer(response(result.map { $0 })) }
    }
  }

  private func response(_ result: Result<RecordingSession.Effect?, RecorderError>) -> ControlResponse {
    switch result {
    case .success(let effect): ControlResponse(status, time: effect?.time, session: effect?.session)
    case .failure(let error): ControlResponse(error, status: status)
    }
  }

  /// Tells the recording that runs.
  /// - Parameter answer: told what was done, or why it was not.
  func tell(
    _ request: ControlRequest, _ answer: @escaping @Sendable (Result<RecordingSession.Effect, RecorderError>) -> Void
  ) {
    guard let session else {
      return answer(.failure(RecorderError(.busy, "The recording has not begun yet.", hint: "Try again.")))
    }
    session.perform(request) { [self] result in
      if case .success(let effect) = result {
        if request.command == .publish { wasPublished(session) }
        if request.command == .save, let saved = effect.session { announce(saved: saved) }
      }
      answer(result)
    }
  }
}
