import Arguments
import CLinux
import Commands
import Glibc
import SessionModel

extension StartCommand: Command {
  /// Starts `recorder-media` with the same words in a session of its own, and passes on what it says until it records.
  func run() async throws {
    let child = try DetachedProcess("recorder-media")
    let id = child.firstLine { errors in
      _ = errors.withUnsafeBytes { buffer in writeAll(buffer, to: STDERR_FILENO) }
    }
    guard let id else { exit(child.wait()) }
    try StandardOutput.line(id)
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
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    let (output, errors) = (try Self.makePipe(), try Self.makePipe())
    defer {
      close(output.write)
      close(errors.write)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | recorder_spawn_setsid))
    var (pid, failure) = (pid_t(), ENOENT)
    for place in try HandOver.places(of: name) {
      let status = place.withCString { path in
        posix_spawn(&pid, path, &actions, &attributes, CommandLine.unsafeArgv, environ)
      }
      if status == 0 {
        (self.pid, self.output, self.errors) = (pid, output.read, errors.read)
        return
      }
      failure = status == ENOENT ? failure : status
    }
    throw HandOver.missing(name, failure)
  }

  private static func makePipe() throws(RecorderError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw RecorderError(.systemCall, "No pipe is left: \(String(cString: strerror(errno))).")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
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
