import Archive
import Control
import SessionModel

/// A recorder's control socket, from before it records until it is closed.
final class ControlService: Sendable {
  private let server: ControlServer

  /// Claims a name and begins to serve it.
  /// - Parameters:
  ///   - environment: says where the sockets are.
  ///   - archive: the archive that is recorded to.
  ///   - director: carries out what clients ask for.
  /// - Throws: `RecorderError`: busy when another recorder has the name; permission, cannotCreate.
  init(
    _ name: InstanceName, environment: [String: String], archive: ArchiveLocation, _ director: CaptureDirector
  ) throws(RecorderError) {
    guard let folder = try RuntimeFolder.open(environment, archive: archive.path, creating: true) else {
      throw RecorderError(.cannotCreate, "There is no folder for control sockets.")
    }
    guard let claim = try InstanceClaim.claim(name, in: folder) else { throw Self.taken(name, folder) }
    server = try ControlServer(
      claim,
      ControlServer.Handlers(
        status: { director.status }, perform: { director.perform($0, $1) }, heard: { director.note($0, from: $1) }))
  }

  /// Sends the last answers, gives the name back and closes the socket.
  func close() async {
    let server = server
    // The clients are given a moment to take their answers.
    _ = await Carrier().run { server.close() }
  }

  /// The error that says who has `name`.
  private static func taken(_ name: InstanceName, _ folder: RuntimeFolder) -> RecorderError {
    var owner = "a recording that is just beginning or ending"
    if var client = try? ControlClient(name, in: folder), let status = try? client.ask(ControlRequest(.status)).status,
      let session = status.session
    {
      owner = "the recording \(session)"
    }
    return RecorderError(
      .busy, "The name \(name.text) is taken by \(owner).", hint: "Give another --name, or stop that one first.")
  }
}
