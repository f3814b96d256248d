package import Archive
internal import Capture
package import Control
import Glibc
package import SessionModel
import Synchronization
internal import Threading

/// One recording: finds its source, starts the threads that grab, encode, mix and write, and ends them in order.
///
/// It runs on a queue of its own, since starting and stopping wait for threads.
package actor RecordingSession {
  /// The session that is recorded; while a capture is held there is none, and when it has ended it is the one that what
  /// was held was saved as.
  package nonisolated var id: SessionID? { parts.sink.session?.writer.id ?? parts.hold?.savedAtEnd }
  private nonisolated let executor: QueueExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  nonisolated let parts: RecordingParts
  nonisolated let archive: ArchiveLocation
  private var outcome: Outcome?

  /// How a recording ended.
  package struct Outcome: Sendable {
    /// The session's manifest as it is on disk; nil when nothing was kept. One that is still `recording` is of a session
    /// that the next command recovers: the disk did not take its end.
    package let manifest: Manifest?
    /// Why and when it ended.
    package let end: Manifest.End
    /// Why the program must not end with 0; nil when all went as asked.
    package let error: RecorderError?
    /// What was held and is not kept, in one sentence; nil when nothing is lost.
    package let loss: String?
  }

  /// Starts to record, or to hold. Returns when the first frame is on disk, or held.
  /// - Parameters:
  ///   - options: what to record.
  ///   - archive: where to keep it.
  ///   - command: the command that it is recorded for.
  ///   - off: the sound inputs that begin switched off.
  ///   - follow: told each state that the recording takes, and one sentence why when something is wrong, in order, from
  ///     any thread; it must not call back.
  ///   - diskIsLow: called from any thread with the warning that the disk has little room left.
  ///   - journal: takes each line of the log too, on a thread of its own.
  ///   - notify: called from any thread with what the person should be told at once.
  /// - Throws: `RecorderError` that names what was wrong; nothing is left in the archive then.
  package init(
    _ options: RecordingOptions, in archive: ArchiveLocation, command: Manifest.WrappedCommand? = nil,
    off: Set<ControlRequest.Input> = [], follow: @escaping @Sendable (RecordingState, String?) -> Void = { _, _ in },
    diskIsLow: @escaping @Sendable (Event) -> Void = { _ in }, journal: @escaping RecorderLog.Output = { _, _ in },
    notify: @escaping @Sendable (Event) -> Void
  ) throws(RecorderError) {
    executor = QueueExecutor(label: "recording")
    parts = try Startup(
      options: options, archive: archive, command: command, off: off, follow: follow, diskIsLow: diskIsLow,
      notify: notify, journal: journal
    ).run()
    self.archive = archive
  }

  /// Waits until the recording can no longer go on by itself.
  /// - Returns: the reason and what to tell the person; nil when the task was cancelled.
  package nonisolated func failure() async -> (reason: Manifest.Reason, error: RecorderError)? {
    for await failure in parts.control.failures { return (failure.reason, failure.error) }
    return nil
  }

  /// How far the recording is.
  package struct Progress: Sendable {
    /// Nanoseconds since it began.
    package let elapsed: Int64
    /// Frames recorded and frames left out because the encoder was busy.
    package let frames: Int, droppedFrames: Int
    /// Nanoseconds since the last frame, while frames are wanted; nil while paused and before the first.
    package let still: Int64?
    /// The media files' size in bytes.
    package let bytes: Int64
    /// The loudest sample of the last moment, 0 to 1, of each sound input.
    package let levels: [Float]
  }

  /// How far the recording is now.
  package nonisolated var progress: Progress {
    let (now, lastFrame) = (MonotonicClock.now(), parts.control.lastFrame.load(ordering: .relaxed))
    // What follows a pause is a new frame, so the pause itself is no stillness.
    let isStill = lastFrame >= 0 && parts.control.isWanted(at: now)
    return Progress(
      elapsed: parts.sink.sessionTime(Timestamp(nanoseconds: now - parts.control.epoch)).nanoseconds,
      frames: parts.control.frames.load(ordering: .relaxed),
      droppedFrames: parts.control.droppedFrames.load(ordering: .relaxed),
      still: isStill ? now - parts.control.epoch - lastFrame : nil,
      bytes: parts.control.bytes.load(ordering: .relaxed),
      levels: parts.audio?.levels ?? [])
  }

  /// Ends the recording: sources stop, queues close, encoders flush, the file and the manifest are closed. Of a held
  /// capture a person who asks for the end (`stop`, the keyboard) loses what is held, unless `keepHeld` says otherwise; any
  /// other end saves it. Later calls return what the first one did.
  /// - Parameters:
  ///   - reason: why.
  ///   - error: what went wrong, when something did.
  ///   - command: how the command that it was recorded for ended.
  package func stop(
    _ reason: Manifest.Reason, error: RecorderError? = nil, command: Manifest.WrappedCommand? = nil
  ) -> Outcome {
    if let outcome { return outcome }
    let (log, began) = (parts.control.log, MonotonicClock.now())
    log?.note(.info, .control, "The recording ends.", ["reason": reason.rawValue])
    parts.health.willStop()
    // It looks after the disk until the last file is closed.
    defer { parts.health.stop() }
    parts.controls.willStop()
    var firstError = error
    func note(_ error: RecorderError?) { firstError = firstError ?? error }

    parts.control.stop(at: stopTime(for: reason))
    let end = Timestamp(nanoseconds: (parts.control.stopRequested ?? MonotonicClock.now()) - parts.control.epoch)
    parts.audio?.willStop(at: end)
    parts.events.stop(until: MonotonicClock.now() + VideoPipeline.patience)
    note(parts.video.finish())
    note(parts.audio?.stop(at: end))
    let (bytes, lastBytes, muxError) = parts.mux.finish()
    note(muxError)
    parts.sink.ring?.close()
    parts.hold?.close()
    note(parts.control.diskError)
    parts.control.splits.end(SessionControls.ending)
    let outcome: Outcome
    if let session = parts.sink.session {
      parts.controls.closeGaps(at: end)
      parts.changes.finish(at: end)
      let ending = Manifest.End(reason: reason, time: parts.sink.sessionTime(end), message: firstError?.message)
      var manifest = ended(session, ending, bytes: bytes)
      if let command { manifest.command = command }
      // The archive finishes a file that the mux thread could not.
      manifest.segments[manifest.segments.count - 1].bytes = muxError == nil ? lastBytes : nil
      outcome = finish(session, manifest, ending, since: began, firstError)
    } else {
      outcome = endHold(reason, at: end, firstError)
      log?.note(.info, .control, outcome.error?.message ?? outcome.loss ?? "What was held is saved.")
      log?.finish()
    }
    parts.controls.didStop(outcome.error, message: outcome.loss)
    self.outcome = outcome
    return outcome
  }

  /// The manifest of `session` as it is to be when it has ended.
  private func ended(_ session: OpenSession, _ end: Manifest.End, bytes: Int64) -> Manifest {
    var manifest = session.manifest.value
    manifest.state = .finished
    manifest.end = end
    manifest.segments[manifest.segments.count - 1].end = end.time
    manifest.statistics = Manifest.Statistics(
      frames: parts.control.frames.load(ordering: .relaxed) - session.before.frames,
      droppedFrames: parts.control.droppedFrames.load(ordering: .relaxed) - session.before.dropped, bytes: bytes)
    manifest.statistics?.sound = parts.audio?.statistics
    return manifest
  }

  /// Closes the session that everything went into.
  /// - Parameters:
  ///   - manifest: as it is to be.
  ///   - began: when its end began, in monotonic ns.
  private func finish(
    _ session: OpenSession, _ manifest: Manifest, _ end: Manifest.End, since began: Int64, _ error: RecorderError?
  ) -> Outcome {
    let control = parts.control
    if parts.sink.track?.finish() == false || !session.stopWatchingDisk(patience: control.diskPatience) {
      control.giveUpDisk()
    }
    let (sealed, sealError) = close(session, manifest, Event(time: end.time, kind: .stop, text: end.reason.rawValue))
    let failure = error ?? sealError
    control.log?.note(
      failure == nil ? .info : .error, .control, failure?.message ?? "The session is finished.",
      [
        "milliseconds": "\((MonotonicClock.now() - began) / 1_000_000)", "length": "\(end.time)",
        "bytes": "\(manifest.statistics?.bytes ?? 0)", "frames": "\(manifest.statistics?.frames ?? 0)",
        "dropped": "\(manifest.statistics?.droppedFrames ?? 0)",
      ])
    // Who follows the log reads until the session's lock is free; a thread that hangs keeps it as long as it lives.
    control.log?.finish()
    if control.diskError == nil { session.writer.close() }
    return Outcome(manifest: sealed, end: sealed.end ?? end, error: failure, loss: nil)
  }

  /// Brings the session's files into order, on a thread of its own, so that a disk that hangs can be given up; of one that
  /// was given up already the session only keeps how it ended.
  /// - Returns: the manifest as it is on disk, as far as that is known, and what went wrong.
  private func close(_ session: OpenSession, _ manifest: Manifest, _ stop: Event) -> (Manifest, RecorderError?) {
    let (control, closed) = (parts.control, BoundedQueue<(Manifest, RecorderError?)>(capacity: 1))
    var unfinished = manifest
    unfinished.state = .recording
    let body: @Sendable () -> Void = {
      if let error = control.diskError {
        _ = closed.tryPush((session.writer.suspend(manifest, stop), error))
      } else {
        _ = closed.tryPush(session.writer.finish(manifest, stop))
      }
    }
    do throws(RecorderError) {
      let hasEnded = try WorkerThread(name: "finish", body: body).join(patience: control.diskPatience)
      return hasEnded ? closed.tryPop() ?? (unfinished, nil) : (unfinished, control.giveUpDisk())
    } catch {
      // The next command recovers the session.
      return (unfinished, error)
    }
  }

  /// Saves what is held, or gives it up when a person has asked for the end.
  private func endHold(_ reason: Manifest.Reason, at end: Timestamp, _ error: RecorderError?) -> Outcome {
    let ending = Manifest.End(reason: reason, time: end, message: error?.message)
    guard let hold = parts.hold, let held = hold.ring.extent else {
      return Outcome(manifest: nil, end: ending, error: error, loss: nil)
    }
    if error == nil, hold.isLoss(reason) {
      let length = Timestamp(nanoseconds: held.end - held.start)
      let loss = "\(length) of picture and sound were held and are not kept."
      return Outcome(manifest: nil, end: ending, error: nil, loss: loss)
    }
    let (manifest, saveError) = hold.saveRest(until: end, reason, message: error?.message)
    return Outcome(manifest: manifest, end: manifest?.end ?? ending, error: error ?? saveError, loss: nil)
  }

  /// Nanoseconds that a duration may be over before the recording hears of it, on a busy machine. One that hears of it
  /// later (it was stopped, or the X server held it up) has gone on recording, and says how long.
  private static let lateness: Int64 = 1_000_000_000

  /// Now, or exactly the end of the duration that was asked for.
  private func stopTime(for reason: Manifest.Reason) -> Int64 {
    let now = MonotonicClock.now()
    guard reason == .duration, let duration = parts.options.duration else { return now }
    let asked = parts.control.epoch + duration
    return now - asked > Self.lateness ? now : min(now, asked)
  }
}
