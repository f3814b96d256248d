internal import CLinux
import Glibc
package import SessionModel

/// How another program is started: no signal is blocked, each has its default action unless this process was started to
/// ignore it, and no descriptor goes with it but those that are named here.
package struct ProcessLaunch: Sendable {
  /// What one of its standard descriptors is.
  package enum Stream: Hashable, Sendable {
    /// That of this process.
    case inherited
    /// /dev/null.
    case nowhere
    /// A copy of this descriptor.
    case copy(of: Int32)
  }

  /// Which processes get the signals of its terminal with it.
  package enum Group: Hashable, Sendable {
    /// This process and the others of its group.
    case shared
    /// Those that it starts itself; a negative number of it signals them all.
    case own
    /// As `own`; and it has no terminal.
    case session
  }

  /// Its words, the first of which is the program.
  package let words: [[UInt8]]
  /// The program's file; nil looks the first word up in PATH.
  package var program: FilePath?
  /// Changes of this process's environment; a value of nil takes a variable away.
  package var environment: [String: String?] = [:]
  /// Its standard input.
  package var input = Stream.inherited
  /// Its standard output.
  package var output = Stream.inherited
  /// Its standard error.
  package var errors = Stream.inherited
  /// What it has as descriptor 3; nil is nothing.
  package var fourth: Int32?
  /// Its process group.
  package var group = Group.shared

  /// Makes the launch of `words`; set what is to differ from this process.
  package init(_ words: [[UInt8]]) { self.words = words }

  /// Starts it.
  /// - Returns: its process, which the caller waits for.
  /// - Throws: `Failure`: the reason in errno's words; there is no process then.
  package func start() throws(Failure) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    prepare(&actions)
    prepare(&attributes)
    let arguments = words.map(Self.copy) + [nil]
    let variables = variables.map(Self.copy) + [nil]
    defer { (arguments + variables).forEach { free($0) } }
    guard let first = arguments.first ?? nil else { throw Failure(number: ENOENT) }
    var pid = pid_t()
    let number =
      program?.withCString { posix_spawn(&pid, $0, &actions, &attributes, arguments, variables) }
      ?? posix_spawnp(&pid, first, &actions, &attributes, arguments, variables)
    guard number == 0 else { throw Failure(number: number) }
    return pid
  }

  /// Why a program could not be started.
  package struct Failure: Error, Hashable, Sendable {
    /// The kernel's number for it (errno).
    package let number: Int32
    /// The kernel's words for it.
    package var text: String { String(cString: strerror(number)) }
    /// Whether there is no such program.
    package var isMissing: Bool { number == ENOENT || number == ENOTDIR }
  }

  private func prepare(_ actions: inout posix_spawn_file_actions_t) {
    for (number, stream) in [input, output, errors].enumerated() {
      switch stream {
      case .inherited: break
      case .nowhere: posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
      case .copy(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      }
    }
    if let fourth { posix_spawn_file_actions_adddup2(&actions, fourth, 3) }
    posix_spawn_file_actions_addclosefrom_np(&actions, fourth == nil ? 3 : 4)
  }

  private func prepare(_ attributes: inout posix_spawnattr_t) {
    var (blocked, defaults) = (sigset_t(), sigset_t())
    sigemptyset(&blocked)
    sigfillset(&defaults)
    for number in InheritedSignals.ignored { sigdelset(&defaults, number) }
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    switch group {
    case .shared: break
    case .own: flags |= POSIX_SPAWN_SETPGROUP
    case .session: flags |= recorder_spawn_setsid
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  /// The environment it gets, as `NAME=VALUE`.
  private var variables: [[UInt8]] {
    var found: [[UInt8]] = []
    var entry = environ
    while let text = entry.pointee {
      let bytes = UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
      let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      if environment[name] == nil { found.append(bytes) }
      entry += 1
    }
    for (name, value) in environment {
      if let value { found.append(Array("\(name)=\(value)".utf8)) }
    }
    return found
  }

  /// `bytes` as a C string, to be freed.
  private static func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    (bytes + [0]).withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { strdup($0.assumingMemoryBound(to: CChar.self)) }
    }
  }
}
