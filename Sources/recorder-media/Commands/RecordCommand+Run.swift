import Archive
import Arguments
import Commands
import FoundationEssentials
import Glibc
import Index
import Recorder
import SessionModel
import Synchronization
import Threading

extension RecordCommand: Command {
  package mutating func run() async throws {
    // A file-size limit is an error of `write`, reported like a full disk, and no end of the program.
    signal(SIGXFSZ, SIG_IGN)
    let interrupts = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let archive = try ArchiveLocation.standard(ProcessInfo.processInfo.environment)
    let session = try RecordingSession(options, in: archive) { event in
      if let text = event.text { Diagnostics.message(text.printable) }
    }
    try Self.announce(session)
    let progress = ProgressLine(of: session)
    let ends = RecordingEnds(of: session, duration: options.duration, signals: interrupts)
    let end = await ends.first()
    let outcome = await session.stop(end.reason, error: end.error)
    progress.stop()
    if let sentence = Self.sentence(outcome.manifest) { Diagnostics.message(sentence) }
    await Self.index(archive)
    if let error = outcome.error { throw error }
    if ends.wasInterruptedTwice {
      throw RecorderError(.interruptedTwice, "Interrupted twice; the session \(session.id) is complete.")
    }
  }

  /// The id is told as soon as it records, so that a script knows it even when the recorder is killed. A reader that has
  /// gone away does not end the recording.
  private static func announce(_ session: RecordingSession) throws {
    do {
      try StandardOutput.line(session.id.description)
    } catch is OutputClosed {}
  }

  /// Brings the session into the index. What fails here is made good by the next command.
  private static func index(_ archive: ArchiveLocation) async {
    let problems: [RecorderError]
    do throws(RecorderError) {
      problems = try await SessionIndex(archive).refresh().problems
    } catch {
      problems = [error]
    }
    for problem in problems { Diagnostics.message("Not everything is indexed yet: \(problem)") }
  }

  /// What ended the recording and how long it is.
  private static func sentence(_ manifest: Manifest) -> String? {
    guard let end = manifest.end else { return nil }
    let why =
      switch end.reason {
      case .interrupt: "stopped by the keyboard"
      case .terminate: "stopped by TERM"
      case .hangup: "the terminal closed"
      case .quit: "stopped by QUIT"
      case .duration: "the duration is over"
      case .stopped: "stopped"
      case .windowClosed: "the window was closed"
      case .displayLost: "the X server ended"
      case .writeFailed: "writing failed"
      case .failed, .killed: "a part failed"
      }
    return "Recorded \(end.time) (\(why))."
  }
}

/// The one thing that ends a recording: a signal, the end of its duration, or a part that failed.
private final class RecordingEnds: Sendable {
  /// Why to stop.
  struct End: Sendable {
    let reason: Manifest.Reason
    let error: RecorderError?
  }

  private let ends: AsyncStream<End>
  private let interrupts = Count()

  /// How often the keyboard asked for the end.
  private final class Count: Sendable { let value = Atomic<Int>(0) }

  /// Seconds that the file is given to be finished, which takes a fraction of one, or one when the X server hangs.
  private static let patience = 2.0

  init(of session: RecordingSession, duration: Int64?, signals: ProcessSignals) {
    let (ends, end) = AsyncStream.makeStream(of: End.self, bufferingPolicy: .bufferingOldest(1))
    self.ends = ends
    let interrupts = interrupts
    Task {
      for await number in signals.stream {
        end.yield(End(reason: Self.reason(number), error: nil))
        // Finishing is quick; if it hangs, a second interrupt ends the program, and recovery finishes the file.
        guard number == SIGINT || number == SIGQUIT, interrupts.value.add(1, ordering: .relaxed).newValue > 1 else {
          continue
        }
        try? await Task.sleep(for: .seconds(Self.patience))
        _exit(ExitCode.interruptedTwice.rawValue)
      }
    }
    Task {
      if let failure = await session.failure() { end.yield(End(reason: failure.reason, error: failure.error)) }
    }
    if let duration {
      Task {
        try? await Task.sleep(for: .nanoseconds(max(0, duration - session.progress.elapsed)))
        end.yield(End(reason: .duration, error: nil))
      }
    }
  }

  /// Waits for it.
  func first() async -> End {
    for await end in ends { return end }
    return End(reason: .stopped, error: nil)
  }

  /// Whether the keyboard asked for the end (INT or QUIT) more than once.
  var wasInterruptedTwice: Bool { interrupts.value.load(ordering: .relaxed) > 1 }

  private static func reason(_ number: Int32) -> Manifest.Reason {
    switch number {
    case SIGINT: .interrupt
    case SIGHUP: .hangup
    case SIGQUIT: .quit
    default: .terminate
    }
  }
}
