internal import Archive
import Control
import SessionModel
import Synchronization

/// Tells the hooks what happens to one recording. What happens before its session is known waits for it.
final class SessionHooks: Sendable {
  private struct Content {
    var hasBegun = false
    /// Nil while a capture is held.
    var session: SessionID?
    var waiting: [@Sendable (SessionID?) -> HookMessage] = []
    var isWell = true
  }

  private let runner: HookRunner
  private let archive: ArchiveLocation
  private let content = Mutex(Content())

  init(_ runner: HookRunner, in archive: ArchiveLocation) { (self.runner, self.archive) = (runner, archive) }

  /// It records: `session` is its name; nil is a capture that is held.
  func began(_ session: SessionID?) {
    var message = HookMessage(.started, session, in: archive)
    message.state = session == nil ? .holding : .recording
    runner.raise(message)
    let waiting = content.withLock { content in
      (content.hasBegun, content.session) = (true, session)
      defer { content.waiting = [] }
      return content.waiting
    }
    for make in waiting { runner.raise(make(session)) }
  }

  /// What was held is recorded as `session` from now on.
  func wasPublished(_ session: SessionID?) { content.withLock { $0.session = session } }

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
    let manifest = outcome.manifest
    var message = HookMessage(.stopped, manifest?.id, in: archive)
    message.state = outcome.error == nil ? .finished : .failed
    (message.reason, message.time) = (outcome.end.reason, outcome.end.time)
    (message.message, message.exitCode) = (outcome.error?.message ?? outcome.loss, outcome.error?.code.rawValue)
    runner.raise(message)
    if isSaved, let manifest { runner.raise(HookMessage(.saved, manifest.id, in: archive)) }
  }

  private func raise(_ make: @escaping @Sendable (SessionID?) -> HookMessage) {
    let (hasBegun, session) = content.withLock { content in
      if !content.hasBegun, content.waiting.count < HookRunner.capacity { content.waiting.append(make) }
      return (content.hasBegun, content.session)
    }
    if hasBegun { runner.raise(make(session)) }
  }
}
