internal import Archive
package import Control
import Glibc
package import SessionModel
import Synchronization
internal import Threading

/// What a recording can be told while it runs, from any thread.
extension RecordingSession {
  /// Carries `request` out. The answer comes at once, except a split's, which comes when the new file has begun.
  /// - Parameter answer: told the point of the session's time line at which it took effect, or why it did not.
  package nonisolated func perform(
    _ request: ControlRequest, answer: @escaping @Sendable (Result<Timestamp, RecorderError>) -> Void
  ) {
    let controls = parts.controls
    do throws(RecorderError) {
      switch request.command {
      case .pause: answer(.success(try controls.pause()))
      case .resume: answer(.success(try controls.resume()))
      case .mute:
        guard let input = request.input else {
          throw RecorderError(.usage, "The request does not say which input to mute.")
        }
        answer(.success(try controls.mute(input)))
      case .unmute: answer(.success(try controls.unmute(request.input)))
      case .gain: answer(.success(try controls.setGains(request.gains ?? GainChange())))
      case .mark: answer(.success(try controls.mark(request.text)))
      case .split: controls.split(answer)
      case .status, .watch, .start, .stop:
        throw RecorderError(.brokenInvariant, "The request is none to a running session.")
      }
    } catch {
      answer(.failure(error))
    }
  }

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

  /// Adds a line that the recorded command wrote to the session's events.
  package nonisolated func note(line: String) { parts.controls.note(line: line) }

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
    status.source = parts.source
    status.elapsed = (control.stopRequested ?? MonotonicClock.now()) - control.epoch
    status.stages = stages
    status.frames = control.frames.load(ordering: .relaxed)
    status.droppedFrames = control.droppedFrames.load(ordering: .relaxed)
    let lastFrame = control.lastFrame.load(ordering: .relaxed)
    status.lastFrame = lastFrame < 0 ? nil : Timestamp(nanoseconds: lastFrame)
    status.segments = control.segments.load(ordering: .relaxed)
    let bytes = control.bytes.load(ordering: .relaxed)
    status.bytes = bytes
    if let free = archive.bytesFree() {
      let storage = parts.manifest.value.options.storage
      (status.diskFree, status.isDiskLow) = (free, free < storage.warnBelow)
      if bytes > 0, let elapsed = status.elapsed {
        let room = max(0, free - storage.endBelow)
        status.timeLeft = Int64(min(Double(room) / Double(bytes) * Double(elapsed), Double(Int64.max / 2)))
      }
    }
    return status
  }
}
