internal import CLinux
import Glibc
package import SessionModel
import Synchronization

/// A named thread that is joined. The data plane runs on these: each C handle is made, used and freed on one of them.
package final class WorkerThread: Sendable {
  /// What the new thread is given.
  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
  }

  private let handle: Mutex<pthread_t?>

  /// Starts `body` on a new thread that blocks every signal, so that signals reach the main thread alone.
  /// - Parameter name: shown by ps and debuggers; the kernel keeps 15 bytes.
  /// - Throws: `RecorderError` (systemCall) when the system has no thread left.
  package init(name: String, body: @escaping @Sendable () -> Void) throws(RecorderError) {
    let argument = Unmanaged.passRetained(Body(name: String(name.prefix(15)), run: body))
    var (everything, before, thread) = (sigset_t(), sigset_t(), pthread_t())
    sigfillset(&everything)
    pthread_sigmask(SIG_SETMASK, &everything, &before)
    let status = pthread_create(&thread, nil, Self.entry, argument.toOpaque())
    pthread_sigmask(SIG_SETMASK, &before, nil)
    guard status == 0 else {
      argument.release()
      throw RecorderError(.systemCall, "No thread could be started: \(String(cString: strerror(status))).")
    }
    handle = Mutex(thread)
  }

  // A closure here could be inferred as isolated to the caller's actor and trap on the new thread.
  private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    guard let argument else { return nil }
    let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
    recorder_name_thread(body.name)
    body.run()
    return nil
  }

  /// Waits until the thread has ended; later calls return at once.
  package func join() {
    let thread = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    if let thread { pthread_join(thread, nil) }
  }

  /// Waits until the thread has ended, at most until `deadline` (monotonic ns); one that hangs in a call that nothing
  /// interrupts is given up then, and nobody joins it any more.
  /// - Returns: whether it has ended.
  @discardableResult
  package func join(until deadline: Int64) -> Bool {
    let thread = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    guard let thread else { return true }
    var time = timespec(nanoseconds: max(0, deadline))
    if pthread_clockjoin_np(thread, nil, CLOCK_MONOTONIC, &time) == 0 { return true }
    pthread_detach(thread)
    return false
  }

  /// Waits until the thread has ended, and gives it up when it hangs: when it has used none of the processor's time for
  /// `patience` ns. One that waits for a slow device uses some whenever a part of its work is done.
  /// - Returns: whether it has ended; nobody joins it any more when it has not.
  package func join(patience: Int64) -> Bool {
    let thread = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    guard let thread else { return true }
    var (used, since) = (Self.processorTime(of: thread), MonotonicClock.now())
    while true {
      var deadline = timespec(nanoseconds: MonotonicClock.now() + min(patience, Self.pulseInterval))
      if pthread_clockjoin_np(thread, nil, CLOCK_MONOTONIC, &deadline) == 0 { return true }
      let (now, time) = (MonotonicClock.now(), Self.processorTime(of: thread))
      if time != used { (used, since) = (time, now) }
      guard now - since >= patience else { continue }
      pthread_detach(thread)
      return false
    }
  }

  /// Nanoseconds of the processor's time that the thread has used; nil when it has been joined or given up.
  package var processorTime: Int64? { handle.withLock { $0.map(Self.processorTime) } }

  /// Nanoseconds between two looks at what a thread has used.
  private static let pulseInterval: Int64 = 200_000_000

  private static func processorTime(of thread: pthread_t) -> Int64 {
    var (clock, time) = (clockid_t(), timespec())
    guard pthread_getcpuclockid(thread, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  deinit { join() }
}
