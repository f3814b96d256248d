import Archive
import Control
import Glibc
import Recorder
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// Hooks as processes: what they are given, how long they may take, and what their failures do.
@Suite(.serialized) struct HookRunnerTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// What the hooks' faults were.
  private final class Faults: Sendable {
    let sentences = Mutex<[String]>([])
    func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
    var all: [String] { sentences.withLock { $0 } }
  }

  private var archive: ArchiveLocation { ArchiveLocation(path: folder.file("archive")) }
  private let session = SessionID("20261130T021533Z-k3x9")

  private func message(_ event: Hook.Event, _ text: String? = nil) -> HookMessage {
    var message = HookMessage(event, session, in: archive)
    (message.time, message.message) = (.zero, text ?? (event == .disk || event == .degraded ? "m" : nil))
    if event == .gap { message.gap = Gap(track: "video", start: .zero, end: Timestamp(seconds: 1), reason: "r") }
    if event == .stopped { (message.reason, message.state) = (.stopped, .finished) }
    return message
  }

  /// Runs `commands` at `event`, each once for each of `messages`, and waits for their end.
  private func run(_ commands: [String], _ messages: [HookMessage], limit: Int64 = HookRunner.limit) throws -> [String]
  {
    let faults = Faults()
    let done = folder.file("done")
    unlink(done)
    // A last hook tells that the others have ended: what waits of some events is left out at the end.
    let hooks = try (commands + ["sh -c 'echo done >> \(done)'"]).map {
      try Hook(event: messages[0].event.rawValue, command: $0)
    }
    let runner = try HookRunner(hooks, output: nil, limit: limit) { faults.add($0) }
    for message in messages { runner.raise(message) }
    try waitUntil("the hooks' end") { (try? linesOf("done").count) == messages.count }
    runner.finish()
    return faults.all
  }

  private func linesOf(_ name: String) throws -> [String] {
    String(decoding: try readFile(folder.file(name)), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test(arguments: [
    ("a b", ["a", "b"]), ("  a\t b\n", ["a", "b"]), ("a 'b c' \"d e\"", ["a", "b c", "d e"]), ("a''", ["a"]),
    ("a '' b", ["a", "", "b"]), (#"a\ b"#, ["a b"]), (#""a\"b\\c\d""#, [#"a"b\c\d"#]), (#"a '\'"#, ["a", #"\"#]),
    ("a'b'\"c\"d", ["abcd"]),
    (
      "a $HOME $(b) `c` ; d > e & f | g * ~ #h",
      ["a", "$HOME", "$(b)", "`c`", ";", "d", ">", "e", "&", "f", "|", "g", "*", "~", "#h"]
    ),
    ("é 'ü e\u{301}'", ["é", "ü e\u{301}"]),
  ])
  func aCommandIsSplitAndNothingElse(command: String, words: [String]) throws {
    #expect(try Hook(event: "gap", command: command).words == words)
  }

  @Test(arguments: [
    ("gap", "a 'b", "\"a 'b\" has a single quote that is not closed."),
    ("gap", "a \"b", "\"a \"b\" has a double quote that is not closed."),
    ("gap", "a \\", "\"a \\\" ends with a backslash."),
    ("gap", "  ", "\"  \" is no command. Write PROGRAM ARGUMENTS."),
    ("gap", "'' a", "\"'' a\" is no command. Write PROGRAM ARGUMENTS."),
    ("gaps", "a", "\"gaps\" is no event. Write one of started, stopped, saved, degraded, gap, disk."),
    ("gap", "a\0b", "A hook's command holds a NUL."),
  ])
  func aWrongHookIsNamed(event: String, command: String, sentence: String) {
    let error = #expect(throws: RecorderError.self) { try Hook(event: event, command: command) }
    #expect(error?.description == sentence)
    #expect(error?.code == .usage)
  }

  @Test func eachMessageIsOneLineAsTheSchemaSays() throws {
    let command = "sh -c 'cat >> \(folder.file("out"))'"
    for event in Hook.Event.allCases { #expect(try run([command], [message(event)]) == []) }
    let out = try linesOf("out")
    #expect(out.count == Hook.Event.allCases.count)
    #expect(try JSONSchema.problems("hook", out) == out.map { _ in "" })
    #expect(out[0].contains(#""folder":"\#(folder.path)/archive/sessions/2026/11/30/20261130T021533Z-k3x9""#))
    let wrong = [
      #"{"version":1,"event":"gap","utc":"2026-11-30T02:15:33.123456789Z","archive":"/a"}"#,
      #"{"version":1,"event":"stopped","utc":"2026-11-30T02:15:33.123456789Z","archive":"/a"}"#,
      #"{"version":2,"event":"started","utc":"2026-11-30T02:15:33.123456789Z","archive":"/a"}"#,
      #"{"version":1,"event":"started","utc":"2026-11-30T02:15:33.123456789Z","archive":"/a","more":1}"#,
      #"{"version":1,"event":"saved","utc":"2026-11-30T02:15:33.123456789Z","archive":"/a"}"#,
      #"{"version":1,"event":"disk","utc":"2026-11-30T02:15:33.123456789Z","archive":"/a"}"#,
    ]
    for problem in try JSONSchema.problems("hook", wrong) { #expect(problem != "") }
  }

  /// Case S04.
  @Test func aMessageReachesNoShell() throws {
    let evil = "$(touch \(folder.file("a"))); `touch \(folder.file("b"))`\n' \" | touch \(folder.file("c"))"
    let commands = ["sh -c 'cat > \(folder.file("out"))'", "touch \(folder.file("x;y")) \(folder.file("$(z)"))"]
    #expect(try run(commands, [message(.disk, evil)]) == [])
    for name in ["a", "b", "c", "x", "y"] { #expect(access(folder.file(name), F_OK) != 0) }
    for name in ["x;y", "$(z)"] { #expect(access(folder.file(name), F_OK) == 0) }
    let text = try linesOf("out")[0]
    #expect(text.contains(#"\n' \" | touch"#) && text.contains("$(touch"))
  }

  @Test func aHookIsAsAShellWouldLeaveIt() throws {
    let out = folder.file("out")
    let script = """
      grep SigBlk /proc/self/status; ls /proc/self/fd; cut -d" " -f5 /proc/$$/stat; echo $$; readlink /proc/$$/fd/2
      """
    let command = "sh -c '(\(script)) > \(out)'"
    #expect(try run([command], [message(.started)]) == [])
    let lines = try linesOf("out")
    #expect(lines[0].hasPrefix("SigBlk") && lines[0].hasSuffix("0000000000000000"))
    // Standard input, output and error, and the folder that ls reads.
    #expect(lines[1...4] == ["0", "1", "2", "3"])
    // Its process group is its own.
    #expect(lines[5] == lines[6] && lines[7] == "/dev/null")
  }

  @Test(arguments: [
    ("sh -c 'exit 3'", "ended with 3."), ("sh -c 'kill -9 $$'", "was ended by signal 9."),
    ("/nowhere/at-all", "cannot be started: No such file or directory."),
    ("/etc/passwd", "cannot be started: Permission denied."),
  ])
  func aFailureIsTold(command: String, words: String) throws {
    let program = command.split(separator: " ")[0]
    #expect(try run([command, "true"], [message(.saved)]) == ["The hook \"\(program)\" for saved \(words)"])
  }

  @Test func oneThatTakesTooLongIsEndedWithAllThatItStarted() throws {
    let pids = folder.file("pids")
    // The child ignores TERM and outlives its parent.
    let command = "sh -c '(trap \"\" TERM; echo started > \(pids).ready; exec sleep 1000) & echo $! > \(pids); wait'"
    let sentences = try run([command], [message(.started)], limit: 300_000_000)
    #expect(sentences == ["The hook \"sh\" for started took longer than 300 ms and was ended."])
    let child = try #require(try linesOf("pids").first.flatMap { Int32($0) })
    try waitUntil("the child's end") {
      // Whoever takes it away may be slow: a zombie has ended too.
      guard kill(child, 0) == 0 else { return true }
      return String(decoding: (try? readFile("/proc/\(child)/stat")) ?? [], as: UTF8.self).contains(") Z ")
    }
  }

  @Test func aFloodStartsFewProcessesAndSaysWhatItLeftOut() throws {
    let (gate, out) = (folder.file("gate"), folder.file("out"))
    #expect(mkfifo(gate, 0o600) == 0)
    let faults = Faults()
    // The first one waits until all have been raised.
    let hook = try Hook(event: "gap", command: "sh -c 'cat >> \(out); read line < \(gate)'")
    let runner = try HookRunner([hook], output: nil) { faults.add($0) }
    for _ in 0..<1000 { runner.raise(message(.gap)) }
    let writer = open(gate, O_RDWR)
    let all = [UInt8](repeating: 10, count: 100)
    #expect(write(writer, all, all.count) == all.count)
    // Those that ran, and those that they say were left out.
    func told() -> Int {
      var count = 0
      for line in (try? linesOf("out")) ?? [] {
        count += 1
        guard let place = line.ranges(of: #""omitted":"#).first else { continue }
        count += Int(line[place.upperBound...].prefix { $0.isNumber }) ?? 0
      }
      return count
    }
    try waitUntil("all to be told") { told() == 1000 }
    runner.finish()
    close(writer)
    let lines = try linesOf("out")
    // The one that ran, and those that waited.
    #expect((HookRunner.capacity...HookRunner.capacity + 1).contains(lines.count))
    #expect(try JSONSchema.problems("hook", lines) == lines.map { _ in "" })
    #expect(faults.all == [])
  }

  @Test func theEndIsToldAndWhatIsLateIsNot() throws {
    let (gate, out) = (folder.file("gate"), folder.file("out"))
    #expect(mkfifo(gate, 0o600) == 0)
    let faults = Faults()
    let hooks = [
      try Hook(event: "started", command: "sh -c 'read line < \(gate)'"),
      try Hook(event: "gap", command: "sh -c 'echo gap >> \(out)'"),
      try Hook(event: "stopped", command: "sh -c 'echo stopped >> \(out)'"),
      try Hook(event: "saved", command: "sh -c 'echo saved >> \(out)'"),
    ]
    let runner = try HookRunner(hooks, output: nil) { faults.add($0) }
    runner.raise(message(.started))
    // The thread has taken it once the fifo has a reader.
    var writer: Int32 = -1
    try waitUntil("the first hook") {
      writer = open(gate, O_WRONLY | O_NONBLOCK)
      return writer >= 0
    }
    for event in [Hook.Event.gap, .gap, .stopped, .saved, .disk] { runner.raise(message(event)) }
    let end = try WorkerThread(name: "end") { runner.finish() }
    try waitUntil("the end") { !faults.all.isEmpty }
    #expect(write(writer, "\n", 1) == 1)
    close(writer)
    end.join()
    #expect(try linesOf("out") == ["stopped", "saved"])
    #expect(faults.all == ["The recording has ended before its hooks were told of 2 more events."])
  }
}
