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
