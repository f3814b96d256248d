import Glibc
import Synchronization

/// What `Tests/Fixtures/faults` holds, compiled once for all tests of a process.
package enum InjectedFaults {
  /// The library `NAME.c`, which makes system calls answer what a test wants them to.
  /// - Returns: what the program that is tested gets as LD_PRELOAD.
  package static func library(_ name: String) throws -> String {
    try compile(name, as: "\(name).so", ["-shared", "-fPIC"], ["-ldl"])
  }

  /// The X client `NAME.c`.
  /// - Returns: its path.
  package static func client(_ name: String) throws -> String { try compile(name, as: name, [], ["-lxcb"]) }

  private static func compile(
    _ name: String, as product: String, _ flags: [String], _ libraries: [String]
  ) throws -> String {
    try compiled.withLock { compiled in
      if let folder = compiled[name] { return folder.file(product) }
      let folder = try TemporaryFolder()
      let source = "\(JSONSchema.repository)/Tests/Fixtures/faults/\(name).c"
      let result = try run(
        ["cc", "-O1", "-Wall", "-Wextra", "-Werror"] + flags + ["-o", folder.file(product), source] + libraries)
      guard result.status == 0 else { throw TestFailure(result.errorText) }
      compiled[name] = folder
      return folder.file(product)
    }
  }

  private static let compiled = Mutex<[String: TemporaryFolder]>([:])
}

/// A disk that hangs from a moment on, for those who run in its environment: each of their calls of one kind waits until
/// it is let go on.
package final class HangingDisk: Sendable {
  private let folder: TemporaryFolder
  /// What the program that is tested gets.
  package let environment: [String: String?]
  private let writer = Mutex<Int32>(-1)

  /// Makes one that works.
  /// - Parameters:
  ///   - path: what lies below it is on the disk.
  ///   - call: `write` or `fsync`.
  ///   - ending: the files whose path ends so; nil is all.
  package init(below path: String, _ call: String, files ending: String? = nil) throws {
    folder = try TemporaryFolder()
    environment = [
      "LD_PRELOAD": try InjectedFaults.library("fail-call"), "FAIL_CALL": call, "FAIL_AT": "1", "FAIL_UNDER": path,
      "FAIL_WHEN": folder.file("begin"), "FAIL_HOLD": folder.file("gate"), "FAIL_ENDS": ending,
    ]
    guard mkfifo(folder.file("gate"), 0o600) == 0 else { throw TestFailure("mkfifo") }
  }

  deinit { writer.withLock { _ = close($0) } }

  /// Has it hang.
  package func hang() throws { try writeFile(folder.file("begin"), []) }

  /// Lets all go on that hang, and those that come later.
  package func goOn() {
    // Open for both, it waits for nobody; as long as it is, nobody waits for it.
    writer.withLock { $0 = open(folder.file("gate"), O_RDWR | O_CLOEXEC) }
  }
}
