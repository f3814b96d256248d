import Testing

@testable import Recorder

/// When a recording counts as too slow for the screen.
@Suite struct PaceWatchTests {
  private static let second: Int64 = 1_000_000_000

  /// What is said after each second, of which `counts` are the frames recorded and left out in it.
  private func said(_ counts: [(Int, Int)]) -> [Bool] {
    var (watch, frames, dropped) = (PaceWatch(), 0, 0)
    _ = watch.look(frames: 0, dropped: 0, at: 0)
    return counts.enumerated().map { number, count in
      (frames, dropped) = (frames + count.0, dropped + count.1)
      // A look in between, as each `status` makes one, judges nothing.
      _ = watch.look(frames: frames, dropped: dropped, at: Int64(number) * Self.second + Self.second / 2)
      return watch.look(frames: frames, dropped: dropped, at: Int64(number + 1) * Self.second)
    }
  }

  @Test func twoSecondsMakeAStateAndOneDoesNot() {
    let (good, bad) = ((30, 0), (10, 20))
    #expect(said([good, bad, good, bad, good]) == [false, false, false, false, false])
    #expect(said([bad, bad, bad, good, bad, good, good]) == [false, true, true, true, true, true, false])
  }

  @Test func everyFourthFrameIsTheLimit() {
    #expect(said([(30, 10), (30, 10), (30, 10)]) == [false, false, false])
    #expect(said([(29, 10), (29, 10)]) == [false, true])
    // A still screen leaves nothing out.
    #expect(said([(29, 10), (29, 10), (0, 0), (0, 0)]) == [false, true, true, false])
  }
}
