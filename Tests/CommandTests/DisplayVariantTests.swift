import SessionModel
import TestSupport
import Testing

/// Cases X16 and X20: recordings of every kind of screen, and of servers that lack what they should have: the right colours at the right time.
@Suite(.serialized) struct DisplayVariantTests {
  /// One display.
  struct Variant: Sendable, CustomTestStringConvertible {
    var depth = 24
    /// The extension that is missing.
    var missing: String?
    /// Xvfb has no switch for it, or aborts without it: clients are told that there is none.
    var isHidden = false

    var testDescription: String { missing.map { "without \($0)" } ?? "depth \(depth)" }
    /// How far a colour's channels may be off: the steps of 5 bits, and the rounding of 10 bits to 8.
    var tolerance: Int { depth == 15 || depth == 16 ? 8 : depth == 30 ? 1 : 0 }
  }

  static let variants =
    [8, 15, 16, 24, 30].map { Variant(depth: $0) }
    + ["MIT-SHM", "DAMAGE", "Composite", "RANDR"].map { Variant(missing: $0) }
    + ["XFIXES", "XInputExtension"].map { Variant(missing: $0, isHidden: true) }

  @Test(arguments: variants) func coloursAndTimesAreRight(variant: Variant) throws {
    let size = PixelSize(width: 384, height: 96)
    let arguments = variant.isHidden ? [] : variant.missing.map { ["-extension", $0] } ?? []
    let display = try VirtualDisplay(size: "\(size)", depth: variant.depth, arguments: arguments)
    let proxy = variant.isHidden ? try variant.missing.map { try DisplayProxy(to: display, [.without($0)]) } : nil
    let rig = try RecorderRig(display: display, environment: proxy.map { ["DISPLAY": $0.name] } ?? [:])
    let client = try PatternClient(on: display, ["counter", "--fps", "0", "--geometry", "\(size)"])
    let watch = try WatchedRecording(rig, ["--fps", "60"])
    for counter in 1...4 {
      let drawn = try client.tell("next")
      try watch.wait("a frame of \(counter)", at: drawn)
    }
    let result = try watch.stop()
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let epoch = try watch.epoch()
    // The container counts milliseconds: up to half of one to either side.
    let times = try MediaFile.times(watch.media).map { epoch + Int64($0) * 1_000_000 }
    let counters = try MediaFile.counters(watch.media)
    // Right of the counter's cells there is its background alone.
    let corner = PixelRect(x: size.width - 1, y: size.height - 1, width: 1, height: 1)
    let colors = try MediaFile.pictures(watch.media, corner)
    #expect(times.count == counters.count && colors.count == counters.count)
    let frames = client.frames
    #expect(frames.count == 4)
    for (frame, end) in zip(frames, frames.dropFirst().map(\.time) + [Int64.max - 500_000]) {
      // It has a picture of a time at which nothing else was on the screen.
      let found = counters.indices.contains { index in
        counters[index] == frame.counter && times[index] >= frame.time - 500_000 && times[index] <= end + 500_000
      }
      #expect(found, "\(frame) \(Array(zip(counters, times)))")
    }
    #expect(counters.compactMap(\.self).last == frames.last?.counter)
    for (counter, color) in zip(counters, colors) {
      guard let counter else { continue }
      let wanted = PatternLayout.background(counter)
      for (index, shift) in [0, 8, 16].enumerated() {
        let channel = Int(wanted >> UInt32(shift) & 0xFF)
        #expect(abs(Int(color[index]) - channel) <= variant.tolerance, "\(counter)")
      }
    }
    withExtendedLifetime(proxy) {}
  }
}
