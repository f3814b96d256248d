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

  @Test func tooManyRectanglesBecomeTheirRows() {
    // 40 in four rows of ten; the rows of the second and third touch.
    let tops = [10, 100, 105, 500]
    let damage = tops.flatMap { y in (0..<10).map { PixelRect(x: $0 * 50, y: y, width: 2, height: 5) } }
    #expect(
      plan(damage) == [
        PixelRect(x: 0, y: 10, width: 1000, height: 5), PixelRect(x: 0, y: 100, width: 1000, height: 10),
        PixelRect(x: 0, y: 500, width: 1000, height: 5),
      ])
  }

  @Test func tooManyRowsBecomeOneBand() {
    let damage = (0..<40).map { PixelRect(x: 7, y: 100 + $0 * 10, width: 2, height: 2) }
    #expect(plan(damage) == [PixelRect(x: 0, y: 100, width: 1000, height: 392)])
  }

  @Test func planNeverHoldsMoreThanItMay() {
    for count in [GrabPlan.mostRects, GrabPlan.mostRects + 1, 500] {
      let damage = (0..<count).map { PixelRect(x: 0, y: $0 * 2, width: 1, height: 1) }
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
