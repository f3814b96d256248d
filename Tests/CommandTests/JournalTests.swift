import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Under systemd the log's lines are in the journal too.
@Suite(.serialized) struct JournalTests {
  /// Stands in the journal's place, in a mount namespace of its own, while a program runs: prints each message's fields
  /// as a line of JSON. Its second argument says whether standard error is the journal's.
  private static let journal = """
    import json, os, socket, subprocess, sys, threading
    subprocess.check_call(["mount", "-t", "tmpfs", "tmpfs", "/run"])
    os.makedirs("/run/systemd/journal")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind("/run/systemd/journal/socket")
    stream, into = os.pipe()
    status = os.fstat(into)
    names = f"{status.st_dev}:{status.st_ino}" if sys.argv[1] == "ours" else "1:1"
    environment = dict(os.environ, JOURNAL_STREAM=names)
    program = subprocess.Popen(sys.argv[2:], env=environment, stdout=subprocess.DEVNULL, stderr=into)
    os.close(into)
    status = program.wait()
    listener.setblocking(False)
    while True:
        try: message = listener.recv(1 << 16)
        except BlockingIOError: break
        fields = dict(line.split("=", 1) for line in message.decode().splitlines() if "=" in line)
        print(json.dumps(fields))
    sys.exit(status)
    """

  private func messages(_ stream: String, _ rig: RecorderRig) throws -> [[String: String]] {
    // Root may make a namespace as it is; others need one in which they are root.
    let unshare = ["unshare", geteuid() == 0 ? "-m" : "-rm"]
    let result = try run(
      unshare + [
        "/usr/bin/python3", "-c", Self.journal, stream, builtProgram("recorder"), "record", "--duration", "0.3",
        "--no-cursor",
      ], environment: rig.environment)
    guard result.status == 0 else { throw TestFailure("\(result.ending) \(result.errorText)") }
    return try result.lines.map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
  }

  @Test func theJournalGetsTheLinesOfTheLog() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let sent = try messages("ours", rig)
    try client.process.stop()
    let lines = try rig.run(["logs", "last", "--json"]).lines
    let entries = try lines.map { try JSONDecoder().decode(LogEntry.self, from: Data($0.utf8)) }
    #expect(entries.count > 5)
    #expect(sent.count == entries.count)
    for (message, entry) in zip(sent, entries) {
      #expect(message["MESSAGE"]?.hasPrefix(entry.message) == true)
      #expect(message["RECORDER_CATEGORY"] == entry.category.rawValue)
      #expect(message["PRIORITY"] == (entry.level == .info ? "6" : entry.level == .warning ? "4" : "3"))
      #expect(message["SYSLOG_IDENTIFIER"] == "recorder")
    }
    let id = rig.sessionIDs.first
    #expect(id != nil)
    #expect(sent.last?["RECORDER_SESSION"] == id)
    // Another's stream is not ours.
    #expect(try messages("another's", rig).isEmpty)
  }
}

extension RecorderRig {
  /// The ids of the archive's sessions, newest first.
  fileprivate var sessionIDs: [String] {
    ((try? run(["list"]).lines.dropFirst().map { String($0.prefix(21)) }) ?? [])
  }
}
