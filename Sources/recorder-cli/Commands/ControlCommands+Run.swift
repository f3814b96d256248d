import Archive
import Arguments
import Commands
import Control
import SessionModel

extension StopCommand: Command {
  func run() throws {
    let recordings = try OpenRecordings()
    var client = try recordings.running.connect(recording.name)
    let response = try client.ask(ControlRequest(.stop), waiting: true)
    if let session = response.status?.session {
      let manifest = try? ArchiveReader(recordings.archive).session(session).manifest()
      if let head = manifest?.chain?.head { Diagnostics.message("Sealed with \(head.printable).") }
      try StandardOutput.line(session.description)
    }
    if let failure = response.failure { throw failure }
  }
}

extension MarkCommand: Command {
  func run() throws { try OpenRecordings.tell(recording.name, ControlRequest(.mark, text: text)) }
}

extension PauseCommand: Command {
  func run() throws { try OpenRecordings.tell(recording.name, ControlRequest(.pause)) }
}

extension ResumeCommand: Command {
  func run() throws { try OpenRecordings.tell(recording.name, ControlRequest(.resume)) }
}

extension MuteCommand: Command {
  func run() throws { try OpenRecordings.tell(recording.name, ControlRequest(.mute, input: input.input)) }
}

extension UnmuteCommand: Command {
  func run() throws { try OpenRecordings.tell(recording.name, ControlRequest(.unmute, input: input?.input)) }
}

extension GainCommand: Command {
  func run() throws {
    let change = gains.reduce(into: GainChange()) { $0.merge($1) }
    try OpenRecordings.tell(recording.name, ControlRequest(.gain, gains: change))
  }
}

extension SplitCommand: Command {
  func run() throws { try OpenRecordings.tell(recording.name, ControlRequest(.split)) }
}
