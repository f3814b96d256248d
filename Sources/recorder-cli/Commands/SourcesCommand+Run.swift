import Arguments
import Commands

extension SourcesCommand: Command {
  /// The sound libraries are loaded by another program, for this command alone.
  func run() throws { try HandOver.exec("recorder-desktop") }
}
