import Glibc
import SessionModel

/// How much address space this process may use (`ulimit -v`).
enum AddressSpace {
  /// Bytes that a recording needs: one of 1920x1080 with two sound inputs came up with 1.2 GB and not with 1.0; most of it
  /// is reserved for threads and never touched.
  private static let needed: rlim_t = 1_200_000 << 10

  /// Refuses to record with less: what fails for want of it fails in a library that waits for it without end.
  /// - Throws: `RecorderError` (systemCall) that names the limit.
  static func check() throws(RecorderError) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur < needed else { return }
    throw RecorderError(
      .systemCall,
      "This process may use \(limit.rlim_cur >> 20) MiB of address space, and a recording needs \(needed >> 20).",
      hint: "Raise the limit with ulimit -v.")
  }
}
