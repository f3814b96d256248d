import Glibc
import SessionModel
import TestSupport
import Testing

/// Case E18: what a file says of its colours is what they are, for every quality, and in every way that a picture comes out.
@Suite struct ColourTests {
  private static let size = PixelSize(width: 640, height: 480)
  private static let words = ["color_range", "color_space", "color_primaries", "color_transfer"]

  /// The extremes of each channel in the middle of the white and of the black bar.
  private func levels(_ file: String) throws -> (white: ClosedRange<UInt8>, black: ClosedRange<UInt8>) {
    func range(_ bar: Int) throws -> ClosedRange<UInt8> {
      let rect = PixelRect(x: bar * 80 + 20, y: 200, width: 40, height: 80)
      let picture = try #require(try MediaFile.pictures(file, rect).first)
      let values = picture.indices.filter { $0 % 4 != 3 }.map { picture[$0] }
      return try #require(values.min())...(try #require(values.max()))
    }
    return (try range(0), try range(7))
  }

  private func expectLevels(_ file: String, _ what: String) throws {
    let (white, black) = try levels(file)
    #expect(white.lowerBound >= 253 && black.upperBound <= 2, "\(what): white \(white), black \(black)")
  }

  @Test(arguments: VideoQuality.allCases)
  func blackIsBlackAndWhiteIsWhite(quality: VideoQuality) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "\(Self.size)"))
    let client = try PatternClient(on: try #require(rig.display), ["bars"])
    let id = try rig.record(seconds: 0.5, ["--no-cursor", "--quality", quality.rawValue])
    try client.process.stop()
    let entries = try MediaFile.entries(rig.media(id))
    let isLossless = quality == .lossless
    #expect(
      Self.words.map { entries[$0] }
        == (isLossless ? ["pc", "gbr", "bt709", "iec61966-2-1"] : ["tv", "smpte170m", "bt709", "iec61966-2-1"]))
    try expectLevels(rig.media(id), "as ffmpeg decodes it")
    // The samples themselves are in the range that the file says they are in.
    let luma = try run([
      "ffmpeg", "-v", "error", "-i", rig.media(id), "-frames:v", "1", "-vf", "extractplanes=\(isLossless ? "g" : "y")",
      "-f", "rawvideo", "-",
    ]).output
    #expect(luma.count == Self.size.area)
    let (white, black) = (luma[240 * Self.size.width + 40], luma[240 * Self.size.width + 600])
    #expect(isLossless ? (white, black) == (255, 0) : abs(Int(white) - 235) <= 1 && abs(Int(black) - 16) <= 1)
    for (name, arguments) in [
      ("a.png", ["frame", "last", "--at", "0.2"]), ("a.mkv", ["export", "last"]), ("a.mp4", ["export", "last"]),
      ("b.mkv", ["export", "last", "--from", "0.1", "--exact"]),
    ] {
      let file = rig.folder.file(name)
      let result = try rig.run(arguments + ["-o", file])
      #expect(result.ending == .exit(0), "\(result.errorText)")
      try expectLevels(file, name)
      if name == "a.mp4" {
        #expect(try Self.words.map { try MediaFile.entries(file)[$0] } == ["tv", "smpte170m", "bt709", "iec61966-2-1"])
      }
    }
  }
}
