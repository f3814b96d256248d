import Glibc
import SessionModel

/// How many files this process may have open at once.
enum DescriptorLimit {
  /// What the program needs at most: a recording with sound, its control socket and its index has about 45 open.
  private static let needed: rlim_t = 64

  /// Raises the soft limit to the hard one: what fails for want of a descriptor fails in the middle of something.
  /// - Throws: `RecorderError` (systemCall) when the hard one is too low.
  static func raise() throws(RecorderError) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < needed else { return }
    limit.rlim_cur = min(limit.rlim_max, needed)
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur >= needed else {
      throw RecorderError(
        .systemCall, "Only \(limit.rlim_cur) files may be open at once, and \(needed) are needed.",
        hint: "Raise the limit with ulimit -n.")
    }
  }
}
