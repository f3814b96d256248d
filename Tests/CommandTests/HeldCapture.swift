import Control
import FoundationEssentials
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// A capture that `recorder start --hold` holds; it ends with the last reference.
final class HeldCapture: Sendable {
  let rig: RecorderRig
  /// The name by which it is controlled.
  let name: String
  let pid: Int32

  /// Runs `recorder start --hold SPAN` with `arguments`.
  init(_ rig: RecorderRig, span: String = "6s", _ arguments: [String] = []) throws {
    let result = try rig.run(["start", "--hold", span] + arguments)
    guard result.status == 0, result.text.last == "\n" else {
      throw TestFailure("start: \(result.ending) \(result.errorText)")
    }
    (self.rig, name) = (rig, String(result.text.dropLast()))
    pid = try #require(try Self.status(rig, name).process)
  }

  /// The capture that another process holds under `name`.
  init(_ rig: RecorderRig, attachingTo name: String) throws {
    (self.rig, self.name) = (rig, name)
    pid = try #require(try Self.status(rig, name).process)
  }

  deinit { if isRunning { kill(pid, SIGKILL) } }

  /// Whether its process is there.
  var isRunning: Bool { isProcessRunning(pid) }

  /// What `recorder status --json` says of it.
  func status() throws -> RecorderStatus { try Self.status(rig, name) }

  private static func status(_ rig: RecorderRig, _ name: String) throws -> RecorderStatus {
    let result = try rig.run(["status", name, "--json"])
    guard result.status == 0, let line = result.lines.first else {
      throw TestFailure("status: \(result.ending) \(result.errorText)")
    }
    return try JSONDecoder().decode(RecorderStatus.self, from: Data(line.utf8))
  }

  /// Waits until at least so many seconds are held.
  func waitUntilHeld(seconds: Double) throws {
    try waitUntil("\(seconds) s to be held") { Double(try status().hold?.span ?? 0) / 1e9 >= seconds }
  }

  /// Runs `recorder COMMAND` for it and returns the session that it prints.
  func keep(_ command: String, _ arguments: [String] = []) throws -> SessionID {
    let result = try rig.run([command] + arguments + ["--name", name])
    guard result.status == 0, let id = SessionID(result.text.dropLast()) else {
      throw TestFailure("\(command): \(result.ending) \(result.errorText)")
    }
    return id
  }

  /// Runs a control command for it.
  func tell(_ arguments: [String]) throws {
    let result = try rig.run(arguments + ["--name", name])
    guard result.status == 0 else { throw TestFailure("\(arguments): \(result.ending) \(result.errorText)") }
  }

  /// Ends it by a signal and waits until it has gone.
  func end(by signal: Int32) throws {
    kill(pid, signal)
    try waitUntil("the recorder's end") { !isRunning }
  }
}

/// Draws the next frame of a counter (`test-pattern counter --fps 0`) again and again, each once the one before has been
/// captured: however busy the machine is, none is missed. It ends with the last reference.
final class SteadyCounter: Sendable {
  private final class State: Sendable {
    let isStopping = Atomic<Bool>(false)
    let failure = Mutex<(any Error)?>(nil)
  }
  private let state = State()
  private let thread: WorkerThread

  init(_ client: PatternClient, of capture: HeldCapture) throws {
    let state = state
    let runtime = try #require(
      try RuntimeFolder.open(
        ["XDG_RUNTIME_DIR": capture.rig.folder.path], archive: capture.rig.archive, creating: false))
    let name = capture.name
    thread = try WorkerThread(name: "counter") {
      do {
        var control = try RunningRecordings(runtime).connect(name)
        while !state.isStopping.load(ordering: .relaxed) {
          let drawn = try client.tell("next")
          try waitUntil("the frame to be captured") {
            let now = MonotonicClock.now()
            guard !state.isStopping.load(ordering: .relaxed),
              let status = try control.ask(ControlRequest(.status)).status, let elapsed = status.elapsed
            else { return true }
            // The capture began at this time or a little later.
            return now - elapsed + (status.lastFrame?.nanoseconds ?? 0) >= drawn
          }
          // Twenty a second at most, so that two of them are never in the same picture.
          try waitUntil("the next one's time") { MonotonicClock.now() >= drawn + 50_000_000 }
        }
      } catch {
        state.failure.withLock { $0 = error }
      }
    }
  }

  /// Ends it.
  func stop() throws {
    state.isStopping.store(true, ordering: .relaxed)
    thread.join()
    if let error = state.failure.withLock({ $0 }) { throw error }
  }

  deinit { state.isStopping.store(true, ordering: .relaxed) }
}
