import Glibc
import Media
import SessionModel
import TestSupport
import Testing

/// The limiter and the loudness meter.
@Suite struct LevelTests {
  private func sine(_ frequency: Double, _ amplitude: Float, seconds: Double) -> [Float] {
    SoundServer.tone(frequency, amplitude: amplitude, seconds: seconds)
  }

  /// Limits `samples` in blocks of 1024 frames.
  private func limit(_ samples: [Float]) throws -> [Float] {
    var limiter = try Limiter()
    var result: [Float] = []
    for start in stride(from: 0, to: samples.count, by: 2048) {
      let block = Array(samples[start..<min(start + 2048, samples.count)])
      try block.withUnsafeBufferPointer { block in
        try limiter.process(block) { (limited) throws(RecorderError) in result += limited }
      }
    }
    try limiter.finish { (limited) throws(RecorderError) in result += limited }
    return result
  }

  @Test func whatIsBelowTheCeilingComesOutAsItWentIn() throws {
    let samples = sine(1000, 0.8, seconds: 1.01)
    let limited = try limit(samples)
    #expect(limited.count == samples.count)
    #expect(zip(limited, samples).allSatisfy { abs($0 - $1) < 0.000_001 })
  }

  @Test func whatIsAboveItIsMadeSofterAndNotCut() throws {
    let quiet = sine(1000, 0.25, seconds: 0.5)
    let limited = try limit(quiet + sine(1000, 2, seconds: 1) + quiet)
    #expect(limited.count == 192_000)
    // -1 dBFS.
    #expect(limited.allSatisfy { $0.magnitude <= 0.8914 })
    let loud = stride(from: 60_000, to: 140_000, by: 2).map { limited[$0] }
    #expect(usualAmplitude(of: 1000, in: loud) > 0.85)
    #expect(decibels(usualAmplitude(of: 3000, in: loud), over: usualAmplitude(of: 1000, in: loud)) < -40)
    // What comes long before and long after is untouched.
    #expect(zip(limited[..<40_000], quiet).allSatisfy { abs($0 - $1) < 0.000_001 })
    let end = stride(from: 180_000, to: 192_000, by: 2).map { limited[$0] }
    #expect(abs(decibels(usualAmplitude(of: 1000, in: end), over: 0.25)) < 0.1)
  }

  @Test func loudnessOfTheReferenceTone() throws {
    // EBU Tech 3341, case 1: a stereo sine of 1 kHz at -23 dBFS is -23 LUFS.
    var meter = try LoudnessMeter()
    sine(1000, Float(pow(10, -23.0 / 20)), seconds: 20).withUnsafeBufferPointer { meter.add($0) }
    #expect(abs((meter.loudness ?? 0) + 23) <= 0.1)
    #expect(abs((meter.peak ?? 0) + 23) < 0.01)
    #expect(meter.silentShare < 0.01)
  }

  @Test func silenceHasNoLoudnessAndNoPeak() throws {
    var meter = try LoudnessMeter()
    [Float](repeating: 0, count: 96_000).withUnsafeBufferPointer { meter.add($0) }
    #expect(meter.loudness == nil)
    #expect(meter.peak == nil)
    #expect(meter.silentShare == 1)
    sine(1000, 0.5, seconds: 3).withUnsafeBufferPointer { meter.add($0) }
    #expect(abs(meter.silentShare - 0.25) < 0.001)
  }
}
