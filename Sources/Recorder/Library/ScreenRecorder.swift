internal import Archive
package import Control
import Glibc
package import SessionModel

/// Records the screen and the microphone for the program that makes it.
///
/// What is to be recorded is wished by ``setScreenShare(enabled:options:)`` and ``setMicrophone(enabled:)``, in any order
/// and from any task. The wishes are carried out one after the other, and the last one wins: a call returns when its
/// wish, or a later one that took its place, has been carried out.
///
/// ```swift
/// let recorder = try ScreenRecorder()
/// try await recorder.setScreenShare(enabled: true)
/// ```
public final class ScreenRecorder: Sendable {
  private let options: RecorderOptions
  private let director: CaptureDirector
  private let service: ControlService?

  /// Makes a recorder that records nothing yet.
  /// - Parameters:
  ///   - options: what it does unless a call says otherwise.
  ///   - notify: told, from any thread, what the person should know at once, in a sentence: a device that is missing or was
  ///     lost, a disk that fills up.
  /// - Throws: ``CaptureError``: configuration when there is no place for the archive, busy when the control name is
  ///   taken, usage when it cannot be one, permission.
  public init(
    options: RecorderOptions = RecorderOptions(), notify: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(CaptureError) {
    let made = try translated { () throws(RecorderError) in try Self.make(options, notify) }
    (self.options, director, service) = (options, made.director, made.service)
  }

  private static func make(
    _ options: RecorderOptions, _ notify: @escaping @Sendable (String) -> Void
  ) throws(RecorderError) -> (director: CaptureDirector, service: ControlService?) {
    let archive: ArchiveLocation
    if let path = options.archive {
      archive = ArchiveLocation(path: path)
    } else {
      archive = try ArchiveLocation.standard(options.environment)
    }
    let name: InstanceName?
    if let text = options.controlName {
      name = try InstanceName(parsing: text)
    } else {
      name = options.isCommand ? InstanceName(process: getpid()) : nil
    }
    let director = try CaptureDirector(options, in: archive, name: name?.text ?? "", notify: notify)
    guard let name else { return (director, nil) }
    return (director, try ControlService(name, environment: options.environment, archive: archive, director))
  }

  /// Ends what is recorded; ``close()`` also waits for it.
  deinit { director.end(.stopped) }

  /// Begins a recording, or ends it. What is so already changes nothing: the options of a second call are for the next
  /// recording that begins. A capture that is held becomes a recording, or is let go.
  /// - Parameters:
  ///   - enabled: whether the screen is to be recorded.
  ///   - options: how; nil is as the recorder's own options say.
  /// - Returns: the session that is recorded, once its first frame is on disk; for an end the session that has ended,
  ///   all its files finished. Nil when there was nothing to end, or a later wish has taken this one's place.
  /// - Throws: ``CaptureError`` that says why the recording cannot begin; nothing is left of it in the archive then, and
  ///   it is wished no longer. What goes wrong at an end is in ``CapturedSession/end``.
  @discardableResult
  public func setScreenShare(
    enabled: Bool, options: ScreenShareCaptureOptions? = nil
  ) async throws(CaptureError) -> CapturedSession? {
    var recording = self.options.recording
    if let options { recording.screenShare = options }
    let wanted = enabled ? recording : nil
    let director = director
    let result = await withCheckedContinuation { continuation in
      director.wish(wanted) { continuation.resume(returning: $0) }
    }
    return try translated { () throws(RecorderError) in try result.get().session }
  }

  /// Records the microphone, or closes it. In a recording that runs, its device is opened or closed then and there, and
  /// while it is closed its track is silent and says so; else it is remembered for the next recording.
  ///
  /// A device that is missing is waited for: the recording is ``CaptureState/Phase/degraded`` meanwhile.
  /// - Throws: ``CaptureError`` (usage) when ``RecorderOptions/microphone`` is nil: recordings have no track for it.
  public func setMicrophone(enabled: Bool) async throws(CaptureError) {
    guard options.recording.audio.microphone != nil else {
      throw CaptureError(
        RecorderError(
          .usage, "This recorder has no microphone.", hint: "Give its options one before the recorder is made."))
    }
    let director = director
    let result = await withCheckedContinuation { continuation in
      director.wish(microphone: enabled) { continuation.resume(returning: $0) }
    }
    _ = try translated { () throws(RecorderError) in try result.get() }
  }

  /// Makes a recording of a capture that was begun from outside and is held: all is kept from now on. A capture that is
  /// recorded already stays so.
  /// - Parameter last: how much of what is held comes before; it begins with a whole picture, at most two seconds earlier.
  /// - Returns: the session, once all of that is in it.
  /// - Throws: ``CaptureError``: busy when there is no capture, writeFailed when the disk does not take it, which leaves it
  ///   held.
  @discardableResult
  public func publish(last: Duration = .zero) async throws(CaptureError) -> CapturedSession? {
    let director = director
    let result = await withCheckedContinuation { continuation in
      director.publish(last: last.nanoseconds) { continuation.resume(returning: $0) }
    }
    return try translated { () throws(RecorderError) in try result.get().session }
  }

  /// Ends the recording, if there is one, and all streams of ``states``, and gives the control name back. The recorder
  /// takes no more wishes after it.
  public func close() async {
    await director.close()
    await service?.close()
  }

  /// What the recorder is doing now.
  public var state: CaptureState { director.broadcast.state }

  /// What the recorder is doing: the state now, then each one that follows, until the recorder is closed. Of a reader
  /// that is slow the oldest states are left out, never the newest. Each stream is its reader's own.
  public var states: AsyncStream<CaptureState> { director.broadcast.follow() }

  /// How far the recording is.
  public var status: CaptureStatus { CaptureStatus(director.broadcast.state, director.status) }
}

/// What a recording can be told while it runs. Each call returns the point of the recording at which it took effect, and
/// throws ``CaptureError`` (busy) when there is none, or when it is just ending. What is so already changes nothing.
extension ScreenRecorder {
  /// Goes on in time without recording anything.
  @discardableResult
  public func pause() async throws(CaptureError) -> Duration { try await tell(ControlRequest(.pause)) }

  /// Records again.
  @discardableResult
  public func resume() async throws(CaptureError) -> Duration { try await tell(ControlRequest(.resume)) }

  /// Marks this moment, so that `recorder search` finds it.
  @discardableResult
  public func mark(_ text: String? = nil) async throws(CaptureError) -> Duration {
    try await tell(ControlRequest(.mark, text: text))
  }

  /// Begins a new media file; returns when it has begun.
  @discardableResult
  public func split() async throws(CaptureError) -> Duration { try await tell(ControlRequest(.split)) }

  private func tell(_ request: ControlRequest) async throws(CaptureError) -> Duration {
    let director = director
    let result = await withCheckedContinuation { continuation in
      director.tell(request) { continuation.resume(returning: $0) }
    }
    return try translated { () throws(RecorderError) in .nanoseconds(try result.get().time.nanoseconds) }
  }
}

/// What this package's own commands need beside.
extension ScreenRecorder {
  /// Waits so many ns before a recording begins.
  /// - Returns: whether they have passed; false as soon as somebody asks for the end.
  package func wait(_ delay: Int64) async -> Bool { await director.wait(delay) }

  /// Asks for the end of the recording that runs or is to begin; the first reason counts.
  package func end(_ reason: Manifest.Reason, command: Manifest.WrappedCommand? = nil) {
    director.end(reason, command: command)
  }

  /// Waits for the end of the recording.
  /// - Returns: how it ended; nil when none began.
  package func outcome() async -> RecordingSession.Outcome? {
    let director = director
    let result = await withCheckedContinuation { continuation in
      director.waitForEnd { continuation.resume(returning: $0) }
    }
    return try? result.get().outcome
  }

  /// Waits until the hooks have ended; no others are run.
  package func finishHooks() async { await director.finishHooks() }

  /// Tells the hooks that the session of a wrapped command stays in the archive.
  package func announce(saved session: SessionID) { director.announce(saved: session) }

  /// The name by which it is controlled; empty when it is not.
  package var name: String { director.name }

  /// Whether a capture is held of which nothing is kept.
  package var isHolding: Bool { director.session.map { $0.id == nil } ?? false }

  /// Has what is held saved when a signal ends the capture, of which nobody would hear what it loses.
  package func keepHeldAtSignals() { director.session?.keepHeld(.keyboard) }

  /// How far the recording is; nil when there is none.
  package var progress: RecordingSession.Progress? { director.session?.progress }

  /// Adds a line that the recorded command wrote to the session's events.
  package func note(line: String) { director.session?.note(line: line) }

  /// Shows `stage`, which is none of the recording's own, among its stages.
  package func add(stage: @escaping @Sendable () -> RecorderStatus.Stage) { director.session?.add(stage: stage) }
}
