import SessionModel
import TestSupport
import Testing

/// What the service manager is told.
@Suite(.serialized) struct ServiceTests {
  /// Listens in the manager's place while a program runs, and prints each message, its lines parted by commas.
  private static let manager = """
    import os, socket, subprocess, sys
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(sys.argv[1])
    status = subprocess.call(sys.argv[2:], env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1]), stdout=subprocess.DEVNULL)
    listener.setblocking(False)
    while True:
        try: print(listener.recv(4096).decode().replace("\\n", ","))
        except BlockingIOError: break
    sys.exit(status)
    """

  private func told(_ rig: RecorderRig, _ words: [String]) throws -> ChildProcess.Result {
    try run(
      ["/usr/bin/python3", "-c", Self.manager, rig.folder.file("notify"), builtProgram("recorder"), "record"] + words,
      environment: rig.environment)
  }

  @Test func theBeginningAndTheEndAreTold() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let result = try told(rig, ["--duration", "0.3"])
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let id = try rig.run(["list"]).lines.last?.split(separator: " ").first ?? ""
    #expect(SessionID(id) != nil)
    #expect(
      result.lines == [
        "READY=1,STATUS=Recording \(id).", "STOPPING=1,STATUS=The files are finished; hooks may still run.",
      ])
  }

  @Test func oneThatCannotBeginIsNeverReady() throws {
    let rig = try RecorderRig()
    let result = try told(rig, ["--display", ":nowhere"])
    #expect(result.ending == .exit(69) && result.text == "")
  }
}
