import Control
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// Calls `body` with the address of the socket at `path`.
private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
  }
}

/// A server whose recording is a script's.
final class Rig: Sendable {
  let folder: TemporaryFolder
  let runtime: RuntimeFolder
  let server: ControlServer
  let performedLock = Mutex<[ControlRequest]>([])
  var performed: [ControlRequest] { performedLock.withLock { $0 } }
  let state = Mutex(RecordingState.recording)
  /// Requests to stop wait for their answer here.
  let stops = Mutex<[@Sendable (ControlResponse) -> Void]>([])

  init() throws {
    folder = try TemporaryFolder()
    runtime = try #require(
      try RuntimeFolder.open(["XDG_RUNTIME_DIR": folder.path], archive: folder.file("a"), creating: true))
    let own = Weak()
    guard let claim = try InstanceClaim.claim(InstanceName(parsing: "demo"), in: runtime) else {
      throw TestFailure("the name is taken")
    }
    server = try ControlServer(
      claim,
      ControlServer.Handlers(
        status: { RecorderStatus(name: "demo", state: own.rig?.state.withLock { $0 } ?? .idle) },
        perform: { request, answer in
          own.rig?.performedLock.withLock { $0.append(request) }
          if request.command == .stop {
            own.rig?.stops.withLock { $0.append(answer) }
          } else {
            answer(ControlResponse(RecorderStatus(name: "demo", state: .recording), time: Timestamp(nanoseconds: 7)))
          }
        }))
    own.set(self)
  }

  private final class Weak: Sendable {
    private struct Box: Sendable { weak var rig: Rig? }
    private let box = Mutex(Box())
    var rig: Rig? { box.withLock { $0.rig } }
    func set(_ rig: Rig) { box.withLock { $0.rig = rig } }
  }

  func client() throws -> ControlClient {
    guard let client = try ControlClient(InstanceName(parsing: "demo"), in: runtime) else {
      throw TestFailure("nobody listens")
    }
    return client
  }

  /// A socket without any manners.
  func raw() throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let status = withAddress("\(runtime.path)/demo.sock") { connect(descriptor, $0, $1) }
    guard status == 0 else { throw TestFailure("connect: \(String(cString: strerror(errno)))") }
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    return descriptor
  }

  func isHealthy() throws -> Bool {
    var client = try client()
    try client.send(ControlRequest(.status))
    return try client.next(until: MonotonicClock.now() + 20_000_000_000)?.status?.name == "demo"
  }
}

func say(_ text: some Collection<UInt8>, to descriptor: Int32) {
  let bytes = Array(text)
  var done = 0
  while done < bytes.count {
    let count = bytes[done...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count <= 0 { return }
    done += count
  }
}

/// Everything until the other side closes.
func hear(_ descriptor: Int32) -> String {
  var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
  while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { text += buffer[..<count] }
  return String(decoding: text, as: UTF8.self)
}

func line(_ descriptor: Int32) -> String {
  var (text, byte) = ([UInt8](), UInt8(0))
  while recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { text.append(byte) }
  return String(decoding: text, as: UTF8.self)
}

@Suite(.serialized) struct ControlServerTests {
  @Test func requestsAreCarriedOutInOrderAndAnswered() throws {
    let rig = try Rig()
    var client = try rig.client()
    let answer = try client.ask(ControlRequest(.mark, text: "a\nb"))
    #expect(answer.time == Timestamp(nanoseconds: 7))
    #expect(answer.status?.state == .recording)
    #expect(try client.ask(ControlRequest(.mute, input: .microphone)).error == nil)
    #expect(
      rig.performed == [ControlRequest(.mark, text: "a\nb"), ControlRequest(.mute, input: .microphone)])
  }

  @Test func bothDirectionsFollowTheSchema() throws {
    let rig = try Rig()
    let descriptor = try rig.raw()
    defer { close(descriptor) }
    let requests = [
      #"{"version":1,"command":"status"}"#, #"{"version":1,"command":"mute","input":"microphone"}"#,
      #"{"version":1,"command":"gain","gains":{"microphone":-3.5}}"#,
    ]
    say((requests.joined(separator: "\n") + "\nnonsense\n").utf8, to: descriptor)
    let answers = (0...requests.count).map { _ in line(descriptor) }
    #expect(try JSONSchema.problems("control", requests + answers).allSatisfy { $0 == "" })
    #expect(answers[3].contains("\"code\":64"))
    let wrong = [
      #"{"version":2,"command":"status"}"#, #"{"version":1,"command":"mute"}"#, #"{"version":1}"#, "[]",
      #"{"version":1,"command":"gain"}"#, #"{"version":1,"command":"gain","gains":{"microphone":99}}"#,
    ]
    #expect(try JSONSchema.problems("control", wrong).allSatisfy { $0 != "" })
  }

  @Test(arguments: [
    ("nonsense", "no request"), ("{}", "no request"), (#"{"version":2,"command":"status"}"#, "version 2 is not spoken"),
    (#"{"version":1,"command":"format"}"#, "no known command"),
    (#"{"version":1,"command":"mute","input":7}"#, "wrong value"),
    ("\u{0}\u{0}", "no request"), ("", "no request"),
  ])
  func whatIsNoRequestIsAnsweredAndForgotten(text: String, words: String) throws {
    let rig = try Rig()
    let descriptor = try rig.raw()
    defer { close(descriptor) }
    say((text + "\n").utf8, to: descriptor)
    let answer = line(descriptor)
    #expect(answer.contains(words), "\(answer)")
    say(#"{"version":1,"command":"status"}"#.utf8 + [10], to: descriptor)
    #expect(line(descriptor).contains("\"state\":\"recording\""))
    #expect(rig.performed.isEmpty)
  }

  @Test func whoHasSaidAllIsStillAnswered() throws {
    let rig = try Rig()
    let descriptor = try rig.raw()
    defer { close(descriptor) }
    say(
      #"{"version":1,"command":"mark"}"#.utf8 + [10] + #"{"version":1,"command":"status"}"#.utf8 + [10], to: descriptor)
    shutdown(descriptor, Int32(SHUT_WR))
    let answers = hear(descriptor).split(separator: "\n")
    #expect(answers.count == 2)
    #expect(rig.performed.map(\.command) == [.mark])
  }

  /// One that fits into what is read at once, and is longer than a line may be.
  @Test func aLineThatIsALittleTooLongIsRefused() throws {
    let rig = try Rig()
    let descriptor = try rig.raw()
    defer { close(descriptor) }
    let words = [UInt8](repeating: UInt8(ascii: "a"), count: 65_537)
    say(words + [10], to: descriptor)
    #expect(line(descriptor).contains("longer than 65536 bytes"))
    #expect(hear(descriptor) == "")
    #expect(try rig.isHealthy())
  }

  @Test func aLineWithoutAnEndIsRefused() throws {
    let rig = try Rig()
    let descriptor = try rig.raw()
    defer { close(descriptor) }
    say([UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20), to: descriptor)
    // It may be gone before the refusal is read: the rest of the line was never taken.
    let answer = hear(descriptor)
    #expect(answer == "" || answer.contains("longer than 65536 bytes"))
    #expect(try rig.isHealthy())
  }

  @Test func moreClientsThanThereIsRoomForHarmNobody() throws {
    let rig = try Rig()
    var watcher = try rig.client()
    try watcher.send(ControlRequest(.watch))
    #expect(try watcher.next(until: MonotonicClock.now() + 20_000_000_000)?.status?.state == .recording)
    let crowd = try (0..<200).map { _ in try rig.raw() }
    #expect(try rig.isHealthy())
    rig.state.withLock { $0 = .paused }
    var state: RecordingState?
    while state != .paused {
      state = try #require(try watcher.next(until: MonotonicClock.now() + 20_000_000_000)).status?.state
    }
    for descriptor in crowd { close(descriptor) }
    #expect(try rig.isHealthy())
  }

  /// A listener whose queue is full takes a client as soon as there is room again, and says no that there is none.
  @Test func aFullQueueIsWaitedFor() throws {
    let folder = try TemporaryFolder()
    let runtime = try #require(
      try RuntimeFolder.open(["XDG_RUNTIME_DIR": folder.path], archive: folder.file("a"), creating: true))
    let name = try InstanceName(parsing: "demo")
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    let status = withAddress("\(runtime.path)/demo.sock") { bind(listener, $0, $1) }
    try #require(status == 0 && listen(listener, 0) == 0)
    // A queue of 0 has room for one.
    func connects() throws(RecorderError) -> Bool {
      guard let client = try ControlClient(name, in: runtime) else { return false }
      return client.name == name
    }
    #expect(try connects())
    let refusal = #expect(throws: RecorderError.self) { try connects() }
    #expect(refusal?.code == .busy && refusal?.message.contains("takes no more clients") == true)
    let accepted = accept(listener, nil, nil)
    defer { close(accepted) }
    #expect(try connects())
  }

  @Test func aStopIsAnsweredWhenItIsDoneAndTheNameIsFreeThen() throws {
    let rig = try Rig()
    let runtime = rig.runtime
    try withExtendedLifetime(rig) {
      let result = BoundedQueue<Result<ControlResponse, RecorderError>>(capacity: 1)
      let thread = try WorkerThread(name: "stopper") {
        do throws(RecorderError) {
          guard var client = try ControlClient(InstanceName(parsing: "demo"), in: runtime) else {
            return result.close()
          }
          _ = result.push(.success(try client.ask(ControlRequest(.stop), waiting: true)))
        } catch {
          _ = result.push(.failure(error))
        }
      }
      try waitUntil("the stop") { rig.stops.withLock { $0.count == 1 } }
      #expect(result.tryPop() == nil)
      for stop in rig.stops.withLock({ $0 }) { stop(ControlResponse(RecorderStatus(name: "demo", state: .finished))) }
      rig.server.close()
      #expect(try result.pop()?.get().status?.state == .finished)
      thread.join()
    }
    #expect(try run(["ls", "-A", runtime.path]).text == "")
  }

  @Test func anotherUserIsTurnedAway() throws {
    let rig = try Rig()
    try #require(geteuid() == 0, "the tests run as root, who can become another user")
    let script = """
      import socket, sys
      client = socket.socket(socket.AF_UNIX)
      client.connect(sys.argv[1])
      client.settimeout(20)
      try:
          client.sendall(b'{"version":1,"command":"pause"}\\n')
          print(client.recv(4096))
      except (BrokenPipeError, ConnectionResetError):
          print(b'')
      """
    // With the right to pass over file modes: the folder alone would keep it out.
    let result = try run([
      "setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
      "/usr/bin/python3", "-c", script, "\(rig.runtime.path)/demo.sock",
    ])
    #expect(result.text == "b''\n", "\(result.errorText)")
    #expect(rig.performed.isEmpty)
    #expect(try rig.isHealthy())
  }

  @Test func aSocketLeftBehindIsReplaced() throws {
    let folder = try TemporaryFolder()
    let runtime = try #require(
      try RuntimeFolder.open(["XDG_RUNTIME_DIR": folder.path], archive: folder.file("a"), creating: true))
    // As a killed recorder leaves it: a socket that nobody listens to, and a lock that nobody holds.
    let script = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    try run(["/usr/bin/python3", "-c", script, "\(runtime.path)/old.sock"])
    try writeFile("\(runtime.path)/old.lock", [])
    #expect(runtime.instances().map(\.text) == ["old"])
    #expect(try RunningRecordings(runtime).all() == [])
    #expect(try run(["ls", "-A", runtime.path]).text == "")
  }

  @Test func whatAPersonMeansIsFound() throws {
    var one = RecorderStatus(name: "demo", state: .recording)
    one.session = SessionID("20261130T021533Z-k3x9")
    var two = RecorderStatus(name: "4711", state: .paused)
    two.session = SessionID("20261130T021534Z-aaaa")
    #expect(try RunningRecordings.choose(nil, among: [one]) == one)
    #expect(try RunningRecordings.choose("demo", among: [one, two]) == one)
    #expect(try RunningRecordings.choose("20261130T021534", among: [one, two]) == two)
    for (name, among) in [(nil, []), (nil, [one, two]), ("2026", [one, two]), ("x", [one]), ("", [one])]
      as [(String?, [RecorderStatus])]
    {
      let error = #expect(throws: RecorderError.self) { try RunningRecordings.choose(name, among: among) }
      #expect(error?.code == .sessionNotFound)
    }
  }
}
