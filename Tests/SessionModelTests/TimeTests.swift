import SessionModel
import Testing

struct TimeTests {
  static let clock = Manifest.Clock(
    utc: WallTime(nanoseconds: 1_796_004_933_123_456_789), monotonic: 5, utcOffset: 3600)

  @Test(arguments: [
    ("90", 90.0), ("0", 0), ("1:30", 90), ("1:30.5", 90.5), ("90:00", 5400), (".25", 0.25), ("7.", 7),
  ])
  func offsets(text: String, seconds: Double) {
    #expect(TimePosition(text) == .offset(Timestamp(seconds: seconds)))
  }

  @Test(arguments: [
    "", ":", "1:60", "-5", "+5", "1:2:3:4", "25:00:00", "12:60:00", "1e3", "nan", "1.2.3", ".", "9999999999",
    "2026-11-30", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-30T02:15:33", "٣",
    "99999999999999999999:00", "999999999:00", "153722867:00", "2026-11-30T02:15:33+1:00",
  ])
  func refused(text: String) { #expect(TimePosition(text) == nil) }

  @Test func timeOfDayIsOnTheSessionsWallClock() {
    // The epoch is 2026-11-30 02:15:33.12… UTC, which is 03:15:33 an hour east of Greenwich.
    #expect(Self.clock.utc.description == "2026-11-30T02:15:33.123456789Z")
    let position = TimePosition("03:16:00")
    #expect(position?.timestamp(on: Self.clock) == Timestamp(nanoseconds: 26_876_543_211))
    // Earlier in the day than the start: the next day's.
    #expect(
      TimePosition("03:15:00")?.timestamp(on: Self.clock)
        == Timestamp(nanoseconds: 86_400_000_000_000 - 33_123_456_789))
  }

  @Test func whatIsPastAllTimesIsTheLastOne() throws {
    let late = Manifest.Clock(utc: WallTime(nanoseconds: .max - 5), monotonic: 0, utcOffset: 3600)
    let early = try #require(WallTime(rfc3339: "1678-01-01T00:00:00Z"))
    #expect(Self.clock.timestamp(of: early) == Timestamp(nanoseconds: .min))
    #expect(late.timestamp(of: early) == Timestamp(nanoseconds: .min))
    #expect(late.wallTime(of: Timestamp(nanoseconds: 6)).nanoseconds == .max)
    #expect(WallTime(nanoseconds: .max).text(utcOffset: 3600) == "2262-04-11 23:47:16")
    #expect(TimePosition("153722866:59.9") == .offset(Timestamp(nanoseconds: 9_223_372_019_900_000_000)))
  }

  @Test func instantIsMappedByTheClock() {
    #expect(
      TimePosition("2026-11-30T03:15:34.123456789+01:00")?.timestamp(on: Self.clock) == Timestamp(seconds: 1))
  }

  @Test(arguments: [
    ("20", 20.0), ("20s", 20), ("1.5", 1.5), ("500ms", 0.5), ("5m", 300), ("2h", 7200), ("3d", 259_200),
    ("1:30", 90), ("0.5h", 1800),
  ])
  func durations(text: String, seconds: Double) {
    #expect(TimePosition.duration(text) == Int64(seconds * 1e9))
  }

  @Test(arguments: ["", "s", "ms", "5x", "-5s", "999999999999d", "1:00:00", "5 m"])
  func refusedDurations(text: String) { #expect(TimePosition.duration(text) == nil) }

  @Test(arguments: [
    "1970-01-01T00:00:00.000000000Z", "2000-02-29T23:59:59.999999999Z", "2026-11-30T02:15:33.123456789Z",
    "1969-12-31T23:59:59.500000000Z",
  ])
  func wallTimeRoundTrips(text: String) throws {
    let time = try #require(WallTime(rfc3339: text))
    #expect(time.description == text)
  }

  @Test(arguments: [
    (Int64(0), "0:00.000"), (90_500_000_000, "1:30.500"), (7_200_000_000_000, "120:00.000"),
    (59_999_600_000, "1:00.000"), (-1_500_000_000, "-0:01.500"),
  ])
  func timestampsReadAsClockTimes(nanoseconds: Int64, text: String) {
    #expect(Timestamp(nanoseconds: nanoseconds).description == text)
  }

  @Test(arguments: [Int64(0), 1_000_000, 90_500_000_000, 7_261_001_000_000])
  func whatIsPrintedCanBeTyped(nanoseconds: Int64) {
    let timestamp = Timestamp(nanoseconds: nanoseconds)
    #expect(TimePosition(timestamp.description) == .offset(timestamp))
  }

  @Test func secondsBeyondTheRangeAreClamped() {
    #expect(Timestamp(seconds: .infinity).nanoseconds == .max)
    #expect(Timestamp(seconds: -1e300).nanoseconds == .min)
  }
}

struct ClockTests {
  /// The wall clock was set back an hour at 10 s, and the machine slept for two at 20 s.
  static let clock: Manifest.Clock = {
    var clock = Manifest.Clock(utc: WallTime(nanoseconds: 7200 * second), monotonic: 0, utcOffset: 0)
    clock.steps = [
      Manifest.Clock.Step(time: Timestamp(nanoseconds: 10 * second), utc: WallTime(nanoseconds: 3610 * second)),
      Manifest.Clock.Step(time: Timestamp(nanoseconds: 20 * second), utc: WallTime(nanoseconds: 10_820 * second)),
    ]
    return clock
  }()
  static let second: Int64 = 1_000_000_000

  @Test(
    arguments: [
      (0, 7200), (9, 7209), (10, 3610), (19, 3619), (20, 10_820), (21, 10_821),
    ] as [(Int64, Int64)])
  func theWallClockIsThatOfThePieceBefore(time: Int64, wall: Int64) {
    let found = Self.clock.wallTime(of: Timestamp(nanoseconds: time * Self.second))
    #expect(found == WallTime(nanoseconds: wall * Self.second))
    #expect(Self.clock.timestamp(of: found) == Timestamp(nanoseconds: time * Self.second))
  }

  /// Of a time that the clock showed twice the first, of one that it never showed where it went on.
  @Test(arguments: [(5000, 20), (3600, -3600), (100_000, 89_200)] as [(Int64, Int64)])
  func everyTimeOfTheWallClockHasAPlace(wall: Int64, time: Int64) {
    #expect(Self.clock.timestamp(of: WallTime(nanoseconds: wall * Self.second)).nanoseconds == time * Self.second)
  }

  @Test func noTimeIsTooFarAway() {
    for clock in [Self.clock, Manifest.Clock(utc: WallTime(nanoseconds: .min), monotonic: 0, utcOffset: 0)] {
      for value in [Int64.min, .max, 0] {
        _ = clock.wallTime(of: Timestamp(nanoseconds: value))
        _ = clock.timestamp(of: WallTime(nanoseconds: value))
      }
    }
  }
}

struct SessionIDTests {
  /// Always draws zero.
  struct Zero: RandomNumberGenerator { mutating func next() -> UInt64 { 0 } }

  @Test func carriesUTCAndSortsByTime() throws {
    var generator = Zero()
    let first = SessionID(WallTime(nanoseconds: 1_796_004_933_999_999_999), using: &generator)
    let second = SessionID(WallTime(nanoseconds: 1_796_004_934_000_000_000), using: &generator)
    #expect(first.description == "20261130T021533Z-0000")
    #expect(second.description == "20261130T021534Z-0000")
    #expect(first < second)
    #expect(first.dateComponents == ["2026", "11", "30"])
    #expect(SessionID(first.description) == first)
  }

  /// Always draws the highest.
  struct Highest: RandomNumberGenerator { mutating func next() -> UInt64 { .max } }

  @Test func ofOneSecondTheLaterOneSortsLast() throws {
    let time = WallTime(nanoseconds: 1_796_004_933_000_000_000)
    var (zero, highest) = (Zero(), Highest())
    #expect(SessionID(time, using: &highest).description == "20261130T021533Z-fzzz")
    for (last, next) in [("0000", "0001"), ("k3zz", "k400"), ("zzzy", "zzzz"), ("zzzz", "0000")] {
      let last = try #require(SessionID("20261130T021533Z-\(last)"))
      #expect(SessionID(time, after: last, using: &zero).description == "20261130T021533Z-\(next)")
    }
    let last = try #require(SessionID("20261130T021533Z-k3x9"))
    #expect(SessionID(time, after: last, using: &highest).description == "20261130T021533Z-k4x9")
    // That of another second does not count.
    let later = WallTime(nanoseconds: 1_796_004_934_000_000_000)
    #expect(SessionID(later, after: last, using: &zero).description == "20261130T021534Z-0000")
    var (id, random) = (SessionID(time, using: &zero), SystemRandomNumberGenerator())
    for _ in 0..<200 {
      let next = SessionID(time, after: id, using: &random)
      #expect(next > id && SessionID(next.description) == next)
      id = next
    }
  }

  @Test(arguments: [
    "", "20261130T021533Z", "20261130T021533Z-k3x", "20261130T021533Z-k3xi", "../../../etc/passwd00",
    "20261130T021533Z/k3x9", "20261130T021533z-k3x9", "2026113\u{301}T021533Z-k3",
    "20261130T021533Z-k\u{301}3", "2026113٠T021533Z-k3x9", "20261130T021533Z-K3X9",
    // No calendar has these.
    "20269999T999999Z-aaaa", "20260229T000000Z-aaaa", "20261130T240000Z-aaaa",
  ])
  func refusesWhatIsNoID(text: String) { #expect(SessionID(text) == nil) }
}

struct PrintableTests {
  @Test(arguments: [
    ("plain äöü 漢字 🙂", "plain äöü 漢字 🙂"), ("a\nb\tc\r", "a b c "), ("\u{1B}]0;x\u{07}", "\\u{1b}]0;x\\u{7}"),
    ("a\u{202E}b", "a\\u{202e}b"), ("\u{9B}31m", "\\u{9b}31m"), ("\u{200B}\u{2066}", "\\u{200b}\\u{2066}"),
    ("\u{7F}\0", "\\u{7f}\\u{0}"),
  ])
  func nothingDrivesATerminal(text: String, shown: String) { #expect(text.printable == shown) }

  @Test func longTextIsCut() {
    #expect("abcdef".printable(atMost: 4) == "abc…")
    #expect("abcd".printable(atMost: 4) == "abcd")
  }
}
