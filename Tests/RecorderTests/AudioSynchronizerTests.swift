import Recorder
import Testing

/// A device with a clock of its own, timestamps that jitter, and a resampler that does what the synchroniser says.
private struct Simulation {
  let partsPerMillion: Double
  let jitter: Double
  var synchronizer = Synchronizer()
  /// True seconds, and the seconds of sound placed so far.
  var (now, placed) = (0.0, 0.0)
  var shifted = 0.0
  var random: UInt64 = 1

  init(partsPerMillion: Double, jitter: Double = 0) { (self.partsPerMillion, self.jitter) = (partsPerMillion, jitter) }

  /// Uniform in -1…1: a linear congruential generator (Knuth's MMIX constants), the same in every run.
  mutating func noise() -> Double {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(random >> 11) / Double(1 << 52) - 1
  }

  /// Captures one block of 10 ms of the device's clock, which is fast by `partsPerMillion`.
  mutating func step(isFirst: Bool = false, afterHole: Bool = false, clockError: Double = 0) {
    let duration = 0.01
    let error = now + jitter * noise() + clockError - placed
    let decision = synchronizer.decide(
      error: error, duration: duration, isFirst: isFirst, afterHole: afterHole)
    placed += decision.shift + duration * (1 + decision.stretch)
    shifted += abs(decision.shift)
    now += duration / (1 + partsPerMillion / 1_000_000)
  }

  /// How far the sound is off, in seconds.
  var skew: Double { abs(placed - now) }
}

@Suite struct AudioSynchronizerTests {
  /// Case A01.
  @Test(arguments: [-1000.0, -200, -37, 0, 200, 1000], [0, 0.003])
  func aDriftingClockStaysInStepForTwelveHours(partsPerMillion: Double, jitter: Double) {
    var simulation = Simulation(partsPerMillion: partsPerMillion, jitter: jitter)
    simulation.step(isFirst: true)
    let start = simulation.shifted
    var worst = 0.0
    for _ in 0..<(12 * 3600 * 100) {
      simulation.step()
      worst = max(worst, simulation.skew)
    }
    #expect(worst < 0.02)
    // The drift has been learnt: nothing of it is left to be off by.
    #expect(simulation.skew < 0.001)
    // All by stretching: nothing was cut or filled in.
    #expect(simulation.shifted == start)
  }

  @Test func withoutCorrectionItWouldDriftAway() {
    var simulation = Simulation(partsPerMillion: 200)
    simulation.step(isFirst: true)
    for _ in 0..<360_000 { simulation.now += 0.01 / 1.0002; simulation.placed += 0.01 }
    #expect(abs(simulation.skew - 0.72) < 0.001)
  }

  @Test(arguments: [0.3, -0.2, 0.0004])
  func aDevicesFirstBlockIsPutExactlyInItsPlace(error: Double) {
    var synchronizer = Synchronizer()
    let decision = synchronizer.decide(error: error, duration: 0.01, isFirst: true, afterHole: false)
    #expect(decision.shift == error)
    #expect(decision.stretch == 0)
  }

  @Test(arguments: [0.3, 0.02, -0.02])
  func aKnownHoleIsFilledAtOnce(error: Double) {
    var synchronizer = Synchronizer()
    _ = synchronizer.decide(error: 0, duration: 0.01, isFirst: true, afterHole: false)
    #expect(synchronizer.decide(error: error, duration: 0.01, isFirst: false, afterHole: true).shift == error)
  }

  @Test func aKnownHoleWithoutLossTearsNothing() {
    var synchronizer = Synchronizer()
    #expect(synchronizer.decide(error: 0.004, duration: 0.01, isFirst: false, afterHole: true).shift == 0)
  }

  @Test func oneWrongTimeIsOutlived() {
    var simulation = Simulation(partsPerMillion: 100)
    simulation.step(isFirst: true)
    for _ in 0..<1000 { simulation.step() }
    for _ in 0..<15 { simulation.step(clockError: 0.6) }
    for _ in 0..<1000 { simulation.step() }
    #expect(simulation.shifted == 0)
    #expect(simulation.skew < 0.005)
  }

  @Test func anErrorThatLastsIsPutRightOnce() {
    var simulation = Simulation(partsPerMillion: 0)
    simulation.step(isFirst: true)
    simulation.now += 0.2
    for _ in 0..<30 { simulation.step() }
    #expect(abs(simulation.shifted - 0.2) < 0.002)
    #expect(simulation.skew < 0.002)
  }

  @Test(arguments: [0.045, -0.045])
  func belowTheThresholdItIsStretchedWithoutBeingHeard(error: Double) {
    var simulation = Simulation(partsPerMillion: 0)
    simulation.step(isFirst: true)
    simulation.now += error
    var worst = 0.0
    for _ in 0..<6000 {
      let before = simulation.placed
      simulation.step()
      worst = max(worst, abs(simulation.placed - before - 0.01) / 0.01)
    }
    #expect(simulation.shifted == 0)
    #expect(simulation.skew < 0.001)
    #expect(worst <= 0.003_001)
  }

  @Test func anotherDeviceBeginsWithoutTheLastOnesDrift() {
    var simulation = Simulation(partsPerMillion: 1000)
    simulation.step(isFirst: true)
    for _ in 0..<10_000 { simulation.step() }
    var synchronizer = simulation.synchronizer
    #expect(synchronizer.decide(error: 0, duration: 0.01, isFirst: false, afterHole: false).stretch != 0)
    synchronizer.reset()
    #expect(synchronizer == Synchronizer())
  }
}
