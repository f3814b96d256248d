import SessionModel
import Testing

@testable import Replay

@Suite("The clock of a replay")
struct PlaybackClockTests {
  private static let second: Int64 = 1_000_000_000

  @Test("passes as fast as it is told, stands when it is told, and stops at the end")
  func passing() {
    var clock = PlaybackClock(at: .milliseconds(500), end: .milliseconds(10_000), speed: 2)
    #expect(clock.time(at: 99 * Self.second) == .milliseconds(500))
    clock.run(true, at: 100 * Self.second)
    #expect(clock.time(at: 101 * Self.second) == .milliseconds(2500))
    #expect(clock.moment(of: .milliseconds(4500), now: 101 * Self.second) == 102 * Self.second)
    #expect(clock.moment(of: .milliseconds(1000), now: 101 * Self.second) == 101 * Self.second)
    clock.setSpeed(0.25, at: 101 * Self.second)
    #expect(clock.time(at: 105 * Self.second) == .milliseconds(3500))
    clock.run(false, at: 105 * Self.second)
    #expect(clock.time(at: 200 * Self.second) == .milliseconds(3500))
    #expect(clock.moment(of: .milliseconds(4000), now: 200 * Self.second) == nil)
    clock.set(.milliseconds(9000), at: 200 * Self.second)
    clock.run(true, at: 200 * Self.second)
    #expect(clock.time(at: 204 * Self.second) == .milliseconds(10_000))
    #expect(clock.time(at: 900 * Self.second) == .milliseconds(10_000))
  }

  @Test("takes no time outside of the session and no speed that cannot be played")
  func bounds() {
    var clock = PlaybackClock(at: .zero, end: .milliseconds(1000), speed: 1)
    clock.set(.milliseconds(-5), at: 0)
    #expect(clock.time(at: 0) == .zero)
    clock.set(.milliseconds(1001), at: 0)
    #expect(clock.time(at: 0) == .milliseconds(1000))
    clock.setSpeed(100, at: 0)
    #expect(clock.speed == 4)
    clock.setSpeed(0, at: 0)
    #expect(clock.speed == 0.25)
  }

  @Test(
    "A picture is as large as its shape lets it be, in the middle",
    arguments: [
      ((64, 48), (640, 480), (0, 0, 640, 480)), ((64, 48), (640, 640), (0, 80, 640, 480)),
      ((64, 48), (1000, 480), (180, 0, 640, 480)), ((1920, 1080), (640, 480), (0, 60, 640, 360)),
      ((1, 2000), (640, 480), (319, 0, 1, 480)), ((2000, 1), (640, 480), (0, 239, 640, 1)),
      ((16_384, 1), (1, 1), (0, 0, 1, 1)), ((3, 2000), (1, 9), (0, 0, 1, 9)),
    ] as [((Int, Int), (Int, Int), (Int, Int, Int, Int))])
  func letterbox(_ picture: (Int, Int), _ window: (Int, Int), _ place: (Int, Int, Int, Int)) {
    let rect = PixelSize(width: picture.0, height: picture.1)
      .letterboxed(in: PixelSize(width: window.0, height: window.1))
    #expect(rect == PixelRect(x: place.0, y: place.1, width: place.2, height: place.3))
  }
}
