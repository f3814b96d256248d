import SessionModel
import Testing

@testable import Archive

@Suite struct RetentionPlanTests {
  static let day: Int64 = 86_400_000_000_000

  /// Sessions of ten bytes, one a day, the first `count` days ago; those in `kept` may not go.
  func plan(_ count: Int, kept: [Int] = [], budget: Int64? = nil, keepDays: Int64? = nil) throws -> RetentionPlan {
    let now = WallTime(nanoseconds: 100 * Self.day)
    let entries = try (1...count).map { days in
      RetentionPlan.Entry(
        id: try sessionID("20261\(days < 10 ? "230" : "115")T0215\(59 - days)Z-k3x9"),
        began: WallTime(nanoseconds: now.nanoseconds - Int64(days) * Self.day), bytes: 10, mayGo: !kept.contains(days))
    }
    return RetentionPlan(entries, budget: budget, keep: keepDays.map { $0 * Self.day }, now: now)
  }

  func days(_ plan: RetentionPlan) -> [Int] {
    plan.deleted.map { 59 - (Int($0.id.description.suffix(8).prefix(2)) ?? 0) }
  }

  @Test func theOldestGoUntilTheBudgetHolds() throws {
    let plan = try plan(9, budget: 35)
    #expect(days(plan) == [9, 8, 7, 6, 5, 4] && plan.deleted.allSatisfy { !$0.isTooOld })
    #expect(plan.bytes == 90 && plan.count == 9)
  }

  @Test func whatIsTooOldGoesWhateverTheBudget() throws {
    #expect(days(try plan(9, budget: 1000, keepDays: 7)) == [9, 8])
    #expect(days(try plan(9, budget: 60, keepDays: 7)) == [9, 8, 7])
    #expect(try plan(9, budget: 60, keepDays: 7).deleted.map(\.isTooOld) == [true, true, false])
  }

  @Test func whatIsProtectedStaysAndCounts() throws {
    #expect(days(try plan(9, kept: [9, 7], budget: 30)) == [8, 6, 5, 4, 3, 2])
    #expect(days(try plan(3, kept: [1, 2, 3], budget: 0, keepDays: 1)) == [])
  }

  @Test func theRateIsThatOfSevenDays() throws {
    let plan = try plan(9, budget: 1000)
    // Six sessions began less than seven days ago.
    #expect(plan.bytesPerDay == 60 / 7)
    #expect(plan.daysLeft(free: 80) == 10)
  }
}
