import Testing

@testable import Recorder

/// An input's gain, carried out on a sample of 1 that never changes: the sum is the gain.
@Suite struct AudioGainTests {
  /// What comes of `frames` frames, added in pieces of `piece`.
  private func sum(_ ramp: inout AudioGainRamp, from first: Int64 = 0, frames: Int, piece: Int = 1024) -> [Float] {
    let source = [Float](repeating: 1, count: piece * 2)
    var result: [Float] = []
    while result.count < frames {
      var target = [Float](repeating: 0, count: piece * 2)
      ramp.add(source, to: &target, from: first + Int64(result.count), count: piece)
      result += stride(from: 0, to: target.count, by: 2).map { target[$0] }
      #expect(stride(from: 0, to: target.count, by: 2).allSatisfy { target[$0] == target[$0 + 1] })
    }
    return Array(result.prefix(frames))
  }

  @Test(arguments: [64, 480, 1000, 1024, 4608])
  func itGoesEvenlyFromOneToTheNextFromItsFrameOn(piece: Int) {
    let gain = AudioGain(0)
    var ramp = AudioGainRamp(gain)
    gain.set(20, at: 1500)
    #expect(gain.decibels == 20)
    let gains = sum(&ramp, frames: 4608, piece: piece)
    #expect(gains[..<1500].allSatisfy { $0 == 1 })
    #expect(gains[1980...].allSatisfy { $0 == 10 })
    for index in 1500..<1980 { #expect(abs(gains[index] - (1 + 9 * Float(index - 1500) / 480)) < 0.000_1) }
  }

  @Test func aSecondChangeBeginsWhereTheFirstHasCome() {
    let gain = AudioGain(0)
    var ramp = AudioGainRamp(gain)
    gain.set(20, at: 100)
    gain.set(-60, at: 340)
    let gains = sum(&ramp, frames: 2048)
    // Half-way to ten times, then down; no step is larger than the larger ramp's.
    #expect(abs(gains[340] - 5.5) < 0.000_1)
    #expect(zip(gains, gains.dropFirst()).allSatisfy { abs($1 - $0) < 9.0 / 480 + 0.001 })
    #expect(gains[820...].allSatisfy { abs($0 - 0.001) < 0.000_001 })
  }

  @Test func aMomentThatIsMixedAlreadyCountsFromNowOn() {
    let gain = AudioGain(-6)
    var ramp = AudioGainRamp(gain)
    let before = sum(&ramp, frames: 1024)
    gain.set(0, at: 10)
    let after = sum(&ramp, from: 1024, frames: 1024)
    #expect(before.allSatisfy { abs($0 - 0.501_19) < 0.000_01 })
    #expect(abs(after[0] - before[0]) < 0.000_01)
    #expect(after[480...].allSatisfy { $0 == 1 })
  }
}
