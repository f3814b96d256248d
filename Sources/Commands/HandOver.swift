import Glibc
package import SessionModel
import Threading

/// The programs of this package that stand for each other.
///
/// `recorder` is what a person starts; it is linked with nothing large. The commands that need FFmpeg are in
/// `recorder-media`: loading FFmpeg's 135 libraries takes longer than all that `list`, `show` and `search` do.
package enum HandOver {
  /// Becomes the program `name` with the arguments this process was started with. It is looked for beside this program,
  /// as the build leaves it, and in ../libexec/recorder, as `make install` does.
  /// - Throws: `RecorderError` (unavailable) when it is in neither place or cannot be started; otherwise it never
  ///   returns.
  package static func exec(_ name: String) throws(RecorderError) {
    InheritedSignals.restore()
    var failure = ENOENT
    for candidate in try places(of: name) {
      candidate.withCString { path in _ = execv(path, CommandLine.unsafeArgv) }
      failure = errno == ENOENT ? failure : errno
    }
    throw missing(name, failure)
  }

  /// The places at which the program `name` is looked for, in this order.
  /// - Throws: `RecorderError` (systemCall) when this program's own place is unknown.
  package static func places(of name: String) throws(RecorderError) -> [FilePath] {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, let program = FilePath(bytes: Array(buffer.prefix(count))) else {
      throw RecorderError(.systemCall, "The program's own place is unknown: \(String(cString: strerror(errno))).")
    }
    let folder = program.bytes.prefix((program.bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)
    return ["", "../libexec/recorder/"].compactMap { place in
      FilePath(bytes: folder + Array("\(place)\(name)".utf8))
    }
  }

  /// The error for a program that could not be started, for the reason `failure` (errno).
  package static func missing(_ name: String, _ failure: Int32) -> RecorderError {
    RecorderError(
      .unavailable, "\(name) cannot be started: \(String(cString: strerror(failure))).",
      hint: "Install the package again: it belongs beside recorder or in ../libexec/recorder.")
  }
}
