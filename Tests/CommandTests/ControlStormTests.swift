import Control
import FoundationEssentials
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// A thousand random requests from eight clients at once: each is answered, the states follow each other legally, and
/// the session's time line is that of the answers; also of a held capture, which is saved and published among them.
@Suite(.serialized) struct ControlStormTests {
  @Test func aThousandRequestsFromEightClients() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "30"])
    let recording = try StartedRecording(rig, ["--app-audio", "--microphone", "--no-cursor"])
    let answers = try Self.storm(rig) { number, round in Self.request(number, round) }
    try recording.tell(["resume"])
    try recording.stop()
    try client.process.stop()
    for (request, answer) in answers.all where answer.error != nil {
      // The one thing that can be refused: a new file while there is nothing to put into it.
      #expect(request.command == .split)
      #expect(answer.error?.code == ExitCode.busy.rawValue)
    }
    let events = try rig.events(recording.id)
    // Marks are where their answers said.
    let marks = events.filter { $0.kind == .marker }
    let asked = answers.all.filter { $0.0.command == .mark }
    #expect(marks.count == asked.count)
    let places = Dictionary(uniqueKeysWithValues: marks.map { ($0.text ?? "", $0.time) })
    for (request, answer) in asked { #expect(places[request.text ?? ""] == answer.time) }
    // Pauses and their ends alternate, and each has its gaps.
    let pauses = events.filter { $0.kind == .pause || $0.kind == .resume }
    #expect(pauses.enumerated().allSatisfy { ($0 % 2 == 0) == ($1.kind == .pause) })
    #expect(pauses.count % 2 == 0 && pauses.count > 2)
    let gaps = events.compactMap(\.gap).filter { $0.reason == "paused" && $0.track == "video" }
    #expect(gaps.map(\.start) == pauses.filter { $0.kind == .pause }.map(\.time))
    #expect(gaps.map(\.end) == pauses.filter { $0.kind == .resume }.map(\.time))
    // Files and events say the same of splits, and no picture lies in a pause.
    let manifest = try rig.manifest(recording.id)
    #expect(manifest.segments.dropFirst().map(\.start) == events.filter { $0.kind == .split }.map(\.time))
    var times: [Int64] = []
    for segment in manifest.segments {
      let own = try MediaFile.times("\(rig.session(recording.id))/\(segment.file)")
      #expect(!own.isEmpty)
      times += own.map { segment.start.nanoseconds + Int64($0) * 1_000_000 }
    }
    #expect(times == times.sorted())
    for gap in gaps {
      let inside = times.filter { $0 > gap.start.nanoseconds + 1_000_000 && $0 < gap.end.nanoseconds - 1_000_000 }
      #expect(inside.isEmpty, "\(inside) in \(gap)")
    }
  }

  @Test func aThousandRequestsToAHeldCapture() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "10"])
    let capture = try HeldCapture(rig, span: "5s", ["--app-audio", "--microphone", "--no-cursor"])
    try capture.waitUntilHeld(seconds: 1)
    let answers = try Self.storm(rig) { number, round in
      var request = Self.request(number, round)
      if round % 30 == 10 + number { request = ControlRequest(.save) }
      // One of them publishes, late.
      if number == 3, round == 90 { request = ControlRequest(.publish) }
      if [.save, .publish].contains(request.command) {
        request.last = Int64.random(in: 1_000_000_000...6_000_000_000)
      }
      return request
    }
    try capture.tell(["stop"])
    try client.process.stop()
    for (request, answer) in answers.all where answer.error != nil {
      // A file that a held or paused capture has not, and what is kept already.
      let possible: [ExitCode] =
        request.command == .split ? [.busy] : request.command == .save ? [.usage, .busy] : []
      #expect(possible.map(\.rawValue).contains(answer.error?.code ?? 0), "\(request): \(answer)")
    }
    let saved = answers.all.filter { $0.0.command == .save }.compactMap(\.1.session)
    let published = answers.all.filter { $0.0.command == .publish }.compactMap(\.1.session)
    #expect(published.count == 1 && saved.count > 5 && Set(saved).count == saved.count)
    #expect(try rig.run(["list", "--json"]).lines.count == saved.count + 1)
    for id in saved + published {
      let manifest = try rig.manifest(id)
      #expect(manifest.state == .finished)
      // Pauses and their ends alternate, and the gaps lie between them and do not overlap.
      let events = try rig.events(id)
      let pauses = events.filter { $0.kind == .pause || $0.kind == .resume }
      #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0.kind != $1.kind }, "\(id)")
      let gaps = events.compactMap(\.gap).filter { $0.reason == "paused" && $0.track == "video" }
      #expect(gaps.count == pauses.count { $0.kind == .pause } || pauses.isEmpty, "\(id): \(gaps) \(pauses)")
      #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $0.end <= $1.start })
      #expect(gaps.allSatisfy { $0.start >= .zero && $0.end <= manifest.duration })
    }
    let verified = try rig.run(["verify", "--all"])
    #expect(verified.ending == .exit(0), "\(verified.text)")
  }

  /// Eight clients at once, each of which makes 125 requests of its number and theirs.
  /// - Returns: all the answers.
  private static func storm(
    _ rig: RecorderRig, _ request: @escaping @Sendable (Int, Int) -> ControlRequest
  ) throws -> Answers {
    let runtime = try #require(
      try RuntimeFolder.open(["XDG_RUNTIME_DIR": rig.folder.path], archive: rig.archive, creating: false))
    let answers = Answers()
    let threads = try (0..<8).map { number in
      try WorkerThread(name: "client \(number)") {
        do throws(RecorderError) {
          var control = try RunningRecordings(runtime).connect(nil)
          for round in 0..<125 {
            let request = request(number, round)
            let isSlow = [.split, .save, .publish].contains(request.command)
            answers.add(request, try control.ask(request, waiting: isSlow))
            // A client now and then goes away and comes back.
            if round % 40 == 39 { control = try RunningRecordings(runtime).connect(nil) }
          }
        } catch {
          answers.fail(error)
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(answers.failures.isEmpty)
    #expect(answers.all.count == 1000)
    return answers
  }

  private static func request(_ client: Int, _ round: Int) -> ControlRequest {
    switch Int.random(in: 0..<20) {
    case 0..<4: ControlRequest(.pause)
    case 4..<9: ControlRequest(.resume)
    case 9..<11: ControlRequest(.mute, input: Bool.random() ? .microphone : .application)
    case 11..<13: ControlRequest(.unmute, input: Bool.random() ? .microphone : nil)
    case 13: ControlRequest(.split)
    case 14..<17: ControlRequest(.status)
    default: ControlRequest(.mark, text: "\(client).\(round)")
    }
  }
}

/// What the clients were answered.
private final class Answers: Sendable {
  private let content = Mutex<(all: [(ControlRequest, ControlResponse)], failures: [RecorderError])>(([], []))
  var all: [(ControlRequest, ControlResponse)] { content.withLock { $0.all } }
  var failures: [RecorderError] { content.withLock { $0.failures } }
  func add(_ request: ControlRequest, _ answer: ControlResponse) {
    content.withLock { $0.all.append((request, answer)) }
  }
  func fail(_ error: RecorderError) { content.withLock { $0.failures.append(error) } }
}
