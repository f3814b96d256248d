import Archive
import Arguments
import Commands
import FoundationEssentials
import Glibc
import Index
import Recorder
import SessionModel
import Threading

extension RecordCommand: Command {
  package mutating func run() async throws {
    try recording.pickSource()
    guard command.isEmpty else {
      var run = try WrappedRun(self)
      return try await run.run()
    }
    try await RecordingRun(recording, isDetached: false).run()
  }
}

/// What `recorder start` has started: a recorder without a terminal.
extension StartCommand: Command {
  package mutating func run() async throws {
    try recording.pickSource()
    try await RecordingRun(recording, isDetached: true).run()
  }
}

extension RecordingArguments {
  /// Has the person pick the source on the screen, when that was asked for.
  fileprivate func pickSource() throws(RecorderError) {
    guard select else { return }
    source = try SourceSelection.pick(display: display) { Diagnostics.message($0) }
  }
}

/// One recording from its command line to its exit code.
struct RecordingRun {
  private let arguments: RecordingArguments
  private let isDetached: Bool

  /// Makes the run that `arguments` ask for.
  /// - Parameter isDetached: whether nobody reads standard output and standard error once the id was told.
  init(_ arguments: RecordingArguments, isDetached: Bool) {
    (self.arguments, self.isDetached) = (arguments, isDetached)
  }

  /// Records until something ends it.
  /// - Throws: `RecorderError`: why it could not begin, or what failed while it ran.
  func run() async throws {
    // Until it records, a signal ends the program as any other.
    try SourceWait.run(arguments.options) { Diagnostics.message($0) }
    let own = try CommandRecorder(arguments)
    let (recorder, output) = (own.recorder, own.messages)
    if let delay = arguments.delay, !(await recorder.wait(delay.nanoseconds)) {
      await recorder.close()
      return Diagnostics.message("Ended before it began.")
    }
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let session = try await own.begin()
    guard session != nil || recorder.isHolding else {
      await recorder.close()
      return Diagnostics.message("Ended before it began.")
    }
    // Nobody hears of a signal to a recorder in the background what it would lose.
    if isDetached { recorder.keepHeldAtSignals() }
    let unheard = announce(session?.description ?? recorder.name)
    if let error = unheard as? RecorderError { output.message("The session's id could not be told: \(error)") }
    ServiceManager.began(session)
    let progress = ProgressLine(of: recorder, on: output)
    let ends = RecordingSignals(signals, end: recorder)
    // Who started it has gone before he heard that it runs: it is ended, rather than left behind unknown.
    if unheard != nil, isDetached { recorder.end(.hangup) }
    let outcome = await recorder.outcome()
    ServiceManager.ended()
    await recorder.close()
    await recorder.finishHooks()
    progress.stop()
    output.close()
    if let loss = outcome?.loss { Diagnostics.message(loss) }
    if let manifest = outcome?.manifest {
      if let sentence = Self.sentence(manifest) { Diagnostics.message(sentence) }
      if let head = manifest.chain?.head { Diagnostics.message("Sealed with \(head).") }
      // One that is still to be recovered is on a disk that hangs.
      if manifest.state == .finished {
        await Self.index(try ArchiveLocation.standard(ProcessInfo.processInfo.environment))
      }
    }
    if let error = outcome?.error ?? unheard as? RecorderError { throw error }
    if ends.wasInterruptedTwice {
      let rest = outcome?.manifest.map { "; the session \($0.id) is complete" } ?? ""
      throw RecorderError(.interruptedTwice, "Interrupted twice\(rest).")
    }
  }

  /// The id is told as soon as it records, so that a script knows it even when the recorder is killed; of a held capture
  /// the name by which it is controlled. A reader that has gone away and a full disk do not end the recording.
  /// - Returns: `OutputClosed` or `RecorderError` when nobody heard it.
  private func announce(_ id: String) -> (any Error)? {
    do {
      try StandardOutput.line(id)
    } catch {
      return error
    }
    guard isDetached else { return nil }
    // From now on nobody reads: the terminal is left to whoever uses it.
    let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] where nowhere >= 0 { dup2(nowhere, descriptor) }
    if nowhere >= 0 { close(nowhere) }
    return nil
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
      case .saved: "saved"
      case .commandEnded: "the command ended"
      case .sizeLimit: "the size is reached"
      case .idle: "nothing changed any more"
      case .timeOfDay: "the time has come"
      case .windowClosed: "the window was closed"
      case .displayLost: "the X server ended"
      case .writeFailed: "writing failed"
      case .failed, .killed: "a part failed"
      }
    return "Recorded \(end.time) (\(why))."
  }
}
