import FoundationEssentials
import Glibc
import SessionModel

/// Finds out which process keeps others from a file.
enum LockHolder {
  /// The process that holds a lock of its own on one of `paths`, as a person knows it: `sqlite3 (process 4711)`; nil when
  /// the kernel does not tell, as of another user's processes and over the network.
  static func name(of paths: [String]) -> String? {
    guard let table = FileManager.default.contents(atPath: "/proc/locks") else { return nil }
    for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
      // 1: POSIX  ADVISORY  WRITE 4711 fe:00:5318776 120 120; one that waits has an arrow before POSIX (proc_locks(5)).
      let fields = line.split(separator: " ")
      guard fields.count >= 6, fields[3] == "WRITE", let process = Int32(fields[4]), process > 0, process != getpid(),
        let inode = fields[5].split(separator: ":").last.flatMap({ UInt($0) })
      else { continue }
      // The device's number is not that of stat on every file system: that the process has the file open decides.
      for path in paths where Self.inode(of: path) == inode && hasOpen(path, process) {
        return "\(command(of: process)) (process \(process))"
      }
    }
    return nil
  }

  private static func inode(of path: String) -> UInt? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt(status.st_ino) : nil
  }

  private static func hasOpen(_ path: String, _ process: Int32) -> Bool {
    let folder = "/proc/\(process)/fd"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.contains { file in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(file)")) == path
    }
  }

  private static func command(of process: Int32) -> String {
    let name = FileManager.default.contents(atPath: "/proc/\(process)/comm").map { String(decoding: $0, as: UTF8.self) }
    return (name ?? "a program").filter { $0 != "\n" }.printable
  }
}
