import Glibc

/// A descriptor that lines are written to, each at once: a reader may wait for it.
struct Output: Sendable {
  /// Standard output.
  static let standard = Output(descriptor: 1)
  /// Standard error.
  static let errors = Output(descriptor: 2)

  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Makes the file at `path`, or appends to it; nil, with errno, when that fails.
  init?(path: String) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
  }

  /// Writes `line` and its end.
  func write(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
