import Arguments
import Commands
import Control
import Glibc
import SessionModel
import Threading

extension StartCommand: Command {
  /// Starts `recorder-media` with the same words in a session of its own, and passes on what it says until it records.
  func run() async throws {
    if let name = recording.name, try startEmbedded(name) { return }
    let child = try DetachedProcess("recorder-media")
    let id = child.firstLine { errors in
      _ = errors.withUnsafeBytes { buffer in writeAll(buffer, to: STDERR_FILENO) }
    }
    guard let id else { exit(child.wait()) }
    try StandardOutput.line(id)
  }

  /// Begins the recording of the program that has the name and records nothing.
  /// - Returns: false when there is no such program.
  private func startEmbedded(_ name: String) throws -> Bool {
    let recordings = try OpenRecordings()
    guard var client = try recordings.running.idle(name) else { return false }
    guard recording.options == RecordingArguments().options else {
      throw RecorderError(
        .usage, "\(name) is a program of its own and records with its own options.", hint: "Give no other than --name.")
    }
    let response = try client.ask(ControlRequest(.start), waiting: true)
    if let failure = response.failure { throw failure }
    // A capture that its program holds has no session yet.
    try StandardOutput.line(response.status?.session?.description ?? name)
    return true
  }
}

/// A process that outlives this one and the terminal, and what it says at its start.
private struct DetachedProcess {
  private let pid: pid_t
  private let output: Int32
  private let errors: Int32

  /// Starts the program `name` of this package with this process's own arguments.
  /// - Throws: `RecorderError` (unavailable, systemCall) when it cannot be started.
  init(_ name: String) throws(RecorderError) {
    let (output, errors) = (try Pipe(), try Pipe())
    defer {
      close(output.write)
      close(errors.write)
    }
    let own = CommandLine.arguments.first.map { Array($0.utf8) } ?? []
    var launch = ProcessLaunch([own] + ArgumentText.commandLine.map(\.bytes))
    (launch.input, launch.output, launch.errors) = (.nowhere, .copy(of: output.write), .copy(of: errors.write))
    launch.group = .session
    var failure = ENOENT
    for place in try HandOver.places(of: name) {
      launch.program = place
      do throws(ProcessLaunch.Failure) {
        pid = try launch.start()
        (self.output, self.errors) = (output.read, errors.read)
        return
      } catch {
        failure = error.number == ENOENT ? failure : error.number
      }
    }
    throw HandOver.missing(name, failure)
  }

  /// Waits for the first line on its standard output; what it says on standard error goes to `pass`.
  /// - Returns: nil when it ended without one.
  func firstLine(pass: ([UInt8]) -> Void) -> String? {
    var (line, isOpen) = ([UInt8](), true)
    var entries = [
      pollfd(fd: errors, events: Int16(POLLIN), revents: 0), pollfd(fd: output, events: Int16(POLLIN), revents: 0),
    ]
    var buffer = [UInt8](repeating: 0, count: 4096)
    while isOpen || entries[0].fd >= 0 {
      // Once the line is there, what has been said before it is passed on, and nothing more is waited for.
      let isDone = line.last == UInt8(ascii: "\n")
      let count = poll(&entries, 2, isDone ? 0 : -1)
      if count == 0 || count < 0 && errno != EINTR { break }
      for index in entries.indices where count > 0 && entries[index].revents != 0 {
        let count = read(entries[index].fd, &buffer, buffer.count)
        if count > 0 {
          if index == 0 { pass(Array(buffer[..<count])) } else { line += buffer[..<count] }
        } else if count == 0 || errno != EINTR {
          if index == 1 { isOpen = false }
          entries[index].fd = -1
        }
      }
    }
    guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return String(decoding: line[..<end], as: UTF8.self)
  }

  /// Waits for its end.
  /// - Returns: its exit code, or as a shell gives it 128 and the number of the signal that ended it.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }
}
