import Commands
import Glibc
import Recorder
import SessionModel
import Synchronization

/// A line on the terminal that says how far a recording is, four times a second; nothing when standard error is no
/// terminal.
final class ProgressLine: Sendable {
  private let task: Mutex<Task<Void, Never>?>

  /// Between two lines: fast enough to look alive, slow enough to read.
  private static let interval = Duration.milliseconds(250)

  init(of recorder: ScreenRecorder, on output: OutputThread) {
    guard let width = Terminal.width(of: STDERR_FILENO) else {
      task = Mutex(nil)
      return
    }
    task = Mutex(
      Task {
        var last = (elapsed: Int64(0), frames: 0)
        while !Task.isCancelled, let progress = recorder.progress {
          // A terminal that is held gets the newest line when it goes on, not all of them.
          if output.isIdle { output.write("\r" + Self.text(progress, since: last).prefix(width - 1) + "\u{1B}[K") }
          last = (progress.elapsed, progress.frames)
          try? await Task.sleep(for: Self.interval)
        }
        output.write("\r\u{1B}[K")
      })
  }

  /// Takes the line away.
  func stop() {
    task.withLock { task in
      task?.cancel()
      task = nil
    }
  }

  private static func text(_ progress: RecordingSession.Progress, since last: (elapsed: Int64, frames: Int)) -> String {
    let seconds = Double(max(1, progress.elapsed - last.elapsed)) / 1e9
    let rate = Int((Double(progress.frames - last.frames) / seconds).rounded())
    var parts = [
      Timestamp(nanoseconds: progress.elapsed / 100_000_000 * 100_000_000).description, "\(rate) fps",
      "\(progress.droppedFrames) dropped", size(progress.bytes),
    ]
    if !progress.levels.isEmpty { parts.append("sound " + progress.levels.map(decibels).joined(separator: " ")) }
    return parts.joined(separator: "  ")
  }

  private static func size(_ bytes: Int64) -> String { "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB" }

  /// A peak in decibels of full scale.
  private static func decibels(_ level: Float) -> String {
    level > 0.00001 ? "\(Int((20 * log10(level)).rounded())) dB" : "silent"
  }
}
