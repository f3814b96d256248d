import Archive
import Arguments
import Commands
import Control
import SessionModel

extension StopCommand: Command {
  func run() throws {
    let recordings = try OpenRecordings()
    var client = try recordings.running.connect(recording.name)
    var request = ControlRequest(.stop)
    if save { request.keeps = true }
    let response = try client.ask(request, waiting: true)
    if let status = response.status, status.session == nil, response.error == nil, let message = status.message {
      Diagnostics.message(message.printable)
    }
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

extension SaveCommand: Command {
  func run() throws {
    let recordings = try OpenRecordings()
    let id = try recordings.keep(recording.name, .save, last: last, title: title, tags: tag)
    guard let last, let manifest = try? ArchiveReader(recordings.archive).session(id).manifest(),
      manifest.duration.nanoseconds < last.nanoseconds
    else { return }
    let wanted = Timestamp(nanoseconds: last.nanoseconds)
    Diagnostics.message("\(manifest.duration) were saved: of the \(wanted) that were asked for no more was held.")
  }
}

extension PublishCommand: Command {
  func run() throws { _ = try OpenRecordings().keep(recording.name, .publish, last: last, title: title, tags: tag) }
}
