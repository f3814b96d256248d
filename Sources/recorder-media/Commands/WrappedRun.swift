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
    let service = try ControlService(
      name: command.recording.name, environment: ProcessInfo.processInfo.environment, archive: archive)
    guard await StartDelay.pass(command.recording.delay?.nanoseconds, service) else {
      let error = RecorderError(.busy, "Stopped before it began: the command was not run.", hint: "Run it again.")
      service.finish(nil)
      throw error
    }
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let display: OwnDisplay?
    do throws(RecorderError) {
      display = try command.virtualDisplay.map { (size) throws(RecorderError) in try OwnDisplay(size) }
    } catch {
      service.finish(error)
      throw error
    }
    var options = command.recording.options
    if let display { options.display = display.name }
    let messages = try OutputThread()
    let session: RecordingSession
    do throws(RecorderError) {
      session = try RecordingSession(options, in: archive, command: record) { event in
        if let text = event.text { messages.message(text.printable) }
      }
    } catch {
      messages.close()
      service.finish(error)
      throw error
    }
    session.add { messages.stage }
    service.attach(session)
    let output = try makeOutput(session)
    let process = try WrappedProcess(
      command.command, display: display?.name ?? options.display, output: output?.ends,
      timeout: command.timeout?.nanoseconds)
    try startOutput(output, session)
    signals.attend()
    Task {
      for await number in signals.stream { process.pass(number) }
    }
    let limits = RecordingLimits(options)
    let early = Task { await Self.endEarly(session, service, limits) }
    for await ending in process.ended {
      record.status = ending.status
      if ending.timedOut { record.timedOut = true }
      break
    }
    output?.finish()
    let outcome = await session.stop(.commandEnded, command: record)
    early.cancel()
    service.finish(outcome.error)
    messages.close()
    if let reason = process.failure { Diagnostics.message("\(command.command[0]) cannot be started: \(reason).") }
    await settle(session.id, isKept: isKept(output))
    if let error = outcome.error { Diagnostics.report(error) }
    withExtendedLifetime(display) {}
    throw CommandEnded(status: record.status ?? ExitCode.brokenInvariant.rawValue)
  }

  /// Pipes for the command's output, when somebody has to look at it.
  private func makeOutput(_ session: RecordingSession) throws(RecorderError) -> CommandOutput? {
    if case .match = command.keep {} else if !command.log { return nil }
    let output = try CommandOutput()
    session.add { output.stage }
    return output
  }

  private func startOutput(_ output: CommandOutput?, _ session: RecordingSession) throws(RecorderError) {
    var pattern: String?
    if case .match(let text) = command.keep { pattern = text }
    let log = command.log
    try output?.start(pattern: pattern) { line in if log { session.note(line: line) } }
  }

  /// Ends the recording when something else than the command's end does.
  private static func endEarly(_ session: RecordingSession, _ service: ControlService, _ limits: RecordingLimits)
    async
  {
    let ends = RecordingEnds(
      of: session, limits: limits, signals: ProcessSignals([]), requests: service.stopRequests)
    let end = await ends.first()
    if Task.isCancelled { return }
    let outcome = await session.stop(end.reason, error: end.error)
    service.finish(outcome.error)
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
  private func settle(_ id: SessionID, isKept: Bool) async {
    do throws(RecorderError) {
      if !isKept { try ArchiveReader(archive).delete(id) }
      for problem in try await SessionIndex(archive).refresh().problems { Diagnostics.report(problem) }
    } catch {
      Diagnostics.report(error)
    }
    guard isKept else { return }
    let why = record.timedOut == true ? "took too long" : "ended with \(record.status ?? 0)"
    Diagnostics.message("Recorded \(id): the command \(why).")
  }
}
