import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `kill -9` at random moments of recordings with sound that are marked, paused and split, half on a still screen, half of the
/// whole process group, while others recover, clean up and list: no session is lost, at most a second of picture, sound and
/// events is missing, nothing counts as altered, and the index is that of a rebuild. A few kills here, 500 under
/// `make torture`, which runs several of these at once.
@Suite(.serialized) struct KillTortureTests {
  static let kills = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_KILLS"] ?? "") ?? 6
  /// What may be missing before a kill, in ns, beside the time for which the recorder was kept from the processors.
  static let bound: Int64 = 1_000_000_000

  private let sound: SoundServer
  private let rig: RecorderRig
  private let environment: [String: String?]
  private let runtime: TemporaryFolder

  init() throws {
    sound = try SoundServer()
    rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: sound.environment)
    runtime = try TemporaryFolder()
    environment = ["XDG_RUNTIME_DIR": runtime.path]
  }

  /// Seconds: what a kill may cost, and as much again.
  static let calm = 2.0

  /// For how long those had to wait for a processor whom sound, pictures and lines pass through, one after the other: the
  /// recorder's threads of these names, and the sound server's.
  private struct Wait {
    private let recorder: ProcessorWait
    private let server: ProcessorWait

    init(of recorder: Int32, _ server: Int32) {
      self.recorder = ProcessorWait(
        of: [recorder], threads: ["grab", "encode", "application", "mix", "mux", "track"])
      self.server = ProcessorWait(of: [server])
    }

    var seconds: Double { recorder.seconds + server.seconds }
  }

  /// One recording that was killed.
  private struct Kill {
    let number: Int
    /// Nothing changes on its screen.
    let isStill: Bool
    let id: SessionID
    /// When, in ns of the session's time.
    let time: Int64
    let epoch: Int64
    /// What was drawn, and when.
    let frames: [PatternClient.Frame]
    /// The last thing that was done to it, in ns of the session's time; it must be in the events.
    let mark: Int64?
    /// No frames were wanted at the end.
    let isPaused: Bool
    /// When frames were last wanted again after a pause, in ns of the session's time; 0 without one.
    let resumed: Int64
    /// For how long what makes packets and lines had waited for a processor lately, in ns.
    let waited: Int64
  }

  @Test func noKillLosesMoreThanASecond() throws {
    var lost = [String: [Int64]]()
    for number in 0..<Self.kills {
      let kill = try record(number)
      let recovered = try rig.run(["recover", "--json"])
      #expect(recovered.ending == .exit(0), "\(number): \(recovered.errorText)")
      let found = try missing(kill)
      for (what, missing) in found {
        if missing > Self.bound + kill.waited {
          Issue.record("kill \(number): \(what) in \(found), \(kill.waited) ns waited; kept: \(try rig.keep(kill.id))")
        }
        lost[what, default: []].append(missing)
      }
      lost["(waited)", default: []].append(kill.waited)
    }
    for (what, values) in lost.sorted(by: { $0.key < $1.key }) {
      print("\(what): \(values.count) kills, at most \((values.max() ?? 0) / 1_000_000) ms missing")
    }
    try expectWholeArchive()
  }

  /// Records until a random moment, and does a few of the things that can be done meanwhile.
  private func record(_ number: Int) throws -> Kill {
    let isStill = number.isMultiple(of: 2)
    let display = try #require(rig.display)
    let client = try PatternClient(
      on: display, isStill ? ["bars"] : ["counter", "--fps", "30", "--title", "busy screen \(number)"])
    let tone = try sound.playTone(1000, seconds: 20)
    let recording = try rig.record(
      ["--no-cursor", "--app-audio", "--name", "t"], environment: environment, ownGroup: true)
    let epoch = try rig.manifest(recording.id).clock.monotonic
    let moment = monotonicSeconds() + Double.random(in: 0...3)
    // Whatever is done begins a file or a group of pictures, which hands on all before. So every third kill comes after more
    // than a kill may cost, in which nothing is done: what is handed on by time alone is seen then.
    let calm = number % 3 == 0 ? Self.calm : 0
    // The longer of two that take turns has seen a second and a half, which is all that a kill may cost, and no more than
    // twice that.
    func wait() -> Wait { Wait(of: recording.process.pid, sound.server.pid) }
    var (began, busy) = (monotonicSeconds(), [wait(), wait()])
    var (mark, isPaused, resumed, others) = (Int64?.none, false, Int64(0), [ChildProcess]())
    // What a person does meanwhile, and what other programs do, may come to its end or not.
    while monotonicSeconds() < moment + calm {
      if monotonicSeconds() >= began + 1.5 { (began, busy) = (monotonicSeconds(), [busy[1], wait()]) }
      switch monotonicSeconds() < moment ? Int.random(in: 0..<12) : .max {
      case 0:
        let done = try rig.run(["mark", "--name", "t", "here"], environment: environment)
        if done.status == 0 { mark = Int64(monotonicSeconds() * 1e9) - epoch }
      case 1: _ = try rig.run(["split", "--name", "t"], environment: environment)
      case 2: isPaused = try rig.run(["pause", "--name", "t"], environment: environment).status == 0 || isPaused
      case 3:
        guard try rig.run(["resume", "--name", "t"], environment: environment).status == 0, isPaused else { continue }
        (isPaused, resumed) = (false, Int64(monotonicSeconds() * 1e9) - epoch)
      case 4: others.append(try start(["recover"]))
      case 5: others.append(try start(["gc", "--budget", "1T"]))
      case 6: others.append(try start(["list"]))
      case 7: others.append(try start(["verify", recording.id.description]))
      default:
        // Nobody does anything for a while.
        let next = min(moment + calm, monotonicSeconds() + 0.1)
        try waitUntil("the next thing to do") { monotonicSeconds() >= next }
      }
    }
    let waited = Int64(busy[0].seconds * 1e9)
    // Before it: a test that is put aside in between must not count that as lost.
    let killed = Int64(monotonicSeconds() * 1e9)
    recording.process.signal(SIGKILL, group: number % 4 < 2)
    #expect(try recording.process.wait().ending == .signal(SIGKILL))
    try client.process.stop()
    try tone.stop()
    for other in others { #expect([0, 76].contains(try other.wait().status)) }
    return Kill(
      number: number, isStill: isStill, id: recording.id, time: killed - epoch, epoch: epoch, frames: client.frames,
      mark: mark, isPaused: isPaused, resumed: resumed, waited: waited)
  }

  private func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess([builtProgram("recorder")] + arguments, environment: rig.environment)
  }

  /// What is missing before the kill, in ns: of the session's length, of each track by what is drawn and heard in it, and of
  /// the events.
  private func missing(_ kill: Kill) throws -> [(what: String, missing: Int64)] {
    let manifest = try rig.manifest(kill.id)
    let events = try rig.events(kill.id)
    var found = [("length", kill.time - manifest.duration.nanoseconds)]
    let alive = events.last { $0.kind == .alive }?.time.nanoseconds ?? 0
    found.append(("events", kill.time - max(alive, events.last?.time.nanoseconds ?? 0)))
    if let mark = kill.mark {
      #expect(events.contains { $0.kind == .marker }, "kill \(kill.number): the mark of \(mark)")
    }
    var (counters, heard) = ([Int](), Int64(0))
    for segment in manifest.segments {
      let file = "\(rig.session(kill.id))/\(segment.file)"
      if !kill.isStill { counters += try MediaFile.counters(file).compactMap { $0 } }
      heard = max(heard, segment.start.nanoseconds + (try MediaFile.end(file, "a:0")))
    }
    found.append(("sound", kill.time - heard))
    if !kill.isStill, !kill.isPaused {
      // By the clock drawn into the picture.
      let drawn = Dictionary(kill.frames.map { ($0.counter, $0.time) }) { first, _ in first }
      let last = try #require(counters.last.flatMap { drawn[$0] }, "kill \(kill.number)")
      // What a pause left out is not lost.
      found.append(("picture", kill.time - max(last - kill.epoch, kill.resumed)))
    }
    return found
  }

  private func expectWholeArchive() throws {
    let listed = try rig.run(["list", "--json"])
    #expect(listed.lines.count == Self.kills)
    let verified = try rig.run(["verify", "--all", "--deep"], seconds: 600)
    #expect(verified.ending == .exit(76), "\(verified.text)")
    #expect(!verified.text.contains(": altered"), "\(verified.text)")
    let found = try rig.run(["search", "--json", "busy"])
    #expect(try rig.run(["index", "rebuild"]).ending == .exit(0))
    #expect(try rig.run(["list", "--json"]).text == listed.text)
    #expect(try rig.run(["search", "--json", "busy"]).text == found.text)
  }
}
