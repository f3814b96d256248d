import Archive
import Replay
import SessionModel
import TestSupport
import Testing

@Suite("The picture at a moment")
struct FrameTests {
  private static func colour(_ session: RecordedSession, at milliseconds: Int64) throws -> UInt32 {
    var finder = FrameFinder(try session.timeline())
    return try finder.picture(at: .milliseconds(milliseconds)).colours[0]
  }

  @Test("is the last one that appeared, whatever the keyframes; the first before all; the last until the end")
  func exact() throws {
    let session = try RecordedSession(Shot.series(12, from: 50, keyframes: 5), length: 4000)
    var finder = FrameFinder(try session.timeline())
    let expected: [(Int64, Int)] = [
      (0, 0), (49, 0), (50, 0), (149, 0), (150, 1), (151, 1), (549, 4), (550, 5), (649, 5), (650, 6), (1149, 10),
      (1150, 11), (3999, 11), (4000, 11), (250, 2),
    ]
    for (time, index) in expected {
      let picture = try finder.picture(at: .milliseconds(time))
      #expect(picture.time == .milliseconds(50 + Int64(index) * 100), "at \(time) ms")
      #expect(picture.colours[0] == 0x010203 * UInt32(index + 1), "at \(time) ms")
    }
    // The second of these is a keyframe's last nanosecond: the file's ticks of a millisecond must not round it up.
    #expect(try finder.picture(at: .milliseconds(150) + -1).time == .milliseconds(50))
    #expect(try finder.picture(at: .milliseconds(550) + -1).time == .milliseconds(450))
  }

  @Test(
    "has the true size, each pixel, also where the encoder needs padding",
    arguments: [PixelSize(width: 641, height: 479), PixelSize(width: 1, height: 1), PixelSize(width: 3, height: 2000)])
  func oddSizes(_ size: PixelSize) throws {
    let session = try RecordedSession([Shot(milliseconds: 0, colour: 0x3366CC)], length: 500) { $0.size = size }
    var finder = FrameFinder(try session.timeline())
    let picture = try finder.picture(at: .zero)
    #expect(picture.size == size)
    #expect(picture.colours == RecordedSession.pixels(0x3366CC, size))
  }

  @Test("as PNG has every pixel, as another program decodes it")
  func png() throws {
    let size = PixelSize(width: 21, height: 13)
    let session = try RecordedSession([Shot(milliseconds: 0, colour: 0x3366CC)], length: 500) { $0.size = size }
    var finder = FrameFinder(try session.timeline())
    let folder = try TemporaryFolder()
    try writeFile(folder.file("a.png"), finder.picture(at: .zero).png())
    try run(["convert", folder.file("a.png"), "-depth", "8", "rgb:\(folder.file("a.rgb"))"])
    let bytes = RecordedSession.pixels(0x3366CC, size).flatMap { colour in
      [UInt8(colour >> 16 & 0xFF), UInt8(colour >> 8 & 0xFF), UInt8(colour & 0xFF)]
    }
    #expect(try readFile(folder.file("a.rgb")) == bytes)
  }

  @Test("in 4:2:0 is within 4 of every colour")
  func lossy() throws {
    let session = try RecordedSession([Shot(milliseconds: 0, colour: 0xC04010)], length: 500) { $0.isLossless = false }
    let colour = try Self.colour(session, at: 100)
    for shift in [16, 8, 0] as [UInt32] {
      let (is_, should) = (Int(colour >> shift & 0xFF), Int(0xC04010 >> shift & 0xFF))
      #expect(abs(is_ - should) <= 4)
    }
  }

  @Test("of several files: the last of a file stands until the next file's first")
  func segments() throws {
    let session = try RecordedSession(
      RecordedSession.Recipe(
        files: [
          [Shot(milliseconds: 0, colour: 1), Shot(milliseconds: 400, colour: 2)],
          [Shot(milliseconds: 1200, colour: 3), Shot(milliseconds: 1300, colour: 4)],
        ],
        starts: [0, 1000], length: 2000))
    for (time, colour) in [(399, 1), (400, 2), (999, 2), (1000, 2), (1199, 2), (1200, 3), (1299, 3), (2000, 4)] {
      #expect(try Self.colour(session, at: Int64(time)) == UInt32(colour), "at \(time) ms")
    }
  }

  @Test("of a killed session stands until its last sign of life")
  func interrupted() throws {
    let session = try RecordedSession(Shot.series(2), length: 7000) { $0.isInterrupted = true }
    let timeline = try session.timeline()
    #expect(timeline.duration == .milliseconds(7000))
    #expect(try Self.colour(session, at: 7000) == 0x020406)
    #expect(throws: RecorderError.self) { try timeline.timestamp(of: .offset(.milliseconds(7001))) }
  }

  @Test("A time is an offset, a time of day or an instant of the session; outside of it the error names its length")
  func times() throws {
    let session = try RecordedSession(Shot.series(2), length: 90_500)
    let timeline = try session.timeline()
    // The epoch is 03:15:33 on the session's clock, an hour east of Greenwich.
    for (text, milliseconds) in [
      ("90", 90_000), ("1:30.5", 90_500), ("03:15:43", 10_000), ("2026-11-30T02:15:34Z", 1000),
    ] {
      let position = try #require(TimePosition(text))
      #expect(try timeline.timestamp(of: position) == .milliseconds(Int64(milliseconds)), "\(text)")
    }
    for text in ["90.501", "03:17:04", "03:15:32", "2026-11-30T02:15:32Z"] {
      let position = try #require(TimePosition(text))
      do throws(RecorderError) {
        _ = try timeline.timestamp(of: position)
        Issue.record("\(text) was taken")
      } catch {
        #expect(error.code == .usage)
        #expect(error.message.contains("1:30.500 long"))
      }
    }
  }

  @Test("A damaged media file is told; one without a file too")
  func damaged() throws {
    let session = try RecordedSession(Shot.series(2), length: 1000)
    let media = try run(["find", session.folder.path, "-name", "000001.mkv"]).lines[0]
    try writeFile(media, Array(repeating: 0x55, count: 4000))
    #expect(throws: RecorderError.self) { try Self.colour(session, at: 0) }
    try run(["rm", media])
    do {
      _ = try Self.colour(session, at: 0)
      Issue.record("a picture came from nowhere")
    } catch let error as RecorderError {
      #expect(error.code == .damagedData)
    }
  }

  @Test("What follows a damaged stretch is still found")
  func damagedStretch() throws {
    let session = try RecordedSession(Shot.series(20, keyframes: 5), length: 3000)
    let media = try run(["find", session.folder.path, "-name", "000001.mkv"]).lines[0]
    var bytes = try readFile(media)
    // The second group's keyframe; Matroska has a length in place of its 4-byte start code.
    let packet = Array(session.packets[5].dropFirst(4))
    let place = try #require((0..<bytes.count - packet.count).first { Array(bytes[$0..<$0 + packet.count]) == packet })
    for index in place + 4..<place + packet.count { bytes[index] = 0xFF }
    try writeFile(media, bytes)
    #expect(try Self.colour(session, at: 450) == 0x010203 * 5)
    #expect(try Self.colour(session, at: 1050) == 0x010203 * 11)
  }
}
