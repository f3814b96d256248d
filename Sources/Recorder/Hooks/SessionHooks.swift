internal import Archive
import Control
import SessionModel
import Synchronization

/// Tells the hooks what happens to one recording. What happens before its session is known waits for it.
final class SessionHooks: Sendable {
  private struct Content {
    var session: SessionID?
    var waiting: [@Sendable (SessionID) -> HookMessage] = []
    var isWell = true
  }

  private let runner: HookRunner
  private let archive: ArchiveLocation
  private let content = Mutex(Content())

  init(_ runner: HookRunner, in archive: ArchiveLocation) { (self.runner, self.archive) = (runner, archive) }

  /// It records: `session` is its name.
  func began(_ session: SessionID) {
    var message = HookMessage(.started, session, in: archive)
    message.state = .recording
    runner.raise(message)
    let waiting = content.withLock { content in
      content.session = session
      defer { content.waiting = [] }
      return content.waiting
    }
    for make in waiting { runner.raise(make(session)) }
  }

  /// Takes the state that it is in now, and why when something is wrong.
  func note(_ state: RecordingState, _ text: String?) {
    let isWell = state != .degraded && state != .stalled
    let wasWell = content.withLock { content in
      // A pause says nothing about what is wrong.
      guard state != .paused else { return content.isWell }
      defer { content.isWell = isWell }
      return content.isWell
    }
    guard wasWell, !isWell else { return }
    raise { [archive] session in
      var message = HookMessage(.degraded, session, in: archive)
      (message.state, message.message) = (state, text ?? "A part of the recording hangs or is missing.")
      return message
    }
  }

  /// Takes what the person is told; gaps are for the hooks too.
  func note(_ event: Event) {
    guard event.kind == .gap, let gap = event.gap else { return }
    raise { [archive] session in
      var message = HookMessage(.gap, session, in: archive)
      (message.time, message.gap, message.message) = (event.time, gap, event.text)
      return message
    }
  }

  /// Takes the warning that the disk has little room left.
  func noteDisk(_ event: Event) {
    raise { [archive] session in
      var message = HookMessage(.disk, session, in: archive)
      (message.time, message.message) = (event.time, event.text ?? "The disk has little room left.")
      return message
    }
  }

  /// It has ended.
  /// - Parameter isSaved: whether its session stays in the archive.
  func ended(_ outcome: RecordingSession.Outcome, isSaved: Bool) {
    var message = HookMessage(.stopped, outcome.manifest.id, in: archive)
    message.state = outcome.error == nil ? .finished : .failed
    message.reason = outcome.manifest.end?.reason
    message.time = outcome.manifest.end?.time
    (message.message, message.exitCode) = (outcome.error?.message, outcome.error?.code.rawValue)
    runner.raise(message)
    if isSaved { runner.raise(HookMessage(.saved, outcome.manifest.id, in: archive)) }
  }

  private func raise(_ make: @escaping @Sendable (SessionID) -> HookMessage) {
    let session = content.withLock { content in
      if content.session == nil, content.waiting.count < HookRunner.capacity { content.waiting.append(make) }
      return content.session
    }
    if let session { runner.raise(make(session)) }
  }
}
