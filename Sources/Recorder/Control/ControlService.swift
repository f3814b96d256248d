package import Archive
package import Control
import Glibc
package import SessionModel

/// One recording's control socket, from before it begins until all its files are finished.
package final class ControlService: Sendable {
  /// The name by which it is controlled.
  package let name: InstanceName
  /// Told when a client asks for the end.
  package let stopRequests: AsyncStream<Void>
  private let state: ServiceState
  private let server: ControlServer

  /// Claims a name and begins to serve it.
  /// - Parameters:
  ///   - name: the name that was asked for; nil takes one that nobody else can have.
  ///   - environment: says where the sockets are.
  ///   - archive: the archive that is recorded to.
  /// - Throws: `RecorderError`: busy when another recording has the name; usage, permission, cannotCreate.
  package init(
    name: String?, environment: [String: String], archive: ArchiveLocation
  ) throws(RecorderError) {
    let instance: InstanceName
    if let name { instance = try InstanceName(parsing: name) } else { instance = InstanceName(process: getpid()) }
    guard let folder = try RuntimeFolder.open(environment, archive: archive.path, creating: true) else {
      throw RecorderError(.cannotCreate, "There is no folder for control sockets.")
    }
    guard let claim = try InstanceClaim.claim(instance, in: folder) else { throw Self.taken(instance, folder) }
    let (requests, request) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
    let state = ServiceState(name: instance.text, request: request)
    stopRequests = requests
    (self.name, self.state) = (instance, state)
    server = try ControlServer(
      claim, ControlServer.Handlers(status: { state.status }, perform: { state.perform($0, $1) }))
  }

  /// Whether a client waits for the end.
  package var isStopping: Bool { state.isStopping }

  /// Gives clients the recording that has begun.
  package func attach(_ session: RecordingSession) { state.attach(session) }

  /// Answers those who asked for the end, gives the name back and closes the socket.
  /// - Parameter error: what went wrong; nil when all went as asked.
  package func finish(_ error: RecorderError?) {
    state.finish(error)
    server.close()
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
