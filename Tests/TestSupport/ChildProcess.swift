internal import CLinux
import Glibc
import Synchronization

/// A process that a test starts and ends by its id. Its signal mask is empty and every signal has its default action, as
/// a shell would start it (children of Swift Testing inherit a mask that blocks HUP, INT and TERM).
package final class ChildProcess: Sendable {
  /// How a process ended.
  package enum Ending: Hashable, Sendable {
    /// By itself, with that status.
    case exit(Int32)
    /// By that signal.
    case signal(Int32)
  }

  /// What a process that has ended left.
  package struct Result: Sendable {
    /// How it ended.
    package let ending: Ending
    /// What it wrote to standard output.
    package let output: [UInt8]
    /// What it wrote to standard error.
    package let errors: [UInt8]
    /// The exit status; nil when a signal ended it.
    package var status: Int32? { if case .exit(let status) = ending { status } else { nil } }
    /// Standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    package var errorText: String { String(decoding: errors, as: UTF8.self) }
    /// The lines of standard output.
    package var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  /// The process id.
  package let pid: Int32
  private let input: Mutex<Int32>
  private let files: (output: String, errors: String)
  private let folder: TemporaryFolder
  private let ending = Mutex<Ending?>(nil)

  /// Starts `arguments[0]` (looked up in PATH) with `environment` laid over this process's own (nil takes a variable
  /// away), its output going to files, its input a pipe that `write` feeds.
  /// - Parameters:
  ///   - ownGroup: gives it a process group of its own, so that all of it can be signalled.
  ///   - isPrompt: it stands for what a busy machine does not slow down (`preferToOthers`).
  package init(
    _ arguments: [String], environment changes: [String: String?] = [:], workingDirectory: String? = nil,
    ownGroup: Bool = false, isPrompt: Bool = false, rawArguments: [[UInt8]]? = nil
  ) throws {
    folder = try TemporaryFolder()
    files = (folder.file("stdout"), folder.file("stderr"))
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 else {
      throw TestFailure("pipe2")
    }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    posix_spawn_file_actions_addopen(&actions, 1, files.output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, files.errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    // What the test process has open, the pipes of its other children above all, is none of the child's business.
    posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    if ownGroup { flags |= POSIX_SPAWN_SETPGROUP }
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    for (name, value) in changes { variables[name] = value }
    let words =
      (workingDirectory.map { ["env", "-C", $0] } ?? []).map { Array($0.utf8) }
      + (rawArguments ?? arguments.map { Array($0.utf8) })
    var argv: [UnsafeMutablePointer<CChar>?] = words.map { word in
      (word + [0]).withUnsafeBufferPointer { bytes in
        bytes.baseAddress.flatMap { strdup(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
      }
    }
    var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") }
    argv.append(nil)
    envp.append(nil)
    defer { (argv + envp).forEach { free($0) } }
    var pid = pid_t()
    let status = posix_spawnp(&pid, String(decoding: words[0], as: UTF8.self), &actions, &attributes, argv, envp)
    close(ends[0])
    guard status == 0 else {
      close(ends[1])
      throw TestFailure("\(arguments.first ?? ""): \(String(cString: strerror(status)))")
    }
    if isPrompt { preferToOthers(pid) }
    self.pid = pid
    input = Mutex(ends[1])
  }

  deinit {
    if ending.withLock({ $0 }) == nil {
      kill(pid, SIGKILL)
      kill(pid, SIGCONT)
      var status: Int32 = 0
      waitpid(pid, &status, 0)
    }
    input.withLock { descriptor in if descriptor >= 0 { close(descriptor) } }
  }

  /// Feeds `text` to the process's standard input.
  package func write(_ text: String) {
    input.withLock { descriptor in
      _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// Ends the process's standard input.
  package func closeInput() {
    input.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// Sends `number` to the process, or to its whole group.
  package func signal(_ number: Int32, group: Bool = false) {
    if ending.withLock({ $0 }) == nil { kill(group ? -pid : pid, number) }
  }

  /// Whether it still runs.
  package var isRunning: Bool { poll() == nil }

  /// What it has written to standard output so far.
  package var outputSoFar: String { String(decoding: (try? readFile(files.output)) ?? [], as: UTF8.self) }
  /// What it has written to standard output from byte `offset` on, so that a reader of much reads none of it twice.
  package func output(from offset: Int) -> [UInt8] { (try? readFile(files.output, from: offset)) ?? [] }
  /// What it has written to standard error so far.
  package var errorsSoFar: String { String(decoding: (try? readFile(files.errors)) ?? [], as: UTF8.self) }

  private func poll() -> Ending? {
    ending.withLock { ending in
      if ending != nil { return ending }
      var status: Int32 = 0
      guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
      let number = status & 0x7F
      ending = number == 0 ? .exit(status >> 8 & 0xFF) : .signal(number)
      return ending
    }
  }

  /// Waits until it has ended.
  /// - Throws: `TestFailure` when it has not within `seconds`; it is then killed.
  package func wait(seconds: Double = 60) throws -> Result {
    do {
      try waitUntil("the end of process \(pid); stderr: \(errorsSoFar)", seconds: seconds) { poll() != nil }
    } catch {
      kill(pid, SIGKILL)
      throw error
    }
    return Result(
      ending: poll() ?? .exit(-1), output: try readFile(files.output), errors: try readFile(files.errors))
  }

  /// Ends it with TERM and waits.
  @discardableResult
  package func stop() throws -> Result {
    signal(SIGTERM)
    return try wait()
  }
}

/// Gives the thread `id` (0 is the caller; a process's own id is its first one), and those that it starts, their turn before
/// all others, as a sound device and the server that drives it have theirs on a desktop. Where the user may not give that,
/// nothing happens.
func preferToOthers(_ id: Int32) {
  var priority = sched_param(sched_priority: 1)
  _ = sched_setscheduler(id, SCHED_RR, &priority)
}

/// Runs a command to its end.
@discardableResult
package func run(
  _ arguments: [String], environment: [String: String?] = [:], workingDirectory: String? = nil, input: String = "",
  rawArguments: [[UInt8]]? = nil, seconds: Double = 60
) throws -> ChildProcess.Result {
  let process = try ChildProcess(
    arguments, environment: environment, workingDirectory: workingDirectory, rawArguments: rawArguments)
  process.write(input)
  process.closeInput()
  return try process.wait(seconds: seconds)
}

/// The path of a program that this package builds, beside the test bundle.
package func builtProgram(_ name: String) -> String {
  // The tests run as `…/debug/recorderPackageTests.xctest`, or in a helper that was given that path.
  for candidate in CommandLine.arguments {
    guard let end = candidate.ranges(of: "/recorderPackageTests.xctest").first else { continue }
    return "\(candidate[..<end.lowerBound])/\(name)"
  }
  return ".build/debug/\(name)"
}
