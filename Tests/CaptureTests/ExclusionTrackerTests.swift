import CXCB
import SessionModel
import TestSupport
import Testing

@testable import Capture

/// What must not be shown of each grab, told event by event.
@Suite struct ExclusionTrackerTests {
  /// What an excluded window left stays hidden in the frame after it was drawn on: its grab may have been answered before.
  @Test func whatWasDrawnOnAtTheLastMomentIsHiddenOnceMore() throws {
    let display = try VirtualDisplay(size: "320x200")
    let place = PixelRect(x: 50, y: 40, width: 100, height: 80)
    // Without a background it is the program alone that draws on what the other one leaves, when it is told.
    let below = try PatternClient(
      on: display, ["color", "--color", "00FF00", "--no-background", "--geometry", "320x200+0+0"])
    let client = try PatternClient(
      on: display, ["color", "--color", "FF00FF", "--title", "Secret", "--geometry", "100x80+50+40"])
    let connection = try XConnection(display.name)
    var tracker = try ExclusionTracker([.titlePattern("^Secret")], connection: connection)
    func hides() -> Bool {
      _ = connection.roundTrip()
      while let event = XReply(xcb_poll_for_event(connection.handle)) { event.read { _ = tracker.receive($0) } }
      tracker.settle()
      return tracker.take(at: 0).contains(place)
    }
    #expect(hides())
    try client.tell("unmap")
    // In two frames nothing is drawn there.
    #expect(hides())
    #expect(hides())
    try below.tell("color 00FF00")
    #expect(hides())
    #expect(!hides())
  }
}
