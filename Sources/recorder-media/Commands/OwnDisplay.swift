import Glibc
import SessionModel
import Threading

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
    let pipe = try Pipe()
    defer { close(pipe.read) }
    let words = ["Xvfb", "-displayfd", "3", "-screen", "0", "\(size)x24", "-noreset", "-nolisten", "tcp"]
    var launch = ProcessLaunch(words.map { Array($0.utf8) })
    (launch.input, launch.output, launch.errors, launch.fourth) = (.nowhere, .nowhere, .nowhere, pipe.write)
    // The keyboard's signals are not for it.
    launch.group = .own
    let started = Result { () throws(ProcessLaunch.Failure) in try launch.start() }
    close(pipe.write)
    switch started {
    case .success(let process): pid = process
    case .failure(let failure):
      throw RecorderError(
        .unavailable, "Xvfb cannot be started: \(failure.text).", hint: "Install it: apt-get install xvfb.")
    }
    var digits: [UInt8] = []
    while digits.last != UInt8(ascii: "\n") {
      var (entry, byte) = (pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0), UInt8(0))
      guard poll(&entry, 1, Self.patience) > 0, read(pipe.read, &byte, 1) == 1 else { break }
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
}
