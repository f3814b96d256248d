import Capture
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing

@testable import Recorder

/// Feeds a lane blocks of 10 ms of a tone.
private final class Feeder {
  let lane: AudioLane
  let gaps: Gaps
  private let format: AudioFormat
  private var phase = 0

  final class Gaps { var list: [Gap] = [] }

  init(_ format: AudioFormat, epoch: Int64 = 0) {
    let gaps = Gaps()
    (self.gaps, self.format) = (gaps, format)
    lane = AudioLane(name: "microphone", epoch: epoch) { gaps.list.append($0) }
  }

  /// Places `count` hundredths of a second one after the other, the first at `time` seconds.
  func feed(_ count: Int, at time: Double, isBeginning: Bool = false, hole: AudioHole = .none) throws {
    // As many blocks as they fill.
    let rate = format.sampleRate * format.channels / 100 > AudioBlock.capacity ? 200 : 100
    let frames = format.sampleRate / rate
    for index in 0..<count * rate / 100 {
      var block = AudioBlock()
      block.format = format
      block.frames = frames
      block.time = Int64((time + Double(index) / Double(rate)) * 1e9)
      block.hole = index == 0 ? hole : .none
      block.isBeginning = index == 0 && isBeginning
      for frame in 0..<frames {
        let sample = 0.5 * Float(sin(2 * .pi * 1000 * Double(phase) / Double(format.sampleRate)))
        for channel in 0..<format.channels { block.samples[frame * format.channels + channel] = sample }
        phase += 1
      }
      try lane.place(block)
    }
  }

  /// Takes `seconds` of both channels.
  func take(_ seconds: Double) -> (left: [Float], right: [Float]) {
    let frames = Int(seconds * 48_000)
    var mixed = [Float](repeating: 0, count: frames * 2)
    mixed.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { lane.take(frames, addingTo: base) }
    }
    return (
      stride(from: 0, to: mixed.count, by: 2).map { mixed[$0] },
      stride(from: 1, to: mixed.count, by: 2).map { mixed[$0] }
    )
  }
}

@Suite struct AudioLaneTests {
  /// A device that is missing after it was switched on is another gap than the time before.
  @Test func beingSwitchedOffAndBeingMissingAreTwoGaps() throws {
    let feeder = Feeder(.mix)
    try feeder.feed(20, at: 0)
    feeder.lane.fill(to: 24_000, because: .off)
    feeder.lane.fill(to: 36_000, because: .lost)
    feeder.lane.fill(to: 40_800, because: .serverLost)
    feeder.lane.fill(to: 48_000, because: .off)
    feeder.lane.finish()
    let gaps = feeder.gaps.list
    #expect(gaps.map(\.reason) == ["it was switched off", "the device was not there", "it was switched off"])
    #expect(gaps.map(\.end) == [24_000, 40_800, 48_000].map { Timestamp(frame: $0) })
    #expect(gaps.dropFirst().map(\.start) == gaps.dropLast().map(\.end))
    #expect(abs((gaps.first?.start.seconds ?? 0) - 0.2) < 0.001)
  }

  @Test(arguments: [8000, 16_000, 44_100, 48_000, 96_000], [1, 2, 4, 8])
  func anyFormatComesOutAtItsLevelAndPitch(rate: Int, channels: Int) throws {
    let feeder = Feeder(AudioFormat(sampleRate: rate, channels: channels))
    try feeder.feed(100, at: 0, isBeginning: true)
    #expect(abs(Double(feeder.lane.end) - 48_000) < 480)
    let (left, right) = feeder.take(0.9)
    for side in [left, right] where channels <= 2 {
      #expect(abs(decibels(amplitude(of: 1000, in: side.seconds(0.1, 0.9)), over: 0.5)) < 0.1)
      #expect(abs(pitch(of: side) - 1000) < 0.2)
    }
    // More channels are folded down; nothing of them is lost or one-sided.
    #expect(left == right)
    #expect(feeder.gaps.list.isEmpty)
  }

  @Test func whatWasHeardBeforeTheEpochIsLeftOut() throws {
    let feeder = Feeder(AudioFormat(sampleRate: 48_000, channels: 2))
    try feeder.feed(20, at: -0.105, isBeginning: true)
    #expect(abs(Double(feeder.lane.end) - 0.095 * 48_000) < 48)
    #expect(feeder.gaps.list.isEmpty)
  }

  @Test func aLateStartIsSilenceAndAGap() throws {
    let feeder = Feeder(AudioFormat(sampleRate: 48_000, channels: 1), epoch: 0)
    try feeder.feed(20, at: 0.25, isBeginning: true)
    let left = feeder.take(0.4).left
    #expect(onset(in: left, above: 0.001).map { abs($0 - 12_000) <= 2 } == true)
    #expect(
      feeder.gaps.list == [
        Gap(
          track: "microphone", start: .zero, end: Timestamp(seconds: 0.25), reason: "no sound arrived")
      ])
  }

  @Test(arguments: [AudioHole.overrun, .backlog])
  func aHoleIsSilenceOfItsLengthAndAGapWithTheReason(hole: AudioHole) throws {
    let feeder = Feeder(AudioFormat(sampleRate: 48_000, channels: 2))
    try feeder.feed(20, at: 0, isBeginning: true)
    try feeder.feed(20, at: 0.5, hole: hole)
    let left = feeder.take(0.65).left
    #expect(left.seconds(0.21, 0.499).allSatisfy { $0.magnitude < 0.001 })
    #expect(amplitude(of: 1000, in: left.seconds(0.51, 0.65)) > 0.45)
    let gap = try #require(feeder.gaps.list.first)
    #expect(feeder.gaps.list.count == 1)
    #expect(abs(gap.start.seconds - 0.2) < 0.001)
    #expect(abs(gap.end.seconds - 0.5) < 0.001)
    #expect(gap.reason == hole.reason)
  }

  @Test func soundThatComesAfterItsTimeWasMixedIsLeftOut() throws {
    let feeder = Feeder(AudioFormat(sampleRate: 48_000, channels: 2))
    try feeder.feed(10, at: 0, isBeginning: true)
    feeder.lane.fill(to: 24_000, because: .stalled)
    // 0.1 s to 0.5 s come too late; what follows is in its place.
    try feeder.feed(60, at: 0.1)
    let left = feeder.take(0.65).left
    #expect(left.seconds(0.11, 0.499).allSatisfy { $0.magnitude < 0.001 })
    #expect(amplitude(of: 1000, in: left.seconds(0.51, 0.65)) > 0.45)
    #expect(feeder.gaps.list.map(\.reason) == [AudioHole.stalled.reason])
    #expect(abs(Double(feeder.lane.end) - 0.7 * 48_000) < 480)
  }

  /// Case A10.
  @Test func twentySecondsWithoutAWordShiftNothing() throws {
    let feeder = Feeder(AudioFormat(sampleRate: 48_000, channels: 2))
    try feeder.feed(100, at: 0, isBeginning: true)
    var left = feeder.take(0.9).left
    // The mix waits in vain, and goes on in tenths of a second.
    for step in 10..<210 {
      feeder.lane.fill(to: Int64(step + 1) * 4800, because: .stalled)
      left += feeder.take(0.1).left
    }
    try feeder.feed(50, at: 21, hole: .stalled)
    left += feeder.take(0.1).left + feeder.take(0.4).left
    #expect(left.seconds(1.001, 20.999).allSatisfy { $0 == 0 })
    #expect(amplitude(of: 1000, in: left.seconds(0.5, 0.98)) > 0.49)
    #expect(amplitude(of: 1000, in: left.seconds(21.01, 21.4)) > 0.49)
    let start = try #require(onset(in: left.seconds(20.9, 21.1), above: 0.01))
    #expect(abs(start - 4800) <= 4)
    let gap = try #require(feeder.gaps.list.first)
    #expect(feeder.gaps.list.count == 1)
    #expect(abs(gap.start.seconds - 1) < 0.001 && abs(gap.end.seconds - 21) < 0.001)
    #expect(gap.reason == AudioHole.stalled.reason)
  }

  @Test func silenceAtTheEndIsAGapToo() throws {
    let feeder = Feeder(AudioFormat(sampleRate: 48_000, channels: 2))
    try feeder.feed(10, at: 0, isBeginning: true)
    feeder.lane.fill(to: 48_000, because: .lost)
    feeder.lane.finish()
    #expect(feeder.gaps.list.map(\.end) == [Timestamp(seconds: 1)])
    #expect(feeder.gaps.list.map(\.reason) == [AudioHole.lost.reason])
  }
}
