import FoundationEssentials
import Glibc

/// A folder of a test's own, mode 0700, removed with all that is in it when the last reference goes.
package final class TemporaryFolder: Sendable {
  /// Its absolute path, without a slash at the end.
  package let path: String

  /// Makes an empty folder below $TMPDIR or /tmp.
  package init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/recorder-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw TestFailure("mkdtemp: \(String(cString: strerror(errno)))") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` inside.
  package func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// A test rig that did not do what it must.
package struct TestFailure: Error, CustomStringConvertible {
  /// What went wrong.
  package let description: String
  /// Makes a failure with one sentence.
  package init(_ description: String) { self.description = description }
}

/// Asks `condition` again and again until it holds.
/// - Throws: `TestFailure` naming `what` when it does not within `seconds`, a bound that only a broken program reaches.
package func waitUntil(_ what: String, seconds: Double = 30, _ condition: () throws -> Bool) throws {
  let deadline = monotonicSeconds() + seconds
  while try !condition() {
    guard monotonicSeconds() < deadline else { throw TestFailure("waited \(seconds) s in vain: \(what)") }
    usleep(2_000)
  }
}

/// Whether the process `pid` has not ended: one that is on its way there has files and sockets still.
package func isProcessRunning(_ pid: Int32) -> Bool {
  guard let stat = try? String(decoding: readFile("/proc/\(pid)/stat"), as: UTF8.self) else { return false }
  // The state is the letter after the name, which may hold anything.
  guard let state = stat.split(separator: ")").last?.first(where: { $0 != " " }) else { return false }
  return state != "Z" && state != "X"
}

/// `CLOCK_MONOTONIC` in seconds.
package func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The whole of a file, or what it has from byte `offset` on.
package func readFile(_ path: String, from offset: Int = 0) throws -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw TestFailure("\(path): \(String(cString: strerror(errno)))") }
  defer { close(descriptor) }
  if offset > 0 { lseek(descriptor, off_t(offset), SEEK_SET) }
  var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
  while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
  return bytes
}

/// Makes or replaces a file.
package func writeFile(_ path: String, _ bytes: some Collection<UInt8>) throws {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw TestFailure("\(path): \(String(cString: strerror(errno)))") }
  defer { close(descriptor) }
  let content = Array(bytes)
  var written = 0
  while written < content.count {
    let count = content.withUnsafeBytes {
      write(descriptor, $0.baseAddress.map { $0 + written }, content.count - written)
    }
    guard count > 0 else { throw TestFailure("\(path): \(String(cString: strerror(errno)))") }
    written += count
  }
}
