import Arguments
import Glibc
import SessionModel
import Synchronization
import Threading

/// The command that a recording is made for, as a process: started with every signal as a shell would leave it, watched,
/// and ended when it takes too long.
final class WrappedProcess: Sendable {
  /// How a command ended.
  struct Ending: Sendable {
    /// Its status, or 128 and the number of the signal that ended it, as a shell says it.
    let status: Int32
    /// Whether it was ended because it took too long.
    let timedOut: Bool
  }

  /// Told once, when it has ended.
  let ended: AsyncStream<Ending>
  /// Why it could not be started; nil when it was.
  let failure: String?
  private let pid: pid_t
  /// Whether it has a process group of its own, so that all of it can be signalled.
  private let ownsGroup: Bool
  private let isRunning = Mutex(true)
  private let timedOut = Atomic<Bool>(false)

  /// What a shell says of a command that is not there, and of one that cannot be started.
  private static let notFound: Int32 = 127
  private static let notStarted: Int32 = 126
  /// Nanoseconds between TERM and KILL: what init systems and test runners give at least.
  private static let grace: Int64 = 5_000_000_000

  /// Starts `words`.
  /// - Parameters:
  ///   - display: the X display it is to use; nil leaves it the one of this process.
  ///   - output: descriptors for its standard output and standard error; nil leaves it those of this process.
  ///   - timeout: ns after which it is ended.
  /// - Throws: `RecorderError` (systemCall) when there is no process left.
  init(
    _ words: [ArgumentText], display: String?, output: (out: Int32, errors: Int32)?, timeout: Int64?
  ) throws(RecorderError) {
    // At a terminal the keyboard's signals reach the command by themselves, and only a command of the terminal's own
    // group may read from it.
    ownsGroup = tcgetpgrp(STDIN_FILENO) != getpgrp()
    let (stream, end) = AsyncStream.makeStream(of: Ending.self, bufferingPolicy: .bufferingOldest(1))
    ended = stream
    var launch = ProcessLaunch(words.map(\.bytes))
    if ownsGroup { launch.group = .own }
    if let display { launch.environment["DISPLAY"] = display }
    if let output { (launch.output, launch.errors) = (.copy(of: output.out), .copy(of: output.errors)) }
    do throws(ProcessLaunch.Failure) {
      (pid, failure) = (try launch.start(), nil)
    } catch {
      (pid, failure) = (0, error.text)
      isRunning.withLock { $0 = false }
      end.yield(Ending(status: error.isMissing ? Self.notFound : Self.notStarted, timedOut: false))
      return
    }
    try watch(end, timeout: timeout)
  }

  /// Waits for its end on a thread of its own, and for the end of its time on another.
  private func watch(_ end: AsyncStream<Ending>.Continuation, timeout: Int64?) throws(RecorderError) {
    // Nobody joins it: it ends with the command.
    try WorkerThread(name: "command") { [self] in
      var (status, info) = (Int32(0), siginfo_t())
      // The process is looked at before it is taken away, so that no signal is ever sent to another of its number.
      while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      isRunning.withLock { isRunning in
        isRunning = false
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      }
      let number = status & 0x7F
      end.yield(
        Ending(
          status: number == 0 ? status >> 8 & 0xFF : 128 + number, timedOut: timedOut.load(ordering: .relaxed)))
    }.join(until: 0)
    guard let timeout else { return }
    Task.detached(executorPreference: QueueExecutor(label: "timeout")) { [self] in
      try? await Task.sleep(for: .nanoseconds(timeout))
      guard isRunning.withLock({ $0 }) else { return }
      timedOut.store(true, ordering: .relaxed)
      signal(SIGTERM)
      try? await Task.sleep(for: .nanoseconds(Self.grace))
      signal(SIGKILL)
    }
  }

  /// Sends `number` to the command, and to what it started when that is its own group.
  func signal(_ number: Int32) {
    isRunning.withLock { isRunning in if isRunning { kill(ownsGroup ? -pid : pid, number) } }
  }

  /// Passes on a signal that this process got. At a terminal the keyboard's have reached the command already.
  func pass(_ number: Int32) {
    if !ownsGroup, number == SIGINT || number == SIGQUIT { return }
    signal(number)
  }
}
