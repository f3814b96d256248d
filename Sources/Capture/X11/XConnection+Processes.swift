import FoundationEssentials
import Glibc
import SessionModel

extension XConnection {
  /// The name of the program that made a window; nil when the window does not say which process it is of, runs on
  /// another machine, or the process has gone.
  func command(of window: WindowInfo) -> String? {
    guard let pid = window.pid, pid > 0, isLocal(window) else { return nil }
    // Words separated by NULs; the first is the program as it was called.
    guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(pid)/cmdline")) else { return nil }
    let program = line.prefix { $0 != 0 }
    let name = program.suffix(from: program.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? program.startIndex)
    return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
  }

  /// Whether a window's client runs on this machine, as far as it says.
  private func isLocal(_ window: WindowInfo) -> Bool {
    guard let machine = property("WM_CLIENT_MACHINE", of: window.id)?.bytes else { return true }
    var name = utsname()
    guard uname(&name) == 0 else { return false }
    return withUnsafeBytes(of: &name.nodename) { own in own.prefix { $0 != 0 }.elementsEqual(machine.prefix { $0 != 0 })
    }
  }
}
