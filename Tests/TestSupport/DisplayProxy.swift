import Glibc

/// An X display that leads to another one. Its connections can be made to hang while new ones are served, and what clients
/// ask can be changed, so that the server seems to be another one than any that Debian has. It ends with the last reference.
package final class DisplayProxy: Sendable {
  /// A change of the bytes that clients send: one sequence for another as long.
  package struct Change: Sendable {
    fileprivate let pattern: [UInt8]
    fileprivate let replacement: [UInt8]

    /// Clients are told that there is no extension of that name.
    package static func without(_ name: String) -> Change {
      Change(pattern: Array(name.utf8), replacement: [UInt8(ascii: "-")] + name.utf8.dropFirst())
    }

    /// Clients that know RandR 1.5 are told that this is 1.2: the older of two versions counts.
    package static let randr12 = Change(
      pattern: [0, 3, 0, 1, 0, 0, 0, 5, 0, 0, 0], replacement: [0, 3, 0, 1, 0, 0, 0, 2, 0, 0, 0])
  }

  /// The display's name, as `127.0.0.1:207`.
  package let name: String
  private let process: ChildProcess

  /// Passes on what comes, but for what `freeze` left behind. A client sends a request whole, so that what is to be changed
  /// is in one piece.
  private static let program = """
    import os, selectors, socket, sys
    listener = socket.socket()
    for number in range(200, 1000):
        try:
            listener.bind(("127.0.0.1", 6000 + number))
            break
        except OSError: pass
    listener.listen()
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(sys.stdin, selectors.EVENT_READ)
    changes = [tuple(map(bytes.fromhex, change.split("="))) for change in sys.argv[2:]]
    peers, clients = {}, set()
    print(number, flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                client, _ = listener.accept()
                clients.add(client)
                server = socket.socket(socket.AF_UNIX)
                server.connect(sys.argv[1])
                for one, other in ((client, server), (server, client)):
                    peers[one] = other
                    selector.register(one, selectors.EVENT_READ)
            elif key.fileobj is sys.stdin:
                if not sys.stdin.readline(): sys.exit()
                for one in peers: selector.unregister(one)
                print("frozen", len(peers) // 2, flush=True)
                hanging, peers = peers, {}
            elif key.fileobj in peers:
                one, other = key.fileobj, peers[key.fileobj]
                try:
                    data = one.recv(1 << 16)
                    for old, new in changes if one in clients else ():
                        data = data.replace(old, new)
                    if data: other.sendall(data)
                except OSError: data = b""
                if not data:
                    for end in (one, other):
                        selector.unregister(end)
                        del peers[end]
                        clients.discard(end)
                        end.close()
    """

  /// Starts to lead to `display`.
  package init(to display: VirtualDisplay, _ changes: [Change] = []) throws {
    func hexadecimal(_ bytes: [UInt8]) -> String {
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    process = try ChildProcess(
      ["/usr/bin/python3", "-c", Self.program, "/tmp/.X11-unix/X\(display.name.dropFirst())"]
        + changes.map { "\(hexadecimal($0.pattern))=\(hexadecimal($0.replacement))" })
    let process = process
    try waitUntil("the proxy; stderr: \(process.errorsSoFar)") { process.outputSoFar.hasSuffix("\n") }
    name = "127.0.0.1:\(process.outputSoFar.dropLast())"
  }

  /// Has every connection of now hang for good: nothing is passed on, and nothing is closed.
  package func freeze() throws {
    process.write("freeze\n")
    try waitUntil("the connections to hang") { process.outputSoFar.contains("frozen") }
  }
}
