import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// What a recording costs, in counts that neither the machine nor its load changes. The bounds are in
/// Tests/Fixtures/costs.json.
@Suite(.serialized) struct CostTests {
  private let bounds: CostBounds

  init() throws { bounds = try CostBounds() }

  /// A recording whose work is counted, and the number of pictures that have been encoded.
  private func counted(_ display: VirtualDisplay) throws -> (rig: RecorderRig, work: CountedWork) {
    let work = try CountedWork()
    return (try RecorderRig(display: display, environment: work.environment), work)
  }

  @Test func aFrameAllocatesNothingOfItsOwn() throws {
    let (rig, work) = try counted(VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "30"])
    let recording = try rig.record()
    try waitUntil("the queues to have been filled once") { work.now.frames >= 60 }
    let before = work.now
    // Signs of life are written now and then by the mux thread, and are no part of a frame.
    var (quietest, start) = (Int.max, before)
    var samples = [before]
    try waitUntil("frames") {
      samples.append(work.now)
      return (samples.last?.frames ?? 0) >= before.frames + 90
    }
    for sample in samples where sample.frames - start.frames >= 5 {
      quietest = min(quietest, sample.allocations(.mux, .program) - start.allocations(.mux, .program))
      start = sample
    }
    let after = try #require(samples.last)
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    try client.process.stop()

    let frames = Double(after.frames - before.frames)
    for thread in [CountedWork.Thread.grab, .encode] {
      for caller in CountedWork.Caller.allCases {
        let count = after.allocations(thread, caller) - before.allocations(thread, caller)
        let bound = try #require(bounds.allocationsPerFrame[thread.rawValue]?[caller.rawValue])
        #expect(Double(count) <= bound * frames, "\(thread), \(caller): \(count) in \(frames) frames")
      }
    }
    #expect(quietest == 0, "the mux thread's own in five frames")
    let ffmpeg = after.allocations(.mux, .ffmpeg) - before.allocations(.mux, .ffmpeg)
    let bound = try #require(bounds.allocationsPerFrame["mux"]?["ffmpeg"])
    #expect(Double(ffmpeg) <= bound * frames, "\(ffmpeg)")
  }

  /// Small and large changes, near and far from each other, several in a frame.
  @Test func littleMoreIsFetchedThanWasDamaged() throws {
    let (rig, work) = try counted(VirtualDisplay(size: "1280x720"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "204060"])
    let recording = try rig.record(["--no-cursor", "--fps", "60"])
    let before = work.now
    for number in 0..<60 {
      let (width, height) = (8 + number * 53 % 400, 8 + number * 37 % 300)
      let (place, earlier) = ("+\(number * 97 % 880)+\(number * 61 % 420)", work.now.damaged)
      try client.tell("rect \(number % 2 == 0 ? "ff8000" : "0080ff") \(width)x\(height)\(place)")
      // Three at a time: what a busy machine lets gather becomes more rectangles than are fetched one by one.
      guard number % 3 == 2 else { continue }
      try waitUntil("the change to be fetched") { work.now.damaged - earlier >= width * height * 4 }
    }
    // Nearly all of the screen, but not all.
    try client.tell("rect 00ff00 1280x500+0+0")
    try waitUntil("the last change") { work.now.damaged - before.damaged > 1280 * 500 * 4 }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    let after = work.now
    let (fetched, damaged) = (Double(after.grabbed - before.grabbed), Double(after.damaged - before.damaged))
    #expect(damaged > 0 && fetched / damaged <= bounds.bytesFetchedPerByteDamaged, "\(fetched) of \(damaged)")
    #expect(fetched >= damaged)
  }

  /// Two recordings of the same picture, of which one has more frames: what is more in its system calls are theirs.
  @Test func aFrameIsFewSystemCalls() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "30"])
    func record(_ seconds: Int) throws -> (calls: Int, frames: Int) {
      let file = rig.folder.file("calls-\(seconds)")
      let result = try run(
        ["strace", "-f", "-c", "-o", file, builtProgram("recorder"), "record", "--duration", "\(seconds)"],
        environment: rig.environment)
      guard let id = SessionID(result.text.dropLast()) else { throw TestFailure("\(result.errorText)") }
      let total = String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n").last
      let words = try #require(total).split(separator: " ")
      return (try #require(Int(words[3])), try #require(try rig.manifest(id).statistics?.frames))
    }
    let (short, long) = (try record(1), try record(4))
    try client.process.stop()
    let (calls, frames) = (long.calls - short.calls, long.frames - short.frames)
    #expect(frames > 10)
    #expect(Double(calls) <= bounds.systemCallsPerFrame * Double(frames), "\(calls) for \(frames) frames")
  }
}
