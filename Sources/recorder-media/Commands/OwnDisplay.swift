import CLinux
import Glibc
import SessionModel
import Synchronization

/// An Xvfb of a recording's own; it ends with the last reference, and with this process.
final class OwnDisplay: Sendable {
  /// Its name, as `:7`.
  let name: String
  private let pid: pid_t

  /// Milliseconds that Xvfb is given to come up, which takes a fraction of a second on an idle machine.
  private static let patience: Int32 = 20_000

  /// Starts Xvfb on a free display number, with a screen of `size` pixels, and waits until it takes clients.
  /// - Throws: `RecorderError` (unavailable) when there is no Xvfb, or it does not come up.
  init(_ size: PixelSize) throws(RecorderError) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw RecorderError(.systemCall, "No pipe is left: \(String(cString: strerror(errno))).")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let words = ["Xvfb", "-displayfd", "3", "-screen", "0", "\(size)x24", "-noreset", "-nolisten", "tcp"]
    let failure = Self.spawn(words, number: ends[1])
    close(ends[1])
    guard failure.status == 0 else {
      throw RecorderError(
        .unavailable, "Xvfb cannot be started: \(String(cString: strerror(failure.status))).",
        hint: "Install it: apt-get install xvfb.")
    }
    pid = failure.pid
    var digits: [UInt8] = []
    while digits.last != UInt8(ascii: "\n") {
      var (entry, byte) = (pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0), UInt8(0))
      guard poll(&entry, 1, Self.patience) > 0, read(ends[0], &byte, 1) == 1 else { break }
      digits.append(byte)
    }
    name = ":" + String(decoding: digits.dropLast(), as: UTF8.self)
    guard digits.last == UInt8(ascii: "\n") else {
      throw RecorderError(.unavailable, "Xvfb does not come up.", hint: "See what Xvfb :99 says.")
    }
  }

  deinit {
    kill(pid, SIGTERM)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }

  private static func spawn(_ words: [String], number: Int32) -> (status: Int32, pid: pid_t) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, number, 3)
    posix_spawn_file_actions_addclosefrom_np(&actions, 4)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    // A group of its own: the keyboard's signals are not for it.
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var pid = pid_t()
    return (posix_spawnp(&pid, "Xvfb", &actions, &attributes, arguments, environ), pid)
  }
}
