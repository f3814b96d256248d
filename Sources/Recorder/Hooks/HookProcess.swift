internal import CLinux
import Glibc
import SessionModel
internal import Threading

/// One run of a hook: without a shell, with every signal as a shell would leave it, in a process group of its own.
enum HookProcess {
  /// Nanoseconds between TERM and KILL: time to take away a temporary file.
  static let grace: Int64 = 2_000_000_000

  /// Runs `hook` with `input` on its standard input, and waits for its end.
  /// - Parameters:
  ///   - output: takes what it prints; nil leaves it away.
  ///   - limit: ns that it may take.
  /// - Returns: what went wrong, in words that follow its name; nil when it ended with 0.
  static func run(_ hook: Hook, input: [UInt8], output: Int32?, limit: Int64) -> String? {
    // A file in memory holds all of it: a hook that does not read holds nobody up, and no write can fail later.
    let file = recorder_memory_file()
    defer { if file >= 0 { close(file) } }
    let written = input.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    guard written == input.count, lseek(file, 0, SEEK_SET) == 0 else { return "was not run: no memory is left" }
    var launch = ProcessLaunch(hook.words.map { Array($0.utf8) })
    launch.input = .copy(of: file)
    launch.output = output.map { .copy(of: $0) } ?? .nowhere
    launch.errors = launch.output
    launch.group = .own
    do throws(ProcessLaunch.Failure) {
      return wait(for: try launch.start(), limit)
    } catch {
      return "cannot be started: \(error.text)"
    }
  }

  private static func wait(for pid: pid_t, _ limit: Int64) -> String? {
    let process = pidfd_open(pid, 0)
    defer { if process >= 0 { close(process) } }
    let isInTime = hasEnded(process, within: limit)
    if !isInTime {
      kill(-pid, SIGTERM)
      _ = hasEnded(process, within: grace)
      // What it started may have stayed when it went; the group's number is its own until it is taken away below.
      kill(-pid, SIGKILL)
      // One that the kernel holds cannot be waited for.
      guard hasEnded(process, within: grace) else { return "took too long, and cannot be ended" }
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 {
      // An embedding program that ignores SIGCHLD has its children taken away by the kernel.
      if errno != EINTR { return nil }
    }
    if !isInTime { return "took longer than \(limit / 1_000_000) ms and was ended" }
    let number = status & 0x7F
    if number != 0 { return "was ended by signal \(number)" }
    return status == 0 ? nil : "ended with \(status >> 8 & 0xFF)"
  }

  /// Waits until the process of the descriptor `process` has ended.
  /// - Returns: false when it has not within `time` ns, or cannot be watched.
  private static func hasEnded(_ process: Int32, within time: Int64) -> Bool {
    let deadline = MonotonicClock.now() + time
    while process >= 0 {
      var entry = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
      // Rounded up, so that the last millisecond is not spent asking.
      let count = poll(&entry, 1, Int32(max(0, deadline - MonotonicClock.now() + 999_999) / 1_000_000))
      if count > 0 { return true }
      if count == 0 || errno != EINTR { return false }
    }
    return false
  }
}
