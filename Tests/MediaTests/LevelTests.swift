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

  /// Measures `samples` in pieces of 1024 frames, from block `first` on.
  private func measure(_ samples: [Float], from first: Int = 0) throws -> SoundMeasure {
    var meter = try LoudnessMeter()
    var (measure, count) = (SoundMeasure(), 0)
    func add(_ block: SoundBlock) {
      if count >= first { measure.add(block) }
      count += 1
    }
    for start in stride(from: 0, to: samples.count, by: 2048) {
      Array(samples[start..<min(start + 2048, samples.count)]).withUnsafeBufferPointer { meter.add($0, emit: add) }
    }
    meter.finish(emit: add)
    return measure
  }

  private func reference(_ level: Double, seconds: Double) -> [Float] {
    sine(1000, Float(pow(10, level / 20)), seconds: seconds)
  }

  @Test func loudnessOfTheReferenceTone() throws {
    // EBU Tech 3341, case 1: a stereo sine of 1 kHz at -23 dBFS is -23 LUFS.
    let measure = try measure(reference(-23, seconds: 20))
    #expect(abs((measure.loudness ?? 0) + 23) <= 0.1)
    #expect(abs((measure.peak ?? 0) + 23) < 0.01)
    #expect(measure.silentShare < 0.01)
  }

  /// EBU Tech 3341, cases 3 and 4: what is much softer than the rest does not count.
  @Test(arguments: [
    [(-36.0, 10.0), (-23, 60), (-36, 10)], [(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)],
  ])
  func whatIsMuchSofterDoesNotCount(parts: [(level: Double, seconds: Double)]) throws {
    let measure = try measure(parts.flatMap { reference($0.level, seconds: $0.seconds) })
    #expect(abs((measure.loudness ?? 0) + 23) <= 0.1)
  }

  /// A stretch from the middle is measured as if it were all.
  @Test func aStretchIsMeasuredByItself() throws {
    let samples = reference(-10, seconds: 5) + [Float](repeating: 0, count: 96_000) + reference(-30, seconds: 5)
    let all = try measure(samples)
    #expect(abs((all.loudness ?? 0) + 10) <= 0.2 && abs((all.peak ?? 0) + 10) < 0.01)
    let rest = try measure(samples, from: 60)
    #expect(abs((rest.loudness ?? 0) + 30) <= 0.1 && abs((rest.peak ?? 0) + 30) < 0.01)
    #expect(rest.silentShare < 0.001)
    let silence = try measure(samples, from: 120)
    #expect(silence.loudness == nil && silence.peak == nil && silence.silentShare == 1)
  }

  @Test func silenceHasNoLoudnessAndNoPeak() throws {
    let silence = [Float](repeating: 0, count: 96_000)
    let measure = try measure(silence)
    #expect(measure.loudness == nil)
    #expect(measure.peak == nil)
    #expect(measure.silentShare == 1)
    let both = try self.measure(silence + sine(1000, 0.5, seconds: 3))
    #expect(abs(both.silentShare - 0.25) < 0.001)
  }
}
