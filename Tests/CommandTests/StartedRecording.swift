import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport

/// A recording made by `recorder start`; it ends with the last reference.
final class StartedRecording: Sendable {
  let rig: RecorderRig
  let id: SessionID
  let pid: Int32

  /// Runs `recorder start` with `arguments`.
  init(_ rig: RecorderRig, _ arguments: [String] = []) throws {
    let result = try rig.run(["start"] + arguments)
    guard result.status == 0, let id = SessionID(result.text.dropLast()) else {
      throw TestFailure("start: \(result.ending) \(result.errorText)")
    }
    let status = try Self.status(rig, id.description)
    guard let pid = status.process else { throw TestFailure("no process in \(status)") }
    (self.rig, self.id, self.pid) = (rig, id, pid)
  }

  deinit { if isRunning { kill(pid, SIGKILL) } }

  /// Whether its process is there.
  var isRunning: Bool { isProcessRunning(pid) }

  /// What `recorder status --json` says of it.
  func status() throws -> RecorderStatus { try Self.status(rig, id.description) }

  private static func status(_ rig: RecorderRig, _ name: String) throws -> RecorderStatus {
    let result = try rig.run(["status", name, "--json"])
    guard result.status == 0, let line = result.lines.first else {
      throw TestFailure("status: \(result.ending) \(result.errorText)")
    }
    return try JSONDecoder().decode(RecorderStatus.self, from: Data(line.utf8))
  }

  /// Runs a control command for it, and returns the moment that it prints.
  @discardableResult
  func tell(_ arguments: [String]) throws -> String {
    let result = try rig.run(arguments + ["--name", id.description])
    guard result.status == 0 else { throw TestFailure("\(arguments): \(result.ending) \(result.errorText)") }
    return String(result.text.dropLast())
  }

  /// Runs `recorder stop` for it.
  func stop() throws {
    let result = try rig.run(["stop", id.description])
    guard result.status == 0, result.text == "\(id)\n" else {
      throw TestFailure("stop: \(result.ending) \(result.text) \(result.errorText)")
    }
    try waitUntil("the recorder's end") { !isRunning }
  }
}
