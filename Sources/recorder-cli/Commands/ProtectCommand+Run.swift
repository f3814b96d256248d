import Archive
import Arguments
import Commands
import SessionModel

extension ProtectCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    let id = try archive.reader.resolve(session.name.text)
    let text = reason ?? ""
    if try archive.reader.session(id).protection() == text { return }
    try await archive.annotate(id, [Annotation(added: .now(), kind: .protect, text: text)])
  }
}

extension UnprotectCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    let id = try archive.reader.resolve(session.name.text)
    guard try archive.reader.session(id).protection() != nil else { return }
    try await archive.annotate(id, [Annotation(added: .now(), kind: .unprotect, text: "")])
  }
}
