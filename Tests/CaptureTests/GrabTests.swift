import Capture
import SessionModel
import TestSupport
import Testing
import Threading

@Suite struct GrabTests {
  @Test func rootIsGrabbedWholeThenNothing() throws {
    let display = try VirtualDisplay(size: "320x200")
    try run(["xsetroot", "-display", display.name, "-solid", "#336699"])
    let source = try SourceResolver(display: display.name).resolve(.display)
    let wake = try WakeSignal()
    var video = try X11VideoSource(source, cursor: true, frameInterval: 10_000_000, wake: wake)
    let far = MonotonicClock.now() + 3_000_000_000
    #expect(try video.wait(until: far) == .changed)
    var seen: [UInt32] = []
    let grabbed = try video.grab { frame in
      #expect(frame.rects.count == 1)
      seen = (0..<320 * 200).map { frame.pixels.load(fromByteOffset: $0 * 4, as: UInt32.self) & 0xFFFFFF }
    }
    #expect(grabbed)
    #expect(Set(seen) == [0x336699])
    #expect(try video.wait(until: MonotonicClock.now() + 1_000_000_000) == .timedOut)
    #expect(try video.grab { _ in } == false)
    try run(["xsetroot", "-display", display.name, "-solid", "#ffffff"])
    #expect(try video.wait(until: far) == .changed)
    var rectangles = 0
    #expect(try video.grab { frame in rectangles = frame.rects.count })
    #expect(rectangles == 1)
  }
}
