import Arguments
import Commands
import Glibc
import SessionModel

extension GenerateManualCommand: Command {
  func run() throws(RecorderError) {
    let commands = ManualPage.all(of: CommandDescription(RecorderCommand.self), supplement: .standard)
    for page in commands + [.configuration] {
      try writeGenerated(page.text, named: page.fileName, in: folder)
    }
  }
}

extension GenerateCompletionsCommand: Command {
  func run() throws(RecorderError) {
    let program = CommandDescription(RecorderCommand.self)
    try writeGenerated(program.bashCompletion, named: "recorder.bash", in: folder)
    try writeGenerated(program.zshCompletion, named: "_recorder", in: folder)
    try writeGenerated(program.fishCompletion, named: "recorder.fish", in: folder)
  }
}

/// Writes `text` as the file `name` in `folder`, in place of the one that is there.
private func writeGenerated(_ text: String, named name: String, in folder: FilePath) throws(RecorderError) {
  guard let path = FilePath(bytes: folder.bytes + Array("/\(name)".utf8)) else { return }
  let descriptor = path.withCString { path in open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
  guard descriptor >= 0 else {
    throw RecorderError(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
  }
  defer { close(descriptor) }
  let failure = Array(text.utf8).withUnsafeBytes { buffer in writeAll(buffer, to: descriptor) }
  guard failure == 0 else {
    throw RecorderError(.writeFailed, "\(path) cannot be written: \(String(cString: strerror(failure))).")
  }
}
