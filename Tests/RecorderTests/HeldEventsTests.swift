import SessionModel
import Testing

@testable import Recorder

/// The events of a held stretch as a session gets them.
@Suite struct HeldEventsTests {
  private func time(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }

  private func window(_ id: UInt32, _ title: String) -> WindowInfo { WindowInfo(id: id, title: title) }

  private func event(_ seconds: Double, _ kind: Event.Kind, _ window: WindowInfo? = nil, text: String? = nil) -> Event {
    Event(time: time(seconds), kind: kind, window: window, text: text)
  }

  private func gap(_ start: Double, _ end: Double, _ reason: String) -> Event {
    Event(
      time: time(end), kind: .gap, gap: Gap(track: "video", start: time(start), end: time(end), reason: reason))
  }

  private var story: [Event] {
    var moved = event(4, .geometry)
    moved.to = PixelRect(x: 1, y: 2, width: 30, height: 40)
    return [
      event(0, .start, text: "display"), event(0.1, .opened, window(1, "mail")),
      event(0.1, .opened, window(2, "shell")),
      event(0.2, .focus, window(1, "mail")), event(1, .alive), event(2, .title, window(1, "mail: draft")),
      event(2, .mute, text: "microphone"), event(3, .closed, window(2, "shell")), moved, event(5, .pause),
      event(6, .marker, text: "here"), event(7, .resume), gap(5, 7, "paused"), event(8, .unmute, text: "microphone"),
      gap(2, 8, "muted"), event(9, .focus), event(9.5, .alive),
    ]
  }

  private func held(droppedBefore seconds: Double? = nil) -> HeldEvents {
    var events = HeldEvents()
    for event in story { events.append(event) }
    if let seconds { events.drop(before: time(seconds)) }
    return events
  }

  @Test(arguments: [nil, 0.5, 3, 5.5]) func aSessionBeginsWithWhatIsInForce(dropped: Double?) {
    let events = held(droppedBefore: dropped).session(from: time(5.5), to: time(8.5), open: [])
    #expect(
      events == [
        event(0, .start, text: "display"), event(0, .opened, window(1, "mail: draft")),
        event(0, .focus, window(1, "mail: draft")), event(0, .mute, text: "microphone"), event(0, .pause),
        event(0.5, .marker, text: "here"), event(1.5, .resume), gap(0, 1.5, "paused"),
        event(2.5, .unmute, text: "microphone"), gap(0, 2.5, "muted"),
      ])
    let (before, after) = (held().state(at: time(3.5)), held().state(at: time(5.5)))
    #expect(before.rect == nil && after.rect == PixelRect(x: 1, y: 2, width: 30, height: 40))
  }

  @Test(arguments: [false, true]) func theWindowThatIsRecordedIsKnown(isDropped: Bool) {
    var events = HeldEvents()
    for event in [event(1, .source, window(7, "next")), event(2, .source, text: "It is hidden.")] {
      events.append(event)
    }
    let before = events.state(at: time(0.5)).recorded
    if isDropped { events.drop(before: time(3)) }
    #expect(before == nil && events.state(at: time(3)).recorded == window(7, "next"))
  }

  @Test func aGapIsCutToTheSessionAndAnOpenOneEndsWithIt() {
    let open = Gap(track: "microphone", start: time(2), end: time(6), reason: "muted")
    let events = held().session(from: time(3), to: time(6), open: [open])
    let gaps = events.compactMap(\.gap)
    #expect(gaps.map(\.start) == [time(2), time(0), time(0)])
    #expect(gaps.map(\.end) == [time(3), time(3), time(3)])
    #expect(gaps.map(\.reason) == ["paused", "muted", "muted"])
    #expect(events.allSatisfy { $0.time >= .zero && $0.time <= time(3) })
  }

  @Test func aSessionAfterAllGapsHasNone() {
    let events = held().session(from: time(8.5), to: time(20), open: [])
    #expect(events.compactMap(\.gap).isEmpty)
    #expect(events.map(\.kind) == [.start, .opened, .focus, .focus, .alive])
    #expect(events[3] == event(0.5, .focus))
  }

  @Test func eventsCountForTheirWordsAndNothingIsLeftOfThoseThatAreGivenUp() {
    var events = HeldEvents()
    events.append(event(1, .marker, text: String(repeating: "a", count: 1000)))
    let bytes = events.bytes
    #expect((1000...3000).contains(bytes))
    events.append(event(2, .marker, text: "b"))
    events.drop(before: time(3))
    let rest = events.bytes
    #expect(rest == 0)
  }
}
