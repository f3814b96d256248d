import SessionModel
import Testing
import Threading

@testable import Presentation

@Suite("The clock that sound makes")
struct SoundControlTests {
  /// Frames of 48 kHz in a second.
  private static let second = 48_000

  @Test("stands where it was asked to begin until sound is heard, then goes with it, and never past what was written")
  func following() throws {
    let control = try SoundControl(volume: 1)
    #expect(control.position(at: MonotonicClock.now()) == nil)
    control.wish(from: .milliseconds(7000))
    let number = try #require(control.orders()).number
    let now = MonotonicClock.now()
    #expect(control.position(at: now + 1_000_000_000) == .milliseconds(7000))
    control.measure(wish: number, heard: 0, written: Self.second / 10)
    #expect(control.position(at: now + 500_000_000) == .milliseconds(7000))
    control.measure(wish: number, heard: Self.second, written: Self.second * 11 / 10)
    let measured = MonotonicClock.now()
    let soon = try #require(control.position(at: measured))
    #expect(soon >= .milliseconds(8000) && soon <= .milliseconds(8100))
    #expect(control.position(at: measured + 2_000_000_000) == .milliseconds(8100))
    // It never goes back, although the device has a second thought.
    control.measure(wish: number, heard: Self.second * 9 / 10, written: Self.second * 11 / 10)
    #expect(control.position(at: measured) == .milliseconds(8100))
  }

  @Test("forgets the measurements of another wish")
  func wishes() throws {
    let control = try SoundControl(volume: 1)
    control.wish(from: .zero)
    let number = try #require(control.orders()).number
    control.measure(wish: number, heard: Self.second, written: Self.second)
    control.wish(from: .milliseconds(500))
    #expect(control.position(at: MonotonicClock.now()) == .milliseconds(500))
    control.measure(wish: number, heard: Self.second * 2, written: Self.second * 2)
    #expect(control.position(at: MonotonicClock.now()) == .milliseconds(500))
    control.wish(from: nil)
    #expect(control.position(at: MonotonicClock.now()) == nil)
    control.end()
    #expect(control.orders() == nil)
  }

  @Test("A device that does not move is taken for lost, and says so")
  func standing() throws {
    let control = try SoundControl(volume: 1)
    control.wish(from: .zero)
    let now = MonotonicClock.now()
    #expect(control.position(at: now + 2_900_000_000) == .zero)
    #expect(control.failure == nil)
    #expect(control.position(at: now + 3_100_000_000) == nil)
    #expect(control.failure?.code == .unavailable)
  }

  @Test("The volume stays between silence and full scale", arguments: [(-1, 0), (0, 0), (0.25, 0.25), (2, 1)])
  func volume(_ asked: Double, _ given: Float) throws {
    let control = try SoundControl(volume: asked)
    #expect(control.orders()?.volume == given)
    control.setVolume(1)
    control.setVolume(asked)
    #expect(control.orders()?.volume == given)
  }
}
