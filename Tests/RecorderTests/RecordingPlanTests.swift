import Media
import Recorder
import SessionModel
import Testing

struct RecordingPlanTests {
  private func plan(_ size: String, _ change: (inout RecordingOptions) -> Void = { _ in }) throws -> RecordingPlan {
    var options = RecordingOptions()
    change(&options)
    return try RecordingPlan.resolve(options, sourceSize: try #require(PixelSize(size)))
  }

  @Test(arguments: [
    ("1920x1080", "1920x1080"), ("641x479", "642x480"), ("1x1", "16x16"), ("3x2000", "16x2000"),
    ("3839x1080", "3840x1080"),
  ])
  func theTrueSizeIsKeptAndTheEncodedOneIsPadded(source: String, encoded: String) throws {
    let plan = try plan(source)
    #expect(plan.pictureSize.description == source)
    #expect(plan.encoder.size.description == encoded)
  }

  @Test func anAskedSizeIsTheFrames() throws {
    let plan = try plan("1920x1200") { $0.video.size = .h1080_169 }
    #expect(plan.pictureSize == .h1080_169)
  }

  @Test func losslessIsRGB() throws {
    let plan = try plan("64x64") { $0.video.lossless = true }
    #expect(plan.options.video.codec == "libx264rgb")
    #expect(plan.encoder.pixelFormat == .bgr0)
  }

  @Test(arguments: [
    (0, 23, nil, Int64(0), "0 frames"), (10_000, 23, nil, 0, "10000 frames"), (-1, 23, nil, 0, "-1 frames"),
    (30, 52, nil, 0, "52"), (30, -1, nil, 0, "-1"), (30, 23, PixelSize(width: 0, height: 0), 0, "0x0"),
    (30, 23, nil, 999_999, "millisecond"),
  ])
  func wrongOptionsAreNamed(fps: Int, crf: Int, size: PixelSize?, duration: Int64, word: String) {
    var options = RecordingOptions()
    options.video.framesPerSecond = fps
    options.video.constantRateFactor = crf
    options.video.size = size
    options.duration = duration == 0 ? nil : duration
    let error = #expect(throws: RecorderError.self) { try options.check() }
    #expect(error?.code == .usage)
    #expect(error?.message.contains(word) == true)
    #expect(error?.hint != nil)
  }
}
