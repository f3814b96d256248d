import SessionModel
import Testing

@testable import Index

@Suite struct MomentBuilderTests {
  func moments(_ events: [Event], duration: Double = 10, source: WindowInfo? = nil) -> [Moment] {
    var builder = MomentBuilder()
    for event in events { builder.add(event) }
    return builder.finish(duration: Timestamp(nanoseconds: ns(duration)), source: source)
  }

  func summary(_ moments: [Moment]) -> [String] {
    moments.map { moment in
      "\(moment.kind.rawValue) \(moment.words) @\(moment.time.seconds) +\(Double(moment.length) / 1e9)"
    }
  }

  @Test func aWindowIsFoundWhileItIsActive() {
    let result = moments([
      event(0, .focus, window(1, "one")), event(4, .focus, window(2, "two")), event(4.1, .title, window(2, "three")),
      event(6, .focus, window(1, "one")), event(8, .closed, window(1, "")), event(9, .focus, window(2, "three")),
    ])
    #expect(
      summary(result) == [
        "window one @0.2 +4.0", "window two @4.05 +0.1", "window three @4.3 +1.9", "window one @6.2 +2.0",
        "window three @9.2 +1.0",
      ])
  }

  @Test func theSameLookTwiceIsOneSpan() {
    var moved = window(1, "one")
    moved.rect = PixelRect(x: 1, y: 2, width: 3, height: 4)
    let result = moments([event(0, .focus, window(1, "one")), event(5, .title, moved), event(6, .focus, moved)])
    #expect(summary(result) == ["window one @0.2 +10.0"])
  }

  @Test func aWindowThatIsNeverActiveIsFoundWhereItShows() {
    let result = moments([
      event(1, .opened, window(1, "active later")), event(2, .opened, window(2, "pop-up")),
      event(3, .focus, window(1, "active later")), event(5, .closed, window(2, "")),
    ])
    #expect(summary(result) == ["window pop-up @2.2 +3.0", "window active later @3.2 +7.0"])
  }

  @Test func theRecordedWindowIsFoundWithoutBeingActive() {
    #expect(summary(moments([], source: window(1, "a", "C"))) == ["window a (C) @0.2 +10.0"])
    #expect(
      summary(moments([event(2, .focus, window(1, "a", "C"))], source: window(1, "a", "C"))) == [
        "window a (C) @2.2 +8.0"
      ])
  }

  @Test func momentsKnowTheActiveWindow() {
    let result = moments([
      event(0, .marker, text: "m0"), event(1, .focus, window(1, "one", "C")), event(2, .marker, text: "m1"),
      event(3, .focus, nil), event(4, .marker),
    ])
    #expect(result.filter { $0.kind == .marker }.map(\.window) == ["", "one C", ""])
  }

  @Test func timesThatMakeNoSenseMakeNoTrouble() {
    let far = Event(time: Timestamp(nanoseconds: .max), kind: .focus, window: window(1, "far"))
    let before = Event(time: Timestamp(nanoseconds: .min), kind: .focus, window: window(2, "before"))
    let gap = Event(
      time: .zero, kind: .gap,
      gap: Gap(track: "t", start: Timestamp(nanoseconds: .min), end: Timestamp(nanoseconds: .max), reason: "r"))
    let result = moments([before, far, gap, event(1, .marker, text: "m")])
    #expect(result.allSatisfy { $0.time >= .zero && $0.length >= 0 })
    #expect(result.count == 4)
  }
}
