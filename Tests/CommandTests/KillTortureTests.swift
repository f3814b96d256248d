import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `kill -9` at random moments of recordings that are marked, paused and split, half on a still screen, half of the whole
/// process group: no session is lost, at most a second is missing, nothing counts as altered, and the index is that of a
/// rebuild. A few kills here, 500 under `make torture`.
@Suite(.serialized) struct KillTortureTests {
  static let kills = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_KILLS"] ?? "") ?? 6

  @Test func noKillLosesMoreThanASecond() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let runtime = try TemporaryFolder()
    let environment: [String: String?] = ["XDG_RUNTIME_DIR": runtime.path]
    let display = try #require(rig.display)
    for number in 0..<Self.kills {
      let isStill = number.isMultiple(of: 2)
      let client = try PatternClient(
        on: display, isStill ? ["bars"] : ["counter", "--fps", "30", "--title", "busy screen \(number)"])
      let recording = try rig.record(["--no-cursor", "--name", "t"], environment: environment, ownGroup: true)
      let moment = monotonicSeconds() + Double.random(in: 0...4)
      // What a person does meanwhile may come to its end or not.
      for words in [["mark", "--name", "t", "here"], ["split", "--name", "t"]].shuffled()
      where monotonicSeconds() < moment && Bool.random() {
        _ = try rig.run(words, environment: environment)
      }
      try waitUntil("the moment") { monotonicSeconds() >= moment }
      recording.process.signal(SIGKILL, group: number % 4 < 2)
      let killed = Int64(monotonicSeconds() * 1e9)
      #expect(try recording.process.wait().ending == .signal(SIGKILL))
      try client.process.stop()
      let epoch = try rig.manifest(recording.id).clock.monotonic

      let recovered = try rig.run(["recover", "--json"])
      #expect(recovered.ending == .exit(0) && recovered.lines.count == 1, "\(number): \(recovered.errorText)")
      let manifest = try rig.manifest(recording.id)
      let lost = killed - epoch - manifest.duration.nanoseconds
      #expect(lost <= 1_200_000_000, "kill \(number): \(lost) ns lost by the manifest")
      if !isStill {
        // By the clock drawn into the picture.
        let drawn = Dictionary(client.frames.map { ($0.counter, $0.time) }) { first, _ in first }
        var counters: [Int] = []
        for segment in manifest.segments {
          counters += try MediaFile.counters("\(rig.session(recording.id))/\(segment.file)").compactMap { $0 }
        }
        let last = try #require(counters.last.flatMap { drawn[$0] }, "kill \(number)")
        #expect(killed - last <= 1_200_000_000, "kill \(number): \(killed - last) ns of picture lost")
      }
    }
    let listed = try rig.run(["list", "--json"])
    #expect(listed.lines.count == Self.kills)
    let verified = try rig.run(["verify", "--all", "--deep"])
    #expect(verified.ending == .exit(76), "\(verified.text)")
    #expect(!verified.text.contains(": altered"), "\(verified.text)")
    let found = try rig.run(["search", "--json", "busy"])
    #expect(try rig.run(["index", "rebuild"]).ending == .exit(0))
    #expect(try rig.run(["list", "--json"]).text == listed.text)
    #expect(try rig.run(["search", "--json", "busy"]).text == found.text)
  }
}
