import Archive
import Control
import SessionModel
import TestSupport
import Testing

@testable import Recorder

/// An embedded recorder that is told from outside what to do.
@Suite(.serialized) struct LibraryControlTests {
  private func run(_ rig: LibraryRig, _ arguments: [String]) throws -> ChildProcess.Result {
    try TestSupport.run(
      [builtProgram("recorder")] + arguments,
      environment: [
        "XDG_RUNTIME_DIR": rig.folder.path, "RECORDER_ARCHIVE": rig.folder.file("archive"), "DISPLAY": nil, "TZ": "UTC",
      ])
  }

  @Test func itIsStartedAndStoppedByTheCommandsUnderItsName() async throws {
    let rig = try LibraryRig(ScreenShareCaptureOptions(fps: 9)) { $0.controlName = "demo" }
    #expect(try run(rig, ["status", "demo", "--json"]).text.contains("\"idle\""))
    // It begins as its program has it, and takes no options.
    let options = try run(rig, ["start", "--name", "demo", "--fps", "5"])
    #expect(options.status == ExitCode.usage.rawValue && options.errorText.contains("demo"))
    #expect(try run(rig, ["stop", "demo"]).status == ExitCode.busy.rawValue)
    var made: [String] = []
    for _ in 0..<2 {
      let started = try run(rig, ["start", "--name", "demo"])
      let session = try #require(rig.recorder.state.session)
      #expect(started.status == 0 && started.text == "\(session.id)\n", "\(started.errorText)")
      #expect(rig.recorder.state.phase == .recording)
      #expect(try rig.reader(session).manifest().options.video.framesPerSecond == 9)
      let second = try run(rig, ["start", "--name", "demo"])
      #expect(second.status == ExitCode.busy.rawValue && second.errorText.contains(session.id))
      #expect(try run(rig, ["mark", "a moment"]).status == 0)
      let stopped = try run(rig, ["stop"])
      #expect(stopped.status == 0 && stopped.text == "\(session.id)\n", "\(stopped.errorText)")
      #expect(rig.recorder.state.phase == .finished)
      made.insert(session.id, at: 0)
    }
    #expect(try rig.sessions().sorted() == made.sorted())
    let error = #expect(throws: CaptureError.self) {
      var options = RecorderOptions()
      (options.archive, options.controlName) = (rig.folder.file("archive"), "demo")
      options.environment = ["XDG_RUNTIME_DIR": rig.folder.path]
      _ = try ScreenRecorder(options: options)
    }
    #expect(error?.code == .busy)
    let states = await rig.close()
    #expect(illegalStep(states) == nil)
    // Its name is free again.
    #expect(try run(rig, ["status", "demo"]).status == ExitCode.sessionNotFound.rawValue)
  }

  @Test func aCaptureBegunFromOutsideIsHeldUntilTheProgramPublishesIt() async throws {
    let rig = try LibraryRig { options in
      (options.controlName, options.publishesAutomatically) = ("demo", false)
      options.heldStretch = .seconds(10)
    }
    let client = try PatternClient(on: rig.display, ["counter", "--fps", "30"])
    // The program's own recordings are none of that.
    let own = try #require(try await rig.recorder.setScreenShare(enabled: true))
    try await rig.recorder.setScreenShare(enabled: false)
    let none = await #expect(throws: CaptureError.self) { try await rig.recorder.publish() }
    #expect(none?.code == .busy)

    var published: [String] = []
    let recorder = rig.recorder
    let ways: [@Sendable () async throws -> CapturedSession?] = [
      { try await recorder.publish(last: .seconds(1)) }, { try await recorder.setScreenShare(enabled: true) },
    ]
    for publishes in ways {
      let started = try run(rig, ["start", "--name", "demo"])
      #expect(started.status == 0 && started.text == "demo\n", "\(started.errorText)")
      #expect(rig.recorder.state == CaptureState(.holding))
      try waitUntil("a second that is held") { rig.recorder.status.elapsed ?? .zero > .seconds(1) }
      #expect(try rig.sessions().count == 1 + published.count)
      let session = try #require(try await publishes())
      #expect(rig.recorder.state == CaptureState(.recording, session: session))
      #expect(try await rig.recorder.publish() == session)
      #expect(try rig.sessions().contains(session.id))
      try await rig.recorder.setScreenShare(enabled: false)
      #expect(try rig.reader(session).verify().verdict == .intact)
      published.append(session.id)
    }
    // What was published with its last second has it.
    let first = try rig.archive.session(try #require(SessionID(published[0]))).manifest()
    #expect(first.duration.seconds >= 0.9)

    // Let go, it leaves nothing, and says how much that was.
    #expect(try run(rig, ["start", "--name", "demo"]).status == 0)
    #expect(try await rig.recorder.setScreenShare(enabled: false) == nil)
    #expect(rig.recorder.state.phase == .finished && rig.recorder.state.session == nil)
    #expect(rig.recorder.state.message != nil)
    #expect(try rig.sessions().sorted() == (published + [own.id]).sorted())
    try client.process.stop()
    let states = await rig.close()
    #expect(illegalStep(states) == nil)
    #expect(states.count { $0.phase == .holding } == 3)
  }

  @Test func oneThatRecordsNothingIsNotMeantByAStopWithoutAName() throws {
    let recording = RecorderStatus(name: "a", state: .recording)
    let waiting = [RecorderStatus(name: "b", state: .idle), RecorderStatus(name: "c", state: .finished)]
    #expect(try RunningRecordings.choose(nil, among: waiting + [recording]).name == "a")
    #expect(throws: RecorderError.self) { try RunningRecordings.choose(nil, among: waiting) }
    #expect(throws: RecorderError.self) { try RunningRecordings.choose(nil, among: [recording, recording]) }
  }
}
