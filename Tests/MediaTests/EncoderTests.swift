import Glibc
import Media
import SessionModel
import TestSupport
import Testing

@Suite struct EncoderTests {
  private let size = PixelSize(width: 64, height: 48)

  private func settings(_ change: (inout VideoOptions) -> Void) -> VideoEncoderSettings {
    var options = VideoOptions()
    change(&options)
    return VideoEncoderSettings(options, picture: size)
  }

  /// The error of opening an encoder.
  private func failure(_ change: (inout VideoOptions) -> Void) -> RecorderError? {
    do throws(RecorderError) {
      _ = try VideoEncoder(settings(change))
      return nil
    } catch { return error }
  }

  @Test(arguments: [
    (PixelSize(width: 1, height: 1), PixelSize(width: 16, height: 16)),
    (PixelSize(width: 641, height: 479), PixelSize(width: 642, height: 480)),
    (PixelSize(width: 3, height: 2000), PixelSize(width: 16, height: 2000)),
    (PixelSize(width: 3839, height: 1080), PixelSize(width: 3840, height: 1080)),
  ])
  func everySizeIsPaddedAndComesBack(_ picture: PixelSize, _ encoded: PixelSize) throws {
    #expect(VideoEncoderSettings.encodedSize(for: picture) == encoded)
    let folder = try TemporaryFolder()
    var options = VideoOptions()
    options.lossless = true
    let screen = Screen.noise(picture, seed: 7)
    try record([Shot(screen: screen, milliseconds: 0)], options: options, to: folder.file("a.mkv"))
    #expect(try ContainerReader(fileDescriptor: openFile(folder.file("a.mkv"), O_RDONLY)).streams[0].size == encoded)
    let seen = try #require(try decode(folder.file("a.mkv"), size: picture).first).screen
    #expect(seen.difference(from: screen) == 0)
  }

  @Test func paddingRepeatsTheEdge() throws {
    let folder = try TemporaryFolder()
    var options = VideoOptions()
    options.lossless = true
    let screen = Screen.noise(PixelSize(width: 17, height: 19), seed: 3)
    try record([Shot(screen: screen, milliseconds: 0)], options: options, to: folder.file("a.mkv"))
    let padded = PixelSize(width: 18, height: 20)
    let seen = try #require(try decode(folder.file("a.mkv"), size: padded).first).screen
    let expected = Screen(padded) { x, y in screen.pixel(min(x, 16), min(y, 18)) }
    #expect(seen.difference(from: expected) == 0)
  }

  @Test func aMissingEncoderIsNamedAndOthersOffered() throws {
    let error = try #require(failure { $0.codec = "libnothing" })
    #expect(error.code == .unavailable)
    #expect(error.message == "FFmpeg has no encoder \"libnothing\" here.")
    #expect(error.hint?.contains("libx264") == true)
  }

  @Test func settingsThatAnEncoderRefusesAreNamed() throws {
    let sound = try #require(failure { $0.codec = "aac" })
    #expect(sound.code == .usage && sound.message == "aac encodes no video.")
    let preset = try #require(failure { $0.preset = "warp\u{1B}[31m" })
    #expect(preset.code == .usage && preset.message == "libx264 has no preset \"warp\\u{1b}[31m\".")
    let format = try #require(
      failure {
        $0.codec = "mpeg4"
        $0.pixelFormat = .yuv444p
      })
    #expect(format.code == .usage && format.message == "mpeg4 does not encode yuv444p.")
    #expect(format.hint == "It encodes yuv420p.")
    let lossless = try #require(
      failure {
        $0.codec = "libx265"
        $0.lossless = true
      })
    #expect(lossless.code == .usage && lossless.message.contains("libx265"))
  }

  @Test(arguments: ["libx264", "libx264rgb", "libx265", "libvpx", "libvpx-vp9", "libaom-av1", "mpeg4", "ffv1"])
  func everyUsualEncoderRecords(_ codec: String) throws {
    let folder = try TemporaryFolder()
    var options = VideoOptions()
    options.codec = codec
    let grey = Screen(size) { _, _ in 0x808080 }
    try record(
      (0..<4).map { Shot(screen: grey, milliseconds: Int64($0) * 100) }, options: options, to: folder.file("a.mkv"))
    let shots = try decode(folder.file("a.mkv"), size: size)
    #expect(shots.map(\.milliseconds) == [0, 100, 200, 300])
    #expect(shots.allSatisfy { $0.screen.difference(from: grey) <= 3 })
  }

  @Test(arguments: [PixelFormat.yuv420p, .yuv444p, .bgr0])
  func aPacketForEachPictureAtOnce(_ format: PixelFormat) throws {
    var encoder = try VideoEncoder(settings { $0.pixelFormat = format })
    let picture = try encoder.makePicture()
    for index in 0..<30 as Range<Int64> {
      var times: [Timestamp] = []
      try encoder.encode(picture, at: Timestamp(nanoseconds: index * 33_333_333), keyframe: false) { packet in
        times.append(packet.pts)
        #expect(packet.pts == packet.dts)
      }
      // To the nearest millisecond.
      #expect(times == [Timestamp(nanoseconds: (index * 33_333_333 + 500_000) / 1_000_000 * 1_000_000)])
    }
    try encoder.finish { _ in Issue.record("a packet was held back") }
  }

  @Test(arguments: ["libx264", "ffv1"])
  func pixelsAreFreeWhenEncodeReturns(_ codec: String) throws {
    // The same picture is rendered into at once; each must come back as it was.
    let folder = try TemporaryFolder()
    var options = VideoOptions()
    options.codec = codec
    options.lossless = true
    let screens = (1...12).map { Screen.noise(size, seed: $0) }
    try record(
      screens.enumerated().map { Shot(screen: $1, milliseconds: Int64($0)) }, options: options,
      to: folder.file("a.mkv"))
    let shots = try decode(folder.file("a.mkv"), size: size)
    #expect(shots.count == 12)
    for (shot, screen) in zip(shots, screens) { #expect(shot.screen.difference(from: screen) == 0) }
  }

  /// A quick preset needs one processor for a screen of this size, and a picture in one piece is smaller.
  @Test(arguments: ["ultrafast", "superfast", "veryfast"])
  func aQuickPresetMakesOneSlice(_ preset: String) throws {
    var options = VideoOptions()
    options.preset = preset
    var encoder = try VideoEncoder(VideoEncoderSettings(options, picture: PixelSize(width: 1920, height: 1080)))
    let picture = try encoder.makePicture()
    var slices = 0
    try encoder.encode(picture, at: Timestamp(nanoseconds: 0), keyframe: true) { packet in
      packet.withBytes { bytes in
        // Units with their length before them, in four bytes; 5 is a part of a keyframe (H.264, 7.4.1).
        var start = 0
        while start + 4 < bytes.count {
          if bytes[start + 4] & 0x1F == 5 { slices += 1 }
          start += 4 + bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
      }
    }
    #expect(slices == 1)
  }

  @Test func keyframesComeWhereTheyAreForced() throws {
    let folder = try TemporaryFolder()
    let grey = Screen(size) { x, _ in x < 32 ? 0x404040 : 0x808080 }
    let forced: Set<Int64> = [0, 150, 151, 301]
    try record(
      (0..<400).map { Shot(screen: grey, milliseconds: $0 * 33, keyframe: forced.contains($0)) },
      to: folder.file("a.mkv"))
    let keyframes = try packets(folder.file("a.mkv")).filter(\.keyframe).map { $0.time.nanoseconds / 33_000_000 }
    #expect(keyframes == forced.sorted())
  }

  @Test func timesStayInOrderAndToTheMillisecond() throws {
    let folder = try TemporaryFolder()
    let grey = Screen(size) { _, _ in 0x404040 }
    var encoder = try VideoEncoder(settings { _ in })
    let picture = try encoder.makePicture()
    var canvas = try FrameCanvas(source: size, settings: settings { _ in }, picture: size)
    canvas.render(grey, into: picture)
    var writer = try ContainerWriter(
      format: .matroska, fileDescriptor: openFile(folder.file("a.mkv"), O_RDWR | O_CREAT), streams: [encoder.stream],
      metadata: [:])
    let day: Int64 = 86_400_000_000_000
    // Within one millisecond, going back, after an hour of stillness, after a day.
    let given: [Int64] = [400_000, 700_000, 900_000, 0, 17_499_999, 3_600_000_499_999, day + 1_500_000]
    for time in given {
      var failed = false
      try encoder.encode(picture, at: Timestamp(nanoseconds: time), keyframe: false) { packet in
        failed = (try? writer.write(packet, stream: 0)) == nil
      }
      #expect(!failed)
    }
    _ = try writer.finish()
    let times = try packets(folder.file("a.mkv")).map { $0.time.nanoseconds / 1_000_000 }
    #expect(times == [0, 1, 2, 3, 17, 3_600_000, 86_400_002])
  }

  @Test func coloursAreTaggedTruly() throws {
    let folder = try TemporaryFolder()
    let grey = Screen(size) { _, _ in 0x404040 }
    for (lossless, expected) in [
      (false, "yuv420p,tv,smpte170m,iec61966-2-1,bt709,center"), (true, "gbrp,pc,gbr,iec61966-2-1,bt709"),
    ] {
      var options = VideoOptions()
      options.lossless = lossless
      try record([Shot(screen: grey, milliseconds: 0)], options: options, to: folder.file("a.mkv"))
      let probe = try ChildProcess([
        "ffprobe", "-v", "error", "-of", "csv=p=0", "-show_entries",
        "stream=pix_fmt,color_range,color_space,color_transfer,color_primaries"
          // RGB has no chroma to place.
          + (lossless ? "" : ",chroma_location"), folder.file("a.mkv"),
      ])
      let lines = try probe.wait().lines
      #expect(lines == [expected])
    }
  }
}
