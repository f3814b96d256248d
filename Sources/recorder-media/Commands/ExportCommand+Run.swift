import Arguments
import Commands
import Glibc
import Replay
import SessionModel
import Threading

extension ExportCommand: Command {
  package mutating func run() async throws {
    var request = try ExportRequest(file: output)
    let timeline = try session.timeline()
    request.from = try from.map { try timeline.timestamp(of: $0) }
    request.to = try to.map { try timeline.timestamp(of: $0) }
    (request.isExact, request.replaces) = (exact, force)
    let interrupt = EndingSignal()
    guard try Self.export(request, of: timeline, interrupt) == .stopped else { return }
    // What was begun is taken away: now the signal does what it would have done at once.
    ProcessSignals.endProcess(by: interrupt.number)
  }

  /// Exports with a line on the terminal that says how far it is; none when standard error is no terminal.
  private static func export(
    _ request: ExportRequest, of timeline: Timeline, _ interrupt: EndingSignal
  ) throws(RecorderError) -> ExportResult {
    let isTerminal = Terminal.width(of: STDERR_FILENO) != nil
    defer { if isTerminal { Diagnostics.write("\r\u{1B}[K") } }
    var shown = -1
    return try Exporter(timeline).export(request) { done in
      let percent = Int(done * 100)
      if isTerminal, percent != shown { Diagnostics.write("\r\(percent) %\u{1B}[K") }
      shown = percent
      return interrupt.number == 0
    }
  }
}
