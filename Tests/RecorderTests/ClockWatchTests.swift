import SessionModel
import Testing
import Threading

@testable import Recorder

@Suite struct ClockWatchTests {
  static let second: Int64 = 1_000_000_000
  static let hour = 3600 * second
  static let clock = Manifest.Clock(utc: WallTime(nanoseconds: 500 * second), monotonic: 20 * second, utcOffset: 0)

  /// The clocks `time` ns after the epoch when the machine slept and the wall clock was moved for so many ns.
  func reading(_ time: Int64, slept: Int64 = 0, moved: Int64 = 0) -> ClockReading {
    ClockReading(
      monotonic: 20 * Self.second + time, boot: 90 * Self.second + time + slept,
      wall: 500 * Self.second + time + slept + moved)
  }

  @Test func clocksThatGoAlikeAreNothing() {
    var watch = ClockWatch(Self.clock, at: reading(0))
    // NTP slews by at most half a millisecond a second.
    for step in 1...190 {
      #expect(watch.look(at: reading(Int64(step) * Self.second, moved: Int64(step) * 500_000)) == nil)
    }
    #expect(watch.look(at: reading(200 * Self.second, moved: 100_000_000))?.moved == 100_000_000)
    #expect(watch.look(at: reading(201 * Self.second, moved: 100_000_000)) == nil)
  }

  /// Case E11: the machine slept; and NTP's steps of an hour, to either side.
  @Test(arguments: [(hour, 0), (0, hour), (0, -hour), (hour, -hour), (100_000_000, 0)] as [(Int64, Int64)])
  func aStepIsToldOnce(slept: Int64, moved: Int64) throws {
    var watch = ClockWatch(Self.clock, at: reading(0))
    #expect(watch.look(at: reading(Self.second)) == nil)
    let found = watch.look(at: reading(2 * Self.second, slept: slept, moved: moved))
    let change = try #require(found)
    #expect(change.since == 21 * Self.second && change.slept == slept && change.moved == moved)
    #expect(change.utc.nanoseconds == 501 * Self.second + slept + moved)
    #expect(watch.look(at: reading(3 * Self.second, slept: slept, moved: moved)) == nil)
    let events = change.events(epoch: 20 * Self.second, now: 22 * Self.second)
    #expect(events.map(\.kind) == (slept > 0 ? [.gap] : []) + (moved != 0 ? [.clock] : []))
    #expect(events.allSatisfy { $0.time.nanoseconds == 2 * Self.second && $0.text != nil })
    for gap in events.compactMap(\.gap) {
      #expect(gap.track == "machine" && gap.start.nanoseconds == Self.second && gap.end.nanoseconds == 2 * Self.second)
    }
  }
}
