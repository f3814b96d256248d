import Capture
import FoundationEssentials
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing

/// Gathers what a `WindowEventSource` reports.
final class EventLog: Sendable {
  private let content = Mutex<(events: [Event], endings: [RecorderError?])>(([], []))

  var events: [Event] { content.withLock { $0.events } }
  var endings: [RecorderError?] { content.withLock { $0.endings } }

  func follow(_ display: VirtualDisplay, epoch: Int64 = 0) throws -> WindowEventSource {
    try WindowEventSource(
      display: display.name, epoch: epoch, emit: { event in self.content.withLock { $0.events.append(event) } },
      ended: { error in self.content.withLock { $0.endings.append(error) } })
  }

  /// `kind title`, in order.
  var story: [String] { events.map { "\($0.kind.rawValue) \($0.window?.title ?? "-")" } }

  /// Waits until the last events are `story`, then returns them all.
  func wait(for expected: [String]) throws {
    do {
      try waitUntil("events", seconds: 10) { story.suffix(expected.count) == expected[...] }
    } catch { throw TestFailure("expected \(expected), got \(story)") }
  }
}

@Suite struct WindowEventTests {
  @Test func windowsAreFollowedWithoutWindowManager() throws {
    let display = try VirtualDisplay(size: "640x480")
    let first = try PatternClient(
      on: display, ["color", "--title", "First", "--class", "Alpha", "--geometry", "100x80+10+20"])
    let log = EventLog()
    let before = Int64(monotonicSeconds() * 1e9)
    let source = try log.follow(display, epoch: before)
    try log.wait(for: ["opened First", "focus First"])
    let second = try PatternClient(on: display, ["color", "--title", "Second", "--geometry", "50x40+300+200"])
    try log.wait(for: ["opened Second", "focus Second"])
    try second.tell("title Réport ✓")
    try log.wait(for: ["title Réport ✓"])
    try first.tell("title Behind")
    try second.tell("move 301 202")
    try log.wait(for: ["geometry Réport ✓"])
    try first.tell("raise")
    try log.wait(for: ["focus Behind"])
    try second.tell("focus")
    try log.wait(for: ["focus Réport ✓"])
    try second.tell("unmap")
    try log.wait(for: ["closed Réport ✓", "focus Behind"])
    try first.tell("quit")
    try log.wait(for: ["closed Behind", "focus -"])
    source.stop()

    #expect(
      log.story == [
        "opened First", "focus First", "opened Second", "focus Second", "title Réport ✓", "geometry Réport ✓",
        "focus Behind", "focus Réport ✓", "closed Réport ✓", "focus Behind", "closed Behind", "focus -",
      ])
    let opened = try #require(log.events.first?.window)
    #expect(opened.id == first.window)
    #expect(opened.className == "Alpha")
    #expect(opened.instance == "Alpha")
    #expect(opened.pid == Int(first.process.pid))
    #expect(opened.rect == PixelRect(x: 10, y: 20, width: 100, height: 80))
    #expect(log.events[5].window?.rect == PixelRect(x: 301, y: 202, width: 50, height: 40))
    #expect(log.events.map(\.time) == log.events.map(\.time).sorted())
    #expect(log.events[0].time >= .zero)
    #expect(log.endings == [nil])
  }

  @Test func windowManagersListIsFollowed() throws {
    let display = try VirtualDisplay(size: "640x480")
    let manager = try WindowManager(on: display)
    let log = EventLog()
    let source = try log.follow(display)
    let first = try PatternClient(on: display, ["color", "--title", "First", "--geometry", "100x80+100+100"])
    try log.wait(for: ["opened First", "focus First"])
    let second = try PatternClient(on: display, ["color", "--title", "Second", "--geometry", "100x80+300+100"])
    try log.wait(for: ["opened Second", "focus Second"])
    try run(["xdotool", "windowactivate", "\(first.window)"], environment: display.environment)
    try log.wait(for: ["focus First"])
    // Openbox puts the client area below its title bar: the place is the client's, whatever the frame's is.
    let place = try run(["xwininfo", "-display", display.name, "-id", "\(second.window)"]).lines
    let numbers = ["Absolute upper-left X:", "Absolute upper-left Y:"].map { name in
      place.first { $0.contains(name) }.flatMap { Int($0.split(separator: " ").last ?? "") }
    }
    let rect = try #require(log.events.last { $0.window?.id == second.window }?.window?.rect)
    #expect(numbers == [rect.x, rect.y])
    try second.tell("quit")
    try log.wait(for: ["closed Second"])
    source.stop()
    withExtendedLifetime(manager) {}
  }

  @Test func serverDeathEndsItWithItsReason() throws {
    let display = try VirtualDisplay(size: "64x64")
    let log = EventLog()
    let source = try log.follow(display)
    try log.wait(for: ["focus -"])
    display.server.signal(SIGKILL)
    try waitUntil("the end") { log.endings.count == 1 }
    source.stop()
    #expect(log.endings == [SourceLoss.displayLost.error])
  }

  @Test(arguments: [
    // Invalid UTF-8, a NUL, Latin-1 alone, and more than is read of any property.
    ([UInt8]("caf".utf8) + [0xE9, 0x20, 0xFF], "caf\u{FFFD} \u{FFFD}", true),
    ([UInt8]("a\0b".utf8), "a\u{FFFD}b", true),
    ([UInt8]("naïve 日本 🎥".utf8), "naïve 日本 🎥", false),
    ([], "", false),
  ])
  func anyTitleIsKept(bytes: [UInt8], text: String, keepsBytes: Bool) throws {
    let display = try VirtualDisplay(size: "64x64")
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let client = try PatternClient(on: display, ["color", "--title-bytes", hex, "--geometry", "20x20"])
    let log = EventLog()
    let source = try log.follow(display)
    try waitUntil("focus") { log.events.last?.kind == .focus }
    source.stop()
    let window = try #require(log.events.first?.window)
    #expect(window.id == client.window)
    #expect(window.title == text)
    #expect(window.titleBytes == (keepsBytes ? Data(bytes).base64EncodedString() : nil))
  }

  @Test func longTitleIsCutBetweenCharacters() throws {
    let display = try VirtualDisplay(size: "64x64")
    let client = try PatternClient(on: display, ["color", "--geometry", "20x20"])
    // 66,000 bytes in characters of three: 65,536 is not a multiple of three.
    try client.tell("title " + String(repeating: "日", count: 22_000))
    let log = EventLog()
    let source = try log.follow(display)
    try waitUntil("focus") { log.events.last?.kind == .focus }
    source.stop()
    #expect(log.events.first?.window?.title == String(repeating: "日", count: 21_845))
    #expect(log.events.first?.window?.titleBytes == nil)
  }
}
