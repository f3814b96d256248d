import FoundationEssentials
import Glibc
package import SessionModel
internal import Threading

/// A connection to one recorder. The sole owner of its socket.
package struct ControlClient: ~Copyable {
  /// The recording's name.
  package let name: InstanceName
  private let descriptor: Int32
  private var input: [UInt8] = []

  /// Nanoseconds after which a recorder that has not answered is said not to; it answers from a thread of its own.
  package static let patience: Int64 = 5_000_000_000

  /// Connects to the recorder called `name`.
  /// - Returns: nil when there is none of that name.
  /// - Throws: `RecorderError`: busy when more wait for it than it takes, systemCall when no descriptor is left.
  package init?(_ name: InstanceName, in folder: RuntimeFolder) throws(RecorderError) {
    let descriptor = try UnixSocket.open()
    let failure = UnixSocket.connect(descriptor, to: folder.socketPath(name), patience: Self.patience)
    guard failure == 0 else {
      close(descriptor)
      if failure != EAGAIN { return nil }
      throw RecorderError(.busy, "The recorder \(name.text) takes no more clients.", hint: "Try again.")
    }
    (self.name, self.descriptor) = (name, descriptor)
  }

  deinit { close(descriptor) }

  /// Sends `request`.
  /// - Throws: `RecorderError` (busy) when the recorder is gone or takes nothing.
  package mutating func send(_ request: ControlRequest) throws(RecorderError) {
    guard let data = try? JSONEncoder.canonical().encode(request) else {
      throw RecorderError(.brokenInvariant, "A request cannot be written as JSON.")
    }
    var rest = Array(data) + [UInt8(ascii: "\n")]
    let deadline = MonotonicClock.now() + Self.patience
    while !rest.isEmpty {
      let count = Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
      if count >= 0 {
        rest.removeFirst(count)
      } else if errno == EAGAIN {
        guard wait(for: POLLOUT, until: deadline) else { throw silent }
      } else if errno != EINTR {
        throw gone
      }
    }
  }

  /// The next line from the recorder.
  /// - Parameter deadline: monotonic ns; nil waits for as long as the recorder lives.
  /// - Returns: nil when the recorder has closed the connection.
  /// - Throws: `RecorderError`: busy when nothing came until the deadline, damagedData when what came is no answer.
  package mutating func next(until deadline: Int64?) throws(RecorderError) -> ControlResponse? {
    while true {
      if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Data(input[..<end])
        input.removeSubrange(...end)
        guard let response = try? JSONDecoder().decode(ControlResponse.self, from: line) else {
          throw RecorderError(
            .damagedData, "The recorder \(name.text) answered in a way that is not understood.",
            hint: "It may be of another version than this command.")
        }
        return response
      }
      guard wait(for: POLLIN, until: deadline ?? .max) else { throw silent }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        input += buffer[..<count]
      } else if count == 0 || errno != EAGAIN && errno != EINTR {
        return nil
      }
    }
  }

  /// Sends `request` and waits for its answer.
  /// - Parameter waiting: whether to wait for as long as the recorder lives, as for `stop` and `split`, which take as long
  ///   as the disk does.
  /// - Throws: `RecorderError`: busy when there is no answer; what the answer says.
  package mutating func ask(_ request: ControlRequest, waiting: Bool = false) throws(RecorderError) -> ControlResponse {
    // One that is stopped or hangs would be waited for without end.
    if waiting { _ = try ask(ControlRequest(.status)) }
    try send(request)
    let deadline = waiting ? nil : MonotonicClock.now() + Self.patience
    guard let response = try next(until: deadline) else { throw gone }
    return response
  }

  private func wait(for events: Int32, until deadline: Int64) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while true {
      let left = deadline == .max ? -1 : Int32(clamping: max(0, deadline - MonotonicClock.now() + 999_999) / 1_000_000)
      let count = poll(&entry, 1, left)
      if count > 0 { return true }
      if count == 0 || errno != EINTR { return false }
    }
  }

  private var silent: RecorderError {
    RecorderError(.busy, "The recorder \(name.text) does not answer.", hint: "See whether it is stopped or hangs.")
  }
  private var gone: RecorderError {
    RecorderError(
      .busy, "The recorder \(name.text) ended without an answer.", hint: "recorder list shows what it recorded.")
  }
}
