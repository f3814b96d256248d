import FoundationEssentials
import Glibc
import SessionModel

/// One client of a control server, on the server's thread: lines in, lines out, both bounded, and never a wait.
final class ControlConnection {
  /// Tells the clients apart; never used twice.
  let id: Int
  let descriptor: Int32
  /// Whether it wants the status at each change.
  var isWatching = false
  /// Whether an answer is due; until then no more of its requests are looked at.
  var isAwaiting = false
  /// Whether it will say nothing more; what it asked for before is still answered.
  private(set) var isInputOver = false
  /// Whether it is to be closed once all was sent.
  var isEnding = false
  /// When it last said something, in monotonic ns.
  private(set) var lastHeard: Int64
  private var input: [UInt8] = []
  private var output: [UInt8] = []

  /// The longest line that is read, in bytes: a mark of a page of text and much more.
  static let longestLine = 1 << 16
  /// The most bytes that wait for a client: an answer, and a status after it.
  private static let mostOutput = 1 << 18

  init(id: Int, descriptor: Int32, at now: Int64) {
    (self.id, self.descriptor, lastHeard) = (id, descriptor, now)
  }

  deinit { close(descriptor) }

  /// Whether something waits to be sent.
  var hasOutput: Bool { !output.isEmpty }
  /// Whether more is to be read from it now.
  var wantsInput: Bool { !isEnding && !isAwaiting && !isInputOver && input.count <= Self.longestLine }

  /// Reads what has come.
  /// - Returns: false when the client is gone.
  func receive(at now: Int64) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while wantsInput {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 {
        isInputOver = true
        return true
      }
      if count < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN
      }
      lastHeard = now
      input += buffer[..<count]
    }
    return true
  }

  /// The next whole line, its end left out; nil when there is none yet.
  func nextLine() -> [UInt8]? {
    guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let line = Array(input[..<end])
    input.removeSubrange(...end)
    return line
  }

  /// Whether more has come without an end of line than a line may have.
  var isLineTooLong: Bool { input.count > Self.longestLine }

  /// Queues `line`, which ends with a newline.
  /// - Returns: false when the client has left so much unread that it is given up.
  func send(_ line: [UInt8]) -> Bool {
    guard output.count + line.count <= Self.mostOutput else { return false }
    output += line
    return flush()
  }

  /// Sends what waits, as far as the client takes it.
  /// - Returns: false when the client is gone.
  func flush() -> Bool {
    while !output.isEmpty {
      let count = Glibc.send(descriptor, output, output.count, Int32(MSG_NOSIGNAL))
      if count < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN
      }
      output.removeFirst(count)
    }
    return true
  }
}
