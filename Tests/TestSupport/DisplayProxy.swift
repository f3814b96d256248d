import Glibc

/// An X display that leads to another one, and whose connections can be made to hang while new ones are served. It ends
/// with the last reference.
package final class DisplayProxy: Sendable {
  /// The display's name, as `127.0.0.1:207`.
  package let name: String
  private let process: ChildProcess

  /// Passes on what comes, but for what `freeze` left behind.
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
    peers = {}
    print(number, flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                client, _ = listener.accept()
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
                    if data: other.sendall(data)
                except OSError: data = b""
                if not data:
                    for end in (one, other):
                        selector.unregister(end)
                        del peers[end]
                        end.close()
    """

  /// Starts to lead to `display`.
  package init(to display: VirtualDisplay) throws {
    process = try ChildProcess([
      "/usr/bin/python3", "-c", Self.program, "/tmp/.X11-unix/X\(display.name.dropFirst())",
    ])
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
