import Archive
import Glibc
import Replay
import SessionModel
import TestSupport
import Testing

/// What becomes of a session while it is redacted and the program is killed, the disk fails, or others want it too.
extension RedactTests {
  /// Redacts, and is killed in the `number`th of `calls`.
  private static func redact(
    _ session: RecordedSession, killedIn calls: String, _ number: Int, environment: [String: String?] = [:]
  ) throws -> ChildProcess.Result {
    try run(
      [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
        "inject=\(calls):signal=KILL:when=\(number)", builtProgram("recorder"), "redact", "last", "--from", "1.2",
        "--to", "1.62",
      ], environment: ReplayRig.environment(session, environment))
  }

  @Test(
    "A session that is deleted when its redaction was broken off is gone, with what that had left", arguments: [1, 2])
  func deleted(_ exchange: Int) throws {
    let session = try Self.session()
    // Before the two change places, and after: the first name that is taken away then is one of the other.
    let result = try Self.redact(session, killedIn: exchange == 1 ? "renameat2" : "unlinkat", exchange == 1 ? 1 : 4)
    #expect(result.ending == .signal(SIGKILL), "\(result.ending)")
    #expect(try run(["find", session.folder.path, "-name", ".new-*"]).lines.count == 1)
    #expect(try (session.timeline().manifest.redactions == nil) == (exchange == 1))
    try ArchiveReader(session.location).delete(session.id, as: .delete)
    #expect(try Self.recorder(["list", "--json"], session).text == "")
    try Self.expectNothingLeft(session)
    #expect(access(session.path, F_OK) != 0)
    for secret in Self.secrets { #expect(try !Self.archiveHolds(secret, session)) }
  }

  /// What a file system answers that cannot exchange two names.
  private static func noExchange(_ session: RecordedSession) throws -> [String: String?] {
    [
      "LD_PRELOAD": try InjectedFaults.library("fail-call"), "FAIL_CALL": "exchange", "FAIL_AT": "1",
      "FAIL_UNDER": session.folder.path, "FAIL_ERRNO": "\(EINVAL)",
    ]
  }

  @Test(
    "Where two names cannot be exchanged it takes two steps; killed between them, the next command takes the second")
  func twoSteps() throws {
    let session = try Self.session()
    #expect(try Self.recorder(["list"], session).status == 0)
    let model = try TemporaryFolder()
    #expect(try run(["cp", "-a", session.folder.path, model.file("archive")]).status == 0)
    var (number, absent) = (1, 0)
    while true {
      try Self.restore(session, from: model)
      let result = try Self.redact(
        session, killedIn: "renameat", number, environment: Self.noExchange(session))
      if result.status == 0 { break }
      #expect(result.ending == .signal(SIGKILL), "\(number): \(result.ending) \(result.errorText)")
      if access(session.path, F_OK) != 0 { absent += 1 }
      #expect(try Self.recorder(["recover"], session).ending == .exit(0))
      #expect(try Self.recorder(["verify", "last"], session).ending == .exit(0), "\(number)")
      try Self.expectNothingLeft(session)
      number += 1
    }
    #expect(absent == 1 && number > 3, "\(absent) of \(number)")
    #expect(try session.timeline().manifest.redactions?.count == 1)
    for secret in Self.secrets where secret != Self.secrets[3] {
      #expect(try !Self.archiveHolds(secret, session), "\(secret)")
    }
    try Self.expectNothingLeft(session)
  }

  /// Puts the archive back to what it was.
  private static func restore(_ session: RecordedSession, from model: TemporaryFolder) throws {
    let (folder, kept) = (session.folder.path, model.file("archive"))
    #expect(try run(["sh", "-c", "rm -rf \(folder)/* && cp -a \(kept)/. \(folder)"]).status == 0)
  }

  /// Case E01 for what changes a session: the Nth call fails.
  @Test("A disk that fails or is full leaves the session whole", arguments: ["write", "fsync", "open", "exchange"])
  func failingDisk(_ call: String) throws {
    let session = try Self.session()
    #expect(try Self.recorder(["list"], session).status == 0)
    let model = try TemporaryFolder()
    #expect(try run(["cp", "-a", session.folder.path, model.file("archive")]).status == 0)
    for (number, error) in zip([1, 3, 9, 20], [ENOSPC, EIO, EROFS, EDQUOT]) {
      try Self.restore(session, from: model)
      let mark = model.file("mark")
      unlink(mark)
      let result = try run(
        [builtProgram("recorder"), "redact", "last", "--from", "1.2", "--to", "1.62"],
        environment: ReplayRig.environment(
          session,
          [
            "LD_PRELOAD": try InjectedFaults.library("fail-call"), "FAIL_CALL": call, "FAIL_AT": "\(number)",
            "FAIL_UNDER": session.folder.path, "FAIL_ERRNO": "\(error)", "FAIL_MARK": mark,
          ]))
      guard access(mark, F_OK) == 0 else { break }
      let name = "\(call) \(number)"
      // What cannot be opened is not found, either.
      #expect([66, 71, 73, 74].contains(result.status), "\(name): \(result.ending) \(result.errorText)")
      #expect(try Self.recorder(["verify", "last"], session).ending == .exit(0), "\(name)")
      let isRedacted = try session.timeline().manifest.redactions != nil
      #expect(try Self.recorder(["recover"], session).ending == .exit(0), "\(name)")
      try Self.expectNothingLeft(session)
      #expect(try Self.archiveHolds(Self.secrets[0], session) != isRedacted, "\(name)")
      #expect(try Self.recorder(["search", "--json", Self.secrets[0]], session).lines.isEmpty == isRedacted, "\(name)")
    }
  }

  @Test("Words that the index cannot be rid of at once are told, and go with the next command that can")
  func unwritableIndex() throws {
    let session = try Self.session()
    #expect(try Self.recorder(["list"], session).status == 0)
    let result = try run(
      [builtProgram("recorder"), "redact", "last", "--from", "1.2", "--to", "1.62"],
      environment: ReplayRig.environment(
        session,
        [
          "LD_PRELOAD": try InjectedFaults.library("fail-call"), "FAIL_CALL": "write", "FAIL_AT": "1",
          "FAIL_UNDER": session.folder.path, "FAIL_ENDS": "-wal", "FAIL_ERRNO": "\(ENOSPC)",
        ]))
    #expect(result.status == 74, "\(result.ending) \(result.errorText)")
    #expect(result.errorText.hasSuffix("Until a command can write the index, it has the words that were taken out.\n"))
    #expect(try session.timeline().manifest.redactions?.count == 1)
    let next = try Self.recorder(["list"], session)
    #expect(
      next.errorText == "recorder: The redaction of \(session.id) was broken off; what it had left is gone now.\n")
    for secret in Self.secrets { #expect(try !Self.archiveHolds(secret, session), "\(secret)") }
    try Self.expectNothingLeft(session)
  }

  @Test("While a part is taken out nobody else takes out another, or deletes what is left")
  func twice() throws {
    let session = try Self.session()
    // It stands still when the two have changed places and the first is not yet deleted.
    let first = try ChildProcess(
      [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
        "inject=renameat2:signal=STOP:when=1", builtProgram("recorder"), "redact", "last", "--from", "1", "--to", "2",
      ], environment: ReplayRig.environment(session))
    try waitUntil("the exchange") { try session.timeline().manifest.redactions != nil }
    for words in [["redact", "last", "--from", "0", "--to", "1"], ["delete", "last"]] {
      let result = try Self.recorder(words, session)
      #expect(result.status == 75 && result.errorText.contains("is being recorded or worked on"), "\(words): \(result)")
    }
    #expect(try Self.recorder(["note", "last", "--at", "0.1", "meanwhile"], session).status == 0)
    #expect(try Self.recorder(["verify", "last"], session).ending == .exit(0))
    let child = try run(["pgrep", "-P", "\(first.pid)"]).lines
    let pid = try #require(child.first.flatMap { pid_t($0) })
    #expect(child.count == 1 && kill(pid, SIGCONT) == 0)
    #expect(try first.wait().status == 0)
    #expect(try ArchiveReader(session.location).session(session.id).annotations().map(\.text) == ["meanwhile"])
    #expect(try session.timeline().manifest.redactions?.map(\.from) == [.milliseconds(1000)])
    #expect(try Self.recorder(["verify", "last", "--deep"], session).ending == .exit(0))
    try Self.expectNothingLeft(session)
  }

  /// Whatever call it dies in, the session is there whole, with the stretch or without it, and the next command clears up.
  @Test("Killed at any step")
  func killed() throws {
    let session = try Self.session()
    #expect(try Self.recorder(["list"], session).status == 0)
    let model = try TemporaryFolder()
    #expect(try run(["cp", "-a", session.folder.path, model.file("archive")]).status == 0)
    let calls = "renameat,renameat2,linkat,unlinkat,mkdirat,fsync,flock"
    var (number, old, new) = (1, 0, 0)
    while true {
      try Self.restore(session, from: model)
      let result = try Self.redact(session, killedIn: calls, number)
      if result.status == 0 { break }
      #expect(result.ending == .signal(SIGKILL), "\(number): \(result.ending) \(result.errorText)")
      // Before anything is cleared up.
      let verified = try Self.recorder(["verify", "last"], session)
      #expect(verified.ending == .exit(0), "\(number): \(verified.errorText)")
      let isRedacted = try session.timeline().manifest.redactions != nil
      if isRedacted { new += 1 } else { old += 1 }
      let recovered = try Self.recorder(["recover"], session)
      #expect(recovered.ending == .exit(0), "\(number): \(recovered.errorText)")
      try Self.expectNothingLeft(session)
      #expect(try (session.timeline().manifest.redactions != nil) == isRedacted)
      #expect(try Self.archiveHolds("hunter2", session) != isRedacted, "\(number)")
      #expect(
        try Self.recorder(["search", "--json", Self.secrets[0]], session).lines.isEmpty == isRedacted, "\(number)")
      number += 1
    }
    #expect(old > 5 && new > 3, "\(old) \(new)")
  }
}
