import FoundationEssentials
import Glibc
import SessionModel
internal import Threading

/// The work of a control server's thread: waits in `poll` for clients, their lines and the answers to them.
struct ControlLoop {
  private let listener: Int32
  private let mailbox: ControlMailbox
  private let handlers: ControlServer.Handlers
  private var clients: [ControlConnection] = []
  private var lastID = 0
  /// What watchers were last told, and when, in monotonic ns.
  private var told: (state: RecordingState, time: Int64)?

  /// Clients at a time: more than any person's scripts, fewer than would be felt.
  private static let mostClients = 32
  /// Nanoseconds between two looks at the state for watchers, so that a change is told at once,
  private static let watchInterval: Int64 = 250_000_000
  /// and between two lines while the state stays.
  private static let lineInterval: Int64 = 1_000_000_000
  /// Nanoseconds for which a closing server waits for its clients to take their last answers.
  private static let patience: Int64 = 500_000_000

  init(listener: Int32, mailbox: ControlMailbox, handlers: ControlServer.Handlers) {
    (self.listener, self.mailbox, self.handlers) = (listener, mailbox, handlers)
  }

  /// Serves until the mailbox is closed.
  mutating func run() {
    var end: Int64?
    while true {
      let watching = clients.contains(where: \.isWatching)
      wait(until: end ?? (watching ? MonotonicClock.now() + Self.watchInterval : .max), isClosing: end != nil)
      let mail = mailbox.take()
      for (id, response) in mail.answers { answer(id, response) }
      tellWatchers()
      let now = MonotonicClock.now()
      if mail.isClosing, end == nil {
        told = nil
        tellWatchers()
        end = now + Self.patience
      }
      if let end, now >= end || !clients.contains(where: \.hasOutput) { return }
    }
  }

  /// Waits for something to do, and does what clients ask for.
  private mutating func wait(until deadline: Int64, isClosing: Bool) {
    var entries = [
      pollfd(fd: mailbox.wake.fileDescriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isClosing ? -1 : listener, events: Int16(POLLIN), revents: 0),
    ]
    for client in clients {
      let events = (client.wantsInput && !isClosing ? POLLIN : 0) | (client.hasOutput ? POLLOUT : 0)
      entries.append(pollfd(fd: client.descriptor, events: Int16(events), revents: 0))
    }
    let wait = deadline == .max ? -1 : Int32(clamping: max(0, deadline - MonotonicClock.now() + 999_999) / 1_000_000)
    guard poll(&entries, nfds_t(entries.count), wait) > 0 else { return }
    let now = MonotonicClock.now()
    for (client, entry) in zip(clients, entries.dropFirst(2)) where entry.revents != 0 {
      serve(client, Int32(entry.revents), at: now)
    }
    if entries[1].revents != 0 { takeClients(at: now) }
  }

  private mutating func serve(_ client: ControlConnection, _ events: Int32, at now: Int64) {
    if events & POLLOUT != 0, !client.flush() { return drop(client) }
    if events & (POLLIN | POLLHUP | POLLERR) != 0 {
      // One that hung up while it waits for an answer is gone: nobody would read it.
      if !client.wantsInput, events & (POLLHUP | POLLERR) != 0 { return drop(client) }
      if !client.receive(at: now) { return drop(client) }
    }
    lookAtLines(of: client)
  }

  /// Carries out what `client` asks for, up to the first request whose answer is to be waited for.
  private mutating func lookAtLines(of client: ControlConnection) {
    while !client.isAwaiting, !client.isEnding {
      let line = client.nextLine()
      if line.map({ $0.count > ControlConnection.longestLine }) ?? client.isLineTooLong {
        refuse(client, "A line is longer than \(ControlConnection.longestLine) bytes.")
        client.isEnding = true
        break
      }
      guard let line else { break }
      perform(line, for: client)
    }
    let isDone = client.isInputOver && !client.isAwaiting && !client.isWatching
    if client.isEnding || isDone, !client.hasOutput { drop(client) }
  }

  private mutating func perform(_ line: [UInt8], for client: ControlConnection) {
    let decoder = JSONDecoder()
    struct Header: Decodable { let version: Int }
    guard let header = try? decoder.decode(Header.self, from: Data(line)) else {
      return refuse(client, "A line is no request: JSON with a version was expected.")
    }
    guard header.version == ControlRequest.version else {
      return refuse(
        client, "The protocol's version \(header.version) is not spoken here; version \(ControlRequest.version) is.")
    }
    guard let request = try? decoder.decode(ControlRequest.self, from: Data(line)) else {
      return refuse(client, "The request has no known command, or a wrong value.")
    }
    if request.command != .status { handlers.heard(request, UnixSocket.process(of: client.descriptor)) }
    switch request.command {
    case .status: send(ControlResponse(handlers.status()), to: client)
    case .watch:
      client.isWatching = true
      send(ControlResponse(handlers.status()), to: client)
    default:
      client.isAwaiting = true
      let (mailbox, id) = (mailbox, client.id)
      handlers.perform(request) { response in mailbox.answer(id, response) }
    }
  }

  private mutating func answer(_ id: Int, _ response: ControlResponse) {
    guard let client = clients.first(where: { $0.id == id }) else { return }
    client.isAwaiting = false
    send(response, to: client)
    lookAtLines(of: client)
  }

  private mutating func refuse(_ client: ControlConnection, _ message: String) {
    send(ControlResponse(RecorderError(.usage, message)), to: client)
  }

  private mutating func send(_ response: ControlResponse, to client: ControlConnection) {
    guard let data = try? JSONEncoder.canonical().encode(response) else { return }
    guard !client.send(Array(data) + [UInt8(ascii: "\n")]) else { return }
    client.isEnding = true
    drop(client)
  }

  /// Tells watchers the status when the state has changed, and once a second. One that has not taken its last line is
  /// passed over: it gets the newest when it reads again.
  private mutating func tellWatchers() {
    guard clients.contains(where: \.isWatching) else { return }
    let (status, now) = (handlers.status(), MonotonicClock.now())
    if let told, told.state == status.state, now - told.time < Self.lineInterval { return }
    told = (status.state, now)
    for client in clients where client.isWatching && !client.hasOutput { send(ControlResponse(status), to: client) }
  }

  private mutating func takeClients(at now: Int64) {
    while let descriptor = UnixSocket.accept(listener) {
      if clients.count == Self.mostClients {
        // The one that has been silent for longest makes room; one that is owed something does not.
        let idle = clients.filter { !$0.isAwaiting && !$0.isWatching }
        guard let oldest = idle.min(by: { $0.lastHeard < $1.lastHeard }) else {
          close(descriptor)
          continue
        }
        drop(oldest)
      }
      lastID += 1
      clients.append(ControlConnection(id: lastID, descriptor: descriptor, at: now))
    }
  }

  private mutating func drop(_ client: ControlConnection) { clients.removeAll { $0 === client } }
}
