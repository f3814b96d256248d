import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Replay

@Suite("A session's sound as one stream")
struct SoundCursorTests {
  /// The left channel of `count` frames from `start` ms on, read in pieces of `piece` frames.
  private static func read(
    _ timeline: Timeline, from start: Int64, _ count: Int, piece: Int = 700
  ) throws -> [Float] {
    var cursor = SoundCursor(timeline)
    try cursor.seek(to: .milliseconds(start))
    var left: [Float] = []
    let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: piece * 2)
    defer { buffer.deallocate() }
    while left.count < count {
      let room = min(piece, count - left.count)
      let frames = try cursor.read(into: UnsafeMutableBufferPointer(rebasing: buffer[..<(room * 2)]))
      left += (0..<frames).map { buffer[$0 * 2] }
      if frames < room { break }
    }
    return left
  }

  /// How far `sound` is from the recorded sine at worst, moved by at most half a millisecond, Matroska's rounding.
  private static func error(of sound: ArraySlice<Float>) -> Float {
    (-24...24).map { shift in
      sound.indices.map { index in
        abs(sound[index] - 0.5 * sinf(2 * .pi * 1000 * Float((index + shift + 48) % 48) / 48_000))
      }.max() ?? 0
    }.min() ?? 0
  }

  @Test("begins where it is asked to", arguments: [0, 1, 480, 990, 1000, 1003, 1500, 1999] as [Int64])
  func seeking(_ start: Int64) throws {
    let session = try RecordedSession(Shot.series(2), length: 3000) { $0.tone = 1000 }
    let sound = try Self.read(session.timeline(), from: start, 48_000)
    #expect(sound.count == 48_000)
    // Silence up to the first second, a sine from there on; AAC smears its beginning over 2048 frames.
    let onset = 48_000 - Int(start) * 48
    #expect(sound[..<max(0, onset - 2048)].allSatisfy { abs($0) < 0.01 })
    let steady = min(max(0, onset + 2048), 48_000)
    #expect(Self.error(of: sound[steady...]) < 0.03)
    if onset > 0, onset < 48_000 {
      // The sine passes half of its height four frames after it begins.
      let first = try #require(sound.firstIndex { abs($0) > 0.25 })
      #expect(abs(first - onset - 4) < 48)
    }
  }

  @Test("ends with the session, with silence where there is no sound any more")
  func ending() throws {
    let session = try RecordedSession(Shot.series(2), length: 3000) { $0.tone = 0 }
    let timeline = try session.timeline()
    #expect(try Self.read(timeline, from: 2500, 96_000).count == 24_000)
    #expect(try Self.read(timeline, from: 3000, 96_000).isEmpty)
    // The track ends after a second, the session after three.
    let shorter = try RecordedSession(
      RecordedSession.Recipe(files: [Shot.series(2), []], starts: [0, 1000], length: 3000, tone: 0))
    let media = try run(["find", shorter.folder.path, "-name", "000002.mkv"]).lines[0]
    try writeFile(media, [])
    let sound = try Self.read(shorter.timeline(), from: 500, 96_000 + 48_000)
    #expect(sound.count == 120_000)
    #expect(abs(decibels(amplitude(of: 1000, in: sound[..<20_000]), over: 0.5)) < 0.5)
    #expect(sound[30_000...].allSatisfy { $0 == 0 })
  }

  @Test("goes on from file to file in step")
  func files() throws {
    let session = try RecordedSession(
      RecordedSession.Recipe(
        files: [Shot.series(2), Shot.series(2, from: 1000)], starts: [0, 1000], length: 2000, tone: 0))
    let sound = try Self.read(session.timeline(), from: 0, 96_000)
    #expect(sound.count == 96_000)
    // At the border itself is each encoder's own beginning and end.
    #expect(Self.error(of: sound[4800..<47_000]) < 0.03)
    #expect(Self.error(of: sound[50_000..<90_000]) < 0.03)
    var (quiet, longest) = (0, 0)
    for sample in sound[4800..<90_000] {
      quiet = abs(sample) < 0.1 ? quiet + 1 : 0
      longest = max(longest, quiet)
    }
    // An encoder's first packet lies before its file's time 0, where Matroska has none: its second one fades in.
    #expect(longest < 1024)
  }
}
