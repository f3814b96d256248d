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

  @Test(
    "begins at the very sample, wherever it is asked to",
    arguments: [0, 1, 480, 990, 1000, 1003, 1500, 1999] as [Int64])
  func seeking(_ start: Int64) throws {
    let session = try RecordedSession(Shot.series(2), length: 3000) { $0.tone = 1000 }
    let sound = try Self.read(session.timeline(), from: start, 24_000)
    #expect(sound.count == 24_000)
    // What was recorded there: silence, and from the first second on a sine of 1 kHz.
    let expected = (0..<24_000).map { frame -> Float in
      let index = Int(start) * 48 + frame - 48_000
      return index < 0 ? 0 : 0.5 * sinf(2 * .pi * 1000 * Float(index % 48) / 48_000)
    }
    let errors = zip(sound, expected).map { abs($0 - $1) }
    // AAC smears the tone's sudden beginning over its windows, 2048 frames; elsewhere it is near.
    let onset = 48_000 - Int(start) * 48
    for (index, error) in errors.enumerated() where abs(index - onset) > 2048 {
      #expect(error < 0.03, "frame \(index)")
      if error >= 0.03 { break }
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

  @Test("goes on from file to file without a hole or a repetition")
  func files() throws {
    let session = try RecordedSession(
      RecordedSession.Recipe(
        files: [Shot.series(2), Shot.series(2, from: 1000)], starts: [0, 1000], length: 2000, tone: 0))
    let sound = try Self.read(session.timeline(), from: 0, 96_000)
    #expect(sound.count == 96_000)
    // The border itself is each encoder's own beginning and end; beside it the sine is in its phase.
    for frame in [30_000, 44_000, 52_000, 60_000, 90_000] {
      #expect(abs(sound[frame] - 0.5 * sinf(2 * .pi * 1000 * Float(frame % 48) / 48_000)) < 0.03, "frame \(frame)")
    }
  }
}
