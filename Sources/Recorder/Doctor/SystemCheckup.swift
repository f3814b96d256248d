internal import CLinux
import FoundationEssentials
import Glibc
import SessionModel

/// What the system gives a recorder: clocks, and limits on files and memory.
enum SystemCheckup {
  static func findings() -> [Finding] { [monotonic, wallClock, descriptors, fileSize, memory, runtimeFolder] }

  // MARK: Clocks

  /// Frames are timed in ms: a clock that ticks no finer than this many ns shows in the recording.
  private static let coarse = 1_000_000
  /// Before 2025 this program was not there: such a time is that of a clock without a battery. Seconds since 1970.
  private static let earliest = 1_735_689_600

  private static var monotonic: Finding {
    var resolution = timespec()
    clock_getres(CLOCK_MONOTONIC, &resolution)
    let nanoseconds = resolution.tv_sec * 1_000_000_000 + resolution.tv_nsec
    let source = text("/sys/devices/system/clocksource/clocksource0/current_clocksource") ?? "unknown"
    let found = "CLOCK_MONOTONIC ticks every \(nanoseconds) ns (clock source \(source))."
    return nanoseconds < coarse
      ? Finding(.clock, "monotonic clock", .fine, found)
      : Finding(
        .clock, "monotonic clock", .note, "\(found) Times of frames are no finer.",
        remedy: "Boot a kernel with high-resolution timers (highres=on).")
  }

  private static var wallClock: Finding {
    let now = time(nil)
    guard now >= earliest else {
      return Finding(
        .clock, "wall clock", .note, "The wall clock is wrong: it says \(WallTime.now()).",
        remedy: "Set it: timedatectl set-time, or start an NTP service.")
    }
    return recorder_clock_is_synchronized() == 0
      ? Finding(
        .clock, "wall clock", .note,
        "The wall clock is not kept by NTP: it may step, which the session notes, and differ from other machines'.",
        remedy: "Start a service that keeps it: timedatectl set-ntp true.")
      : Finding(.clock, "wall clock", .fine, "The wall clock is kept by NTP.")
  }

  // MARK: Limits

  /// What `DescriptorLimit` asks for; commands do not begin without it.
  private static let neededDescriptors: rlim_t = 64
  /// Bytes of memory below which a recording of a large screen may be killed: canvas, pictures, encoder and libraries.
  private static let neededMemory: UInt64 = 300_000_000

  private static func limit(_ resource: __rlimit_resource) -> rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    return limit
  }

  private static var descriptors: Finding {
    let limit = limit(RLIMIT_NOFILE)
    let text = "\(limit.rlim_cur) files may be open at once, of which a recording needs about \(neededDescriptors)."
    return limit.rlim_cur >= neededDescriptors
      ? Finding(.limits, "open files", .fine, text)
      : Finding(.limits, "open files", .problem, text, remedy: "Raise the limit with ulimit -n.")
  }

  private static var fileSize: Finding {
    let limit = limit(RLIMIT_FSIZE).rlim_cur
    return limit == rlim_t.max
      ? Finding(.limits, "file size", .fine, "Files may be of any size.")
      : Finding(
        .limits, "file size", .note, "A file may have no more than \(limit) bytes; a recording ends there.",
        remedy: "Raise the limit with ulimit -f unlimited.")
  }

  private static var memory: Finding {
    let bound = limit(RLIMIT_AS).rlim_cur
    let line = text("/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
    let kilobytes = line.flatMap { UInt64($0.filter(\.isNumber)) }
    let available = min(kilobytes.map { $0 * 1024 } ?? .max, UInt64(bound))
    guard available != .max else { return Finding(.limits, "memory", .fine, "No limit is known.") }
    let found = "\(available / 1_000_000) MB of memory are available."
    return available >= neededMemory
      ? Finding(.limits, "memory", .fine, found)
      : Finding(
        .limits, "memory", .note, "\(found) A recording takes about \(neededMemory / 1_000_000) MB.",
        remedy: "End other programs, or raise the limit with ulimit -v unlimited.")
  }

  private static var runtimeFolder: Finding {
    let subject = "runtime folder"
    guard let path = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), !path.isEmpty, access(path, W_OK) == 0
    else {
      return Finding(
        .limits, subject, .note,
        "XDG_RUNTIME_DIR names no folder that can be written: recordings are controlled through the archive's folder.",
        remedy: "Log in through systemd-logind; loginctl enable-linger USER keeps the folder after the log-out.")
    }
    return Finding(.limits, subject, .fine, "Recordings are controlled through \(path).")
  }

  private static func text(_ path: String) -> String? {
    (try? String(contentsOfFile: path, encoding: .utf8)).map { text in
      text.last == "\n" ? String(text.dropLast()) : text
    }
  }
}
