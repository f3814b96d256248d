internal import Archive
package import Control
import Glibc
package import SessionModel
import Synchronization
internal import Threading

/// What a recording can be told while it runs, from any thread.
extension RecordingSession {
  /// What a request has done.
  package struct Effect: Sendable {
    /// Where on the session's time line, or on a held capture's own.
    package let time: Timestamp
    /// The session that it has made.
    package let session: SessionID?
  }

  /// Carries `request` out. The answer comes when the session's events tell of it, except a split's, which comes when the new file has begun, and a
  /// save's and a publication's, which come when the session has what it is to have.
  /// - Parameter answer: told what was done, or why it was not.
  package nonisolated func perform(
    _ request: ControlRequest, answer: @escaping @Sendable (Result<Effect, RecorderError>) -> Void
  ) {
    let (controls, sink) = (parts.controls, parts.sink)
    // What was acknowledged is in the session, even when the recorder is killed the next moment.
    func tell(_ time: Timestamp) {
      let effect = Effect(time: sink.sessionTime(time), session: nil)
      sink.whenWritten { failure in answer(failure.map { .failure($0) } ?? .success(effect)) }
    }
    do throws(RecorderError) {
      switch request.command {
      case .pause: tell(try controls.pause())
      case .resume: tell(try controls.resume())
      case .mute:
        guard let input = request.input else {
          throw RecorderError(.usage, "The request does not say which input to mute.")
        }
        tell(try controls.mute(input))
      case .unmute: tell(try controls.unmute(request.input))
      case .gain: tell(try controls.setGains(request.gains ?? GainChange()))
      case .mark: tell(try controls.mark(request.text))
      case .split: controls.split { split in answer(split.map { Effect(time: $0, session: nil) }) }
      case .save: try keeper.save(HoldKeeper.Wish(request), answer: answer)
      case .publish: try keeper.publish(HoldKeeper.Wish(request), answer: answer)
      case .status, .watch, .start, .stop:
        throw RecorderError(.brokenInvariant, "The request is none to a running session.")
      }
    } catch {
      answer(.failure(error))
    }
  }

  private nonisolated var keeper: HoldKeeper {
    get throws(RecorderError) {
      guard let hold = parts.hold else { throw HoldKeeper.isPublished }
      return hold
    }
  }

  /// Has what is held saved when the capture ends: by `stop`, by a signal, or by either.
  package nonisolated func keepHeld(_ ends: HeldEnds) { parts.hold?.keep(at: ends) }

  /// Opens the device of `input`, or closes it; while it is closed the input is silent, which is a gap. What is so already
  /// changes nothing.
  /// - Returns: the point of the session's time line at which it took effect.
  /// - Throws: `RecorderError`: unavailable when the session has no such input, busy when it is ending.
  @discardableResult
  package nonisolated func set(_ input: ControlRequest.Input, isOn: Bool) throws(RecorderError) -> Timestamp {
    try parts.controls.set(input, isOn: isOn)
  }

  /// Notes in the log that the process `sender` asked for something.
  nonisolated func note(_ request: ControlRequest, from sender: Int32) {
    parts.control.log?.note(
      .info, .control, "A client asks for something.",
      [
        "request": request.command.rawValue, "process": sender == 0 ? "unknown" : "\(sender)",
        "input": request.input?.rawValue ?? "none",
      ])
  }

  /// Lines of the recorded command's that may wait for the disk: a quarter of what the event track lets wait.
  private static let linesAhead = EventTrack.mostWaiting / 4

  /// Adds a line that the recorded command wrote to the session's events. A command that writes faster than they are written
  /// waits for them, as it would for a file, at most as long as the disk is waited for.
  package nonisolated func note(line: String) {
    guard let count = parts.controls.note(line: line), count % Self.linesAhead == 0 else { return }
    let written = BoundedQueue<Bool>(capacity: 1)
    parts.sink.whenWritten { _ in written.close() }
    _ = written.pop(until: MonotonicClock.now() + parts.control.diskPatience)
  }

  /// Shows `stage`, which is none of the recording's own, among its stages.
  package nonisolated func add(stage: @escaping @Sendable () -> RecorderStatus.Stage) { parts.health.add(stage) }

  /// All that is known of the recording now.
  /// - Parameter name: the name by which it is controlled.
  package nonisolated func status(name: String) -> RecorderStatus {
    let control = parts.control
    // What the stages are decides what the recording is.
    let stages = parts.health.stages()
    let current = parts.controls.current
    var status = RecorderStatus(name: name, state: current.state)
    (status.message, status.process, status.session) = (current.message, getpid(), id)
    status.source = parts.options.source.text
    let now = Timestamp(nanoseconds: (control.stopRequested ?? MonotonicClock.now()) - control.epoch)
    status.elapsed = parts.sink.sessionTime(now).nanoseconds
    status.hold = held
    status.stages = stages.map { stage in
      var stage = stage
      stage.last = stage.last.map(parts.sink.sessionTime)
      return stage
    }
    let before = parts.sink.session?.before ?? OpenSession.Counts()
    status.frames = control.frames.load(ordering: .relaxed) - before.frames
    status.droppedFrames = control.droppedFrames.load(ordering: .relaxed) - before.dropped
    let lastFrame = control.lastFrame.load(ordering: .relaxed)
    status.lastFrame = lastFrame < 0 ? nil : parts.sink.sessionTime(Timestamp(nanoseconds: lastFrame))
    let bytes = control.bytes.load(ordering: .relaxed)
    if status.hold == nil { (status.segments, status.bytes) = (control.segments.load(ordering: .relaxed), bytes) }
    if let free = parts.room.free {
      let storage = parts.options.storage
      (status.diskFree, status.isDiskLow) = (free, free < storage.warnBelow)
      if bytes > 0, let elapsed = status.elapsed {
        let room = max(0, free - storage.endBelow)
        status.timeLeft = Int64(min(Double(room) / Double(bytes) * Double(elapsed), Double(Int64.max / 2)))
      }
    }
    return status
  }
  /// What is held; nil when all is kept.
  private nonisolated var held: RecorderStatus.Hold? {
    guard parts.sink.session == nil, let ring = parts.sink.ring else { return nil }
    let held = ring.held
    return RecorderStatus.Hold(
      wanted: ring.options.span, span: held.span, bytes: Int64(held.bytes), memory: ring.options.memory,
      isShort: held.isShort)
  }
}

/// The ends that a person asks for, by which what is held is given up.
package enum HeldEnds: Sendable {
  /// `recorder stop`.
  case stop
  /// The keyboard's signals.
  case keyboard
}

extension HoldKeeper.Wish {
  /// What a client asks for.
  /// - Throws: `RecorderError` (usage) when it cannot be meant.
  fileprivate init(_ request: ControlRequest) throws(RecorderError) {
    if let last = request.last, last < 0 {
      throw RecorderError(.usage, "A stretch of \(last) ns cannot be kept.", hint: "Give --last a length of time.")
    }
    if request.tags?.contains("") == true { throw RecorderError(.usage, "A tag of no letters finds nothing.") }
    (last, title, tags) = (request.last, request.title, request.tags ?? [])
  }
}
