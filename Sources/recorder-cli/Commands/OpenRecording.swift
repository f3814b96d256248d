import Archive
import Commands
import Control
import FoundationEssentials
import SessionModel

/// The recordings that run, as a command finds them.
struct OpenRecordings {
  /// The archive that the environment names.
  let archive: ArchiveLocation
  /// The recordings.
  let running: RunningRecordings

  /// Looks where the environment says that control sockets are.
  /// - Throws: `RecorderError`: configuration, permission.
  init() throws(RecorderError) {
    let environment = ProcessInfo.processInfo.environment
    archive = try ArchiveLocation.standard(environment)
    running = RunningRecordings(try RuntimeFolder.open(environment, archive: archive.path, creating: false))
  }

  /// Has `request` carried out by the recording that `name` means, and prints when it took effect.
  /// - Throws: `RecorderError`: sessionNotFound, busy, and what the recorder says.
  static func tell(_ name: String?, _ request: ControlRequest) throws {
    var client = try OpenRecordings().running.connect(name)
    // It is answered when the session has it, which takes as long as the disk does.
    let response = try client.ask(request, waiting: true)
    if let failure = response.failure { throw failure }
    if let time = response.time { try StandardOutput.line(time.description) }
  }

  /// Has the held capture that `name` means saved or published, and prints the session's id.
  /// - Returns: the session.
  /// - Throws: `RecorderError`: sessionNotFound, busy, and what the recorder says.
  func keep(
    _ name: String?, _ command: ControlRequest.Command, last: TimeSpan?, title: String?, tags: [String]
  ) throws -> SessionID {
    var request = ControlRequest(command)
    (request.last, request.title, request.tags) = (last?.nanoseconds, title, tags.isEmpty ? nil : tags)
    var client = try running.connect(name)
    let response = try client.ask(request, waiting: true)
    if let failure = response.failure { throw failure }
    guard let session = response.session else {
      throw RecorderError(.damagedData, "The recorder did not say which session it has made.")
    }
    try StandardOutput.line(session.description)
    return session
  }
}
