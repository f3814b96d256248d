package import Arguments
import Configuration
import FoundationEssentials
import Glibc
import SessionModel
import Threading

/// Runs one command line from its words to its exit code: what `recorder` and `recorder-media` both do.
package enum CommandRunner {
  /// Parses `arguments`, runs what they ask for, says what went wrong, and returns the exit code. A command that this
  /// program has no `run` for goes to `handOver`.
  package static func run(
    _ arguments: [ArgumentText], handOver: () throws -> Void
  ) async -> Int32 {
    StandardDescriptors.complete()
    // Asked now, since some are ignored from here on.
    _ = InheritedSignals.ignored
    // A umask that takes rights from the owner would make folders that their owner cannot enter.
    umask(umask(0o077) & 0o077)
    // A reader that goes away is an error of `write` and no end of the program: a recording goes on. So is a limit of
    // the file's size, which is reported like a full disk.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // The widths of characters; no other category, since numbers are written the same way everywhere.
    setlocale(LC_CTYPE, "C.UTF-8")
    do {
      try DescriptorLimit.raise()
      let settings = Settings.current(ProcessInfo.processInfo.environment)
      switch try CommandParser(RecorderCommand.self).parse(arguments, configured: settings.defaults) {
      case .run(let command):
        try settings.admit(command)
        guard var command = command as? any Command else {
          try handOver()
          break
        }
        settings.nameArchive()
        try await command.run()
      case .help(let command): try StandardOutput.write(Array(command.help.utf8))
      case .version: try StandardOutput.line("recorder \(recorderVersion)")
      case .incomplete(let group):
        Diagnostics.write(group.help)
        return ExitCode.usage.rawValue
      }
      return ExitCode.success.rawValue
    } catch let end as CommandEnded {
      return end.status
    } catch is OutputClosed {
      return ExitCode.success.rawValue
    } catch let error as RecorderError {
      Diagnostics.report(error)
      return error.code.rawValue
    } catch {
      Diagnostics.message("A fault in the program: \("\(error)".printable).")
      return ExitCode.brokenInvariant.rawValue
    }
  }
}
