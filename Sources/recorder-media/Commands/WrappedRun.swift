import Archive
import Arguments
import Commands
import FoundationEssentials
import Glibc
import Index
import Recorder
import SessionModel
import Threading

/// `record -- COMMAND`: a recording that lasts as long as a command runs.
struct WrappedRun {
  private let command: RecordCommand
  private let archive: ArchiveLocation
  /// The command as the session keeps it.
  private var record: Manifest.WrappedCommand

  /// Makes the run that `command` asks for.
  /// - Throws: `RecorderError` (configuration) when there is no place for the archive.
  init(_ command: RecordCommand) throws(RecorderError) {
    self.command = command
    archive = try ArchiveLocation.standard(ProcessInfo.processInfo.environment)
    let words = command.command.map { String(decoding: $0.bytes, as: UTF8.self) }
    record = Manifest.WrappedCommand(arguments: SecretMask.apply(words))
  }

  /// Records while the command runs. A recording that fails does not end the command.
  /// - Throws: `CommandEnded` with the command's status; `RecorderError` when the recording cannot begin, and the command
  ///   was not started.
  mutating func run() async throws {
    signal(SIGXFSZ, SIG_IGN)
    let own = try CommandRecorder(command.recording, command: record)
    let (recorder, messages) = (own.recorder, own.messages)
    if let delay = command.recording.delay, !(await recorder.wait(delay.nanoseconds)) {
      await recorder.close()
      throw Self.notRun
    }
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let display = try command.virtualDisplay.map { (size) throws(RecorderError) in try OwnDisplay(size) }
    guard let id = try await own.begin(on: display?.name) else {
      await recorder.close()
      throw Self.notRun
    }
    let output = try makeOutput(recorder)
    let process = try WrappedProcess(
      command.command, display: display?.name ?? command.recording.display, output: output?.ends,
      timeout: command.timeout?.nanoseconds)
    try startOutput(output, recorder)
    signals.attend()
    Task(executorPreference: QueueExecutor(label: "signals")) {
      for await number in signals.stream { process.pass(number) }
    }
    // A recording that has ended before the command has nothing more to be told.
    let early = Task(executorPreference: QueueExecutor(label: "early")) {
      _ = await recorder.outcome()
      await recorder.close()
    }
    for await ending in process.ended {
      record.status = ending.status
      if ending.timedOut { record.timedOut = true }
      break
    }
    output?.finish()
    recorder.end(.commandEnded, command: record)
    let outcome = await recorder.outcome()
    await early.value
    if let reason = process.failure { Diagnostics.message("\(command.command[0]) cannot be started: \(reason).") }
    // A session that is still to be recovered is on a disk that hangs.
    if outcome?.manifest?.state != .recording {
      await settle(id, isKept: isKept(output), isSealed: outcome?.manifest?.command?.status == nil)
    }
    if isKept(output) { recorder.announce(saved: id) }
    await recorder.finishHooks()
    messages.close()
    if let error = outcome?.error { Diagnostics.report(error) }
    withExtendedLifetime(display) {}
    throw CommandEnded(status: record.status ?? ExitCode.brokenInvariant.rawValue)
  }

  /// Why the command was not run when the recording was ended before it began.
  private static var notRun: RecorderError {
    RecorderError(.busy, "Stopped before it began: the command was not run.", hint: "Run it again.")
  }

  /// Pipes for the command's output, when somebody has to look at it.
  private func makeOutput(_ recorder: ScreenRecorder) throws(RecorderError) -> CommandOutput? {
    if case .match = command.keep {} else if !command.log { return nil }
    let output = try CommandOutput()
    recorder.add { output.stage }
    return output
  }

  private func startOutput(_ output: CommandOutput?, _ recorder: ScreenRecorder) throws(RecorderError) {
    var pattern: String?
    if case .match(let text) = command.keep { pattern = text }
    let log = command.log
    try output?.start(pattern: pattern) { line in if log { recorder.note(line: line) } }
  }

  private func isKept(_ output: CommandOutput?) -> Bool {
    switch command.keep {
    case .always: true
    case .never: false
    case .failure: record.status != 0
    case .match: output?.hasMatched == true
    }
  }

  /// Indexes the session, or takes it away again.
  /// - Parameter isSealed: whether it was finished before the command was, and says nothing of the command's end.
  private func settle(_ id: SessionID, isKept: Bool, isSealed: Bool) async {
    do throws(RecorderError) {
      if !isKept {
        try ArchiveReader(archive).delete(
          id, as: .discard, reason: "the command ended with \(record.status ?? 0)")
      } else if isSealed, let status = record.status {
        try ArchiveReader(archive).annotate(id, Annotation(added: .now(), kind: .command, text: "\(status)"))
      }
      for problem in try await SessionIndex(archive).refresh().problems { Diagnostics.report(problem) }
    } catch {
      Diagnostics.report(error)
    }
    guard isKept else { return }
    let why = record.timedOut == true ? "took too long" : "ended with \(record.status ?? 0)"
    Diagnostics.message("Recorded \(id): the command \(why).")
  }
}
