import Capture
import SessionModel
import Testing

@Suite struct PlanTests {
  static let bounds = PixelRect(x: 0, y: 0, width: 1000, height: 1000)

  /// Plans for `damage` within `bounds`.
  private func plan(_ damage: [PixelRect], within bounds: PixelRect = Self.bounds) -> [PixelRect] {
    var plan = GrabPlan()
    plan.plan(damaged: damage.count, within: bounds) { damage[$0] }
    return Array(plan.rects)
  }

  @Test func fewRectanglesAreTakenAsTheyAre() {
    let damage = [PixelRect(x: 1, y: 2, width: 3, height: 4), PixelRect(x: 900, y: 990, width: 100, height: 10)]
    #expect(plan(damage) == damage)
    #expect(plan([]) == [])
  }

  @Test func damageIsCutToWhatIsRecorded() {
    let bounds = PixelRect(x: 0, y: 0, width: 100, height: 100)
    #expect(
      plan(
        [PixelRect(x: -5, y: -5, width: 10, height: 10), PixelRect(x: 100, y: 0, width: 9, height: 9)], within: bounds)
        == [PixelRect(x: 0, y: 0, width: 5, height: 5)])
  }

  @Test func mostOfThePictureIsAllOfIt() {
    #expect(plan([PixelRect(x: 0, y: 0, width: 1000, height: 770)]).map(\.height) == [770])
    #expect(plan([PixelRect(x: 0, y: 0, width: 1000, height: 771)]) == [Self.bounds])
  }

  /// 100 glyphs in five lines of twenty, two pixels between them; and a disc, which a server tells in a rectangle a row.
  @Test func manyRectanglesAreJoinedWhereTheyAreClose() {
    let glyphs = (0..<5).flatMap { line in
      (0..<20).map { PixelRect(x: 100 + $0 * 10, y: 50 + line * 100, width: 8, height: 16) }
    }
    let lines = (0..<5).map { PixelRect(x: 100, y: 50 + $0 * 100, width: 198, height: 16) }
    #expect(plan(glyphs) == lines)
    let disc = (0..<200).map { row in
      let (height, radius) = (Double(row) - 99.5, 100.0)
      let half = Int((radius * radius - height * height).squareRoot())
      return PixelRect(x: 500 - half, y: 300 + row, width: 2 * half, height: 1)
    }
    expectClose(disc, atMost: GrabPlan.fewRects)
    // Two ends of each row, as of a frame around a window.
    let sides = (0..<100).flatMap { row in
      [0, 300].map { PixelRect(x: 200 + $0 + row % 2, y: 100 + row, width: 4, height: 1) }
    }
    expectClose(sides, atMost: GrabPlan.fewRects)
    // Far from each other nothing is joined.
    let far = (0..<100).map { PixelRect(x: $0 % 10 * 90, y: $0 / 10 * 90, width: 5, height: 5) }
    #expect(plan(far) == far)
  }

  /// Random damage on a grid, dense and thin: no more than 1.3 pixels are fetched for one that was damaged.
  @Test func littleMoreIsPlannedThanIsDamaged() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let (cell, share) = (Int.random(in: 2...60, using: &generator), Int.random(in: 2...90, using: &generator))
      var damage: [PixelRect] = []
      for y in stride(from: 0, to: 900, by: cell) {
        for x in stride(from: 0, to: 900, by: cell) where damage.count < GrabPlan.mostRects {
          guard Int.random(in: 0..<100, using: &generator) < share else { continue }
          let width = Int.random(in: 1...cell, using: &generator)
          damage.append(PixelRect(x: x, y: y, width: width, height: cell))
        }
      }
      expectClose(damage, atMost: GrabPlan.mostRects)
    }
  }

  /// What is planned covers `damage` once, with at most 1.3 times its pixels.
  private func expectClose(_ damage: [PixelRect], atMost count: Int) {
    let rects = plan(damage)
    #expect(rects.count <= count)
    let (fetched, damaged) = (rects.reduce(0) { $0 + $1.area }, damage.reduce(0) { $0 + $1.area })
    #expect(fetched * 10 <= damaged * 13, "\(fetched) of \(damaged)")
    for rect in damage { #expect(rects.count { $0.contains(rect) } == 1, "\(rect) of \(damage)") }
    for (index, rect) in rects.enumerated() {
      for other in rects[(index + 1)...] { #expect(rect.intersection(other).isEmpty) }
    }
  }

  @Test func tooManyRectanglesBecomeTheirRows() {
    // 600 in four rows of 150; the rows of the second and third touch.
    let tops = [10, 100, 105, 500]
    let damage = tops.flatMap { y in (0..<150).map { PixelRect(x: $0 * 6, y: y, width: 2, height: 5) } }
    #expect(
      plan(damage) == [
        PixelRect(x: 0, y: 10, width: 1000, height: 5), PixelRect(x: 0, y: 100, width: 1000, height: 10),
        PixelRect(x: 0, y: 500, width: 1000, height: 5),
      ])
  }

  @Test func tooManyRowsBecomeOneBand() {
    let damage = (0..<140).map { PixelRect(x: 7, y: 100 + $0 * 6, width: 1, height: 1) }
    #expect(plan(damage) == [Self.bounds])
    let low = (0..<140).map { PixelRect(x: 7, y: 100 + $0 * 5, width: 1, height: 1) }
    #expect(plan(low) == [PixelRect(x: 0, y: 100, width: 1000, height: 696)])
  }

  @Test func planNeverHoldsMoreThanItMay() {
    for count in [32, 33, 128, 129, 256, 257, 900] {
      let damage = (0..<count).map { PixelRect(x: $0 % 300 * 3, y: $0 / 300 * 2, width: 1, height: 1) }
      let rects = plan(damage)
      #expect(rects.count <= GrabPlan.mostRects)
      for rect in damage { #expect(rects.contains { $0.contains(rect) }) }
    }
  }
}

@Suite struct PaceTests {
  static let interval: Int64 = 33_000_000

  /// Which of `times` find a pending change due.
  private func due(_ pace: inout FramePace, at times: [Int64]) -> [Int64] {
    var found: [Int64] = []
    for time in times where pace.isDue(at: time) { found.append(time) }
    return found
  }

  @Test func changeAfterAPauseSettlesShortly() {
    var pace = FramePace(interval: Self.interval)
    let now: Int64 = 1_000_000_000
    #expect(FramePace.settling < 4_000_000)
    #expect(
      due(&pace, at: [now, now + FramePace.settling - 1, now + FramePace.settling]) == [now + FramePace.settling])
  }

  @Test func steadyChangeKeepsTheBeat() {
    var pace = FramePace(interval: Self.interval)
    _ = pace.isDue(at: 1_000_000_000)
    let first = pace.due
    var frames = 0
    // A change that is always pending, looked at every millisecond with some lateness, for 100 intervals.
    for time in stride(from: first, to: first + 100 * Self.interval, by: 1_000_000) where pace.isDue(at: time + 400_000)
    {
      frames += 1
    }
    #expect(frames == 100)
    #expect(pace.due == first + 100 * Self.interval)
  }

  @Test func changeTooEarlyWaitsForItsTime() {
    var pace = FramePace(interval: Self.interval)
    _ = pace.isDue(at: 1_000_000_000)
    let first = pace.due
    let next = first + Self.interval
    #expect(due(&pace, at: [first, first + 1, next - 1, next]) == [first, next])
  }
}
