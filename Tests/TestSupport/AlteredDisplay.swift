import Glibc
import Synchronization
import Threading

/// Stands between clients and an X server and changes what clients ask, so that the server seems to be another one than
/// any that Debian has. It ends with the last reference.
package final class AlteredDisplay: Sendable {
  /// A change of the bytes that clients send.
  package struct Change: Sendable {
    let pattern: [UInt8]
    let replacement: [UInt8]

    /// Clients are told that there is no extension of that name.
    package static func without(_ name: String) -> Change {
      Change(pattern: Array(name.utf8), replacement: [UInt8(ascii: "-")] + name.utf8.dropFirst())
    }

    /// Clients that know RandR 1.5 are told that this is 1.2: the older of two versions counts.
    package static let randr12 = Change(
      pattern: [0, 3, 0, 1, 0, 0, 0, 5, 0, 0, 0], replacement: [0, 3, 0, 1, 0, 0, 0, 2, 0, 0, 0])
  }

  /// The display's name, as `:407`.
  package let name: String
  private let path: String
  private let listener: Int32
  private let threads = Mutex<[WorkerThread]>([])
  private let connections = Mutex<[Int32]>([])

  /// Begins to stand in front of `display`.
  package init(of display: VirtualDisplay, _ changes: [Change]) throws {
    guard let server = Self.number(of: display.name) else { throw TestFailure("\(display.name) is no local display") }
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    // Xvfb takes the lowest free numbers; 400 and more are nobody's.
    guard let number = (400..<900).first(where: { Self.bind(listener, Self.path($0)) }), listen(listener, 16) == 0
    else { throw TestFailure("no display number is free") }
    (self.listener, path, name) = (listener, Self.path(number), ":\(number)")
    let accepting = try WorkerThread(name: "proxy") { [weak self] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard let self, Self.connect(upstream, Self.path(server)) else {
          close(client)
          close(upstream)
          continue
        }
        self.connections.withLock { $0 += [client, upstream] }
        self.pump(from: client, to: upstream, changes)
        self.pump(from: upstream, to: client, [])
      }
    }
    threads.withLock { $0.append(accepting) }
  }

  deinit {
    unlink(path)
    // Their threads, which are waited for, end with it.
    for descriptor in connections.withLock({ $0 }) + [listener] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    threads.withLock { $0 = [] }
    for descriptor in connections.withLock({ $0 }) + [listener] { close(descriptor) }
  }

  private func pump(from source: Int32, to target: Int32, _ changes: [Change]) {
    let thread = try? WorkerThread(name: "proxy") {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      // A client sends a request whole, so that what is looked for is in one piece.
      while case let count = read(source, &buffer, buffer.count), count > 0 {
        var bytes = Array(buffer[..<count])
        for change in changes {
          for range in bytes.ranges(of: change.pattern) { bytes.replaceSubrange(range, with: change.replacement) }
        }
        if !Self.send(bytes, to: target) { break }
      }
      shutdown(target, Int32(SHUT_RDWR))
      shutdown(source, Int32(SHUT_RDWR))
    }
    if let thread { threads.withLock { $0.append(thread) } }
  }

  private static func send(_ bytes: [UInt8], to target: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func number(of name: String) -> Int? { Int(name.drop { $0 == ":" }) }
  private static func path(_ number: Int) -> String { "/tmp/.X11-unix/X\(number)" }

  private static func address<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  private static func bind(_ descriptor: Int32, _ path: String) -> Bool {
    address(path) { Glibc.bind(descriptor, $0, $1) == 0 }
  }

  private static func connect(_ descriptor: Int32, _ path: String) -> Bool {
    address(path) { Glibc.connect(descriptor, $0, $1) == 0 }
  }
}
