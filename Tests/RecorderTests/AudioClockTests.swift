import Glibc
import Recorder
import SessionModel
import TestSupport
import Testing

/// A device whose clock goes wrong, and which fails, held against the time at which its beeps were heard.
@Suite(.serialized) struct AudioClockTests {
  private func options(_ device: ClockedDevice) -> AudioOptions {
    var options = AudioOptions()
    options.microphone = .alsa(pcm: device.pcm)
    options.codec = .pcm
    return options
  }

  /// By how many ms each beep of the recording comes late; those in `ranges` (seconds of the session) must be there.
  private func lateness(
    of recording: AudioRecording, _ track: AudioRecording.Track, in ranges: [ClosedRange<Double>]
  ) throws -> [Double] {
    let first = (recording.epoch / 2_000_000_000 + 1) * 2
    let beeps = (0..<60).map { Double(first + $0 * 2) - Double(recording.epoch) / 1e9 }
    return try beeps.filter { time in ranges.contains { $0.contains(time - 0.3) && $0.contains(time + 0.3) } }.map {
      let start = onset(in: track.left.seconds($0 - 0.25, $0 + 0.25), above: 0.2)
      return (Double(try #require(start)) / 48_000 - 0.25) * 1000
    }
  }

  /// Case A01; `AudioSynchronizerTests` goes on for twelve hours.
  @Test(arguments: [-1000, -200, 0, 200, 1000])
  func aDriftingClockIsCorrected(partsPerMillion: Int) throws {
    let device = try ClockedDevice(partsPerMillion: partsPerMillion)
    let recording = try AudioRecording(options(device))
    try recording.wait(until: 11)
    let end = recording.now
    let track = try recording.finish(at: end)
    let late = try lateness(of: recording, track, in: [0...end.seconds])
    #expect(late.count >= 5)
    #expect(late.allSatisfy { abs($0) < 20 }, "\(late)")
    #expect(late.suffix(2).allSatisfy { abs($0) < 5 }, "\(late)")
    #expect(recording.gaps.isEmpty)
    #expect(abs(track.samples.count / 2 - Int((end.seconds * 48_000).rounded())) <= 1)
  }

  /// Cases A08 and A09: whatever rate and samples the device has, what was agreed on counts, and not what was asked for.
  @Test(arguments: [(8000, 16), (16_000, 32), (44_100, nil), (48_000, 16), (96_000, 32)] as [(Int, Int?)])
  func anyRateIsTheNegotiatedOne(rate: Int, bits: Int?) throws {
    let device = try ClockedDevice(rate: rate, bits: bits)
    let recording = try AudioRecording(options(device))
    // Two even seconds with their surroundings, wherever it begins.
    try recording.wait(until: 4.7)
    let end = recording.now
    let track = try recording.finish(at: end)
    let late = try lateness(of: recording, track, in: [0...end.seconds])
    #expect(late.count >= 2)
    #expect(late.allSatisfy { abs($0) < 20 }, "\(late)")
    let start = Double((recording.epoch / 2_000_000_000 + 1) * 2) - Double(recording.epoch) / 1e9
    for time in [start, start + 2] where time < end.seconds - 0.6 {
      let beep = track.left.seconds(time + 0.003, time + 0.047)
      #expect(abs(pitch(of: beep, window: 0.044) - 1000) < 1, "\(pitch(of: beep, window: 0.044)) Hz")
      #expect(abs(decibels(amplitude(of: 1000, in: beep), over: 0.5)) < 0.3)
    }
  }

  /// The amplitude in a recording's first whole beep of each of `frequencies`, on either side.
  private func beep(
    _ recording: AudioRecording, _ track: AudioRecording.Track, of frequencies: [Double]
  ) -> [[Double]] {
    let start = Double((recording.epoch / 2_000_000_000 + 1) * 2) - Double(recording.epoch) / 1e9
    return [track.left, track.right].map { side in
      frequencies.map { amplitude(of: $0, in: side.seconds(start + 0.005, start + 0.045)) }
    }
  }

  /// Case A14, of a device with many channels.
  @Test(arguments: [(4, 3), (12, 11)])
  func oneChannelOfManyIsHeardOnBothSides(channels: Int, channel: Int) throws {
    let device = try ClockedDevice(channels: channels)
    var options = options(device)
    options.microphoneChannel = channel
    let recording = try AudioRecording(options)
    try recording.wait(until: 2.3)
    let track = try recording.finish(at: recording.now)
    for side in beep(recording, track, of: [Double(channel) * 1000, 1000, 2000]) {
      #expect(abs(decibels(side[0], over: 0.5)) < 0.5)
      #expect(side[1] < 0.005 && side[2] < 0.005)
    }
    #expect(track.left == track.right)
  }

  @Test func channelsThatNobodyCanPlaceAreNamed() throws {
    let many = try ClockedDevice(channels: 12)
    let refused = #expect(throws: RecorderError.self) { try AudioPipeline(self.options(many)) }
    #expect(refused?.code == .usage)
    #expect(refused?.message.hasSuffix("delivers 12 channels at 48000 Hz.") == true)
    #expect(refused?.hint?.contains("--microphone-channel") == true)
    let few = try ClockedDevice()
    var options = options(few)
    options.microphoneChannel = 5
    let missing = #expect(throws: RecorderError.self) { try AudioPipeline(options) }
    #expect(missing?.code == .usage)
    #expect(missing?.message.hasSuffix("has no channel 5.") == true)
  }

  @Test func eightChannelsAreFoldedIntoTwo() throws {
    let recording = try AudioRecording(options(ClockedDevice(channels: 8)))
    try recording.wait(until: 2.3)
    let track = try recording.finish(at: recording.now)
    // 7.1: the first is on the left, the second on the right, the third, in the centre, on both.
    let sides = beep(recording, track, of: [1000, 2000, 3000])
    #expect(sides[0][0] > 0.05 && sides[0][1] < 0.005 && sides[0][2] > 0.05)
    #expect(sides[1][1] > 0.05 && sides[1][0] < 0.005 && sides[1][2] > 0.05)
    #expect(track.samples.allSatisfy { $0.magnitude <= 0.988_55 })
  }

  @Test(arguments: [ClockedDevice.Fault.stall, .vanish])
  func aFaultIsSilenceOfItsLength(fault: ClockedDevice.Fault) throws {
    let device = try ClockedDevice()
    let recording = try AudioRecording(options(device))
    try recording.wait(until: 2.5)
    let begun = recording.now.seconds
    try device.begin(fault)
    try recording.wait(until: begun + 1)
    let busy = ProcessorWait(of: [getpid()])
    device.end(fault)
    let ended = recording.now.seconds
    try waitUntil("sound again") { try device.heard().last?.end == nil }
    let bound = ended + 0.2 + busy.seconds
    try recording.wait(until: ended + 4.5)
    let end = recording.now
    let track = try recording.finish(at: end)
    let gap = try #require(recording.gaps.first)
    #expect(recording.gaps.count == 1, "\(recording.gaps)")
    #expect(gap.reason == (fault == .stall ? "the device delivered nothing" : "the device was not there"))
    #expect(abs(gap.start.seconds - begun) < 0.02)
    // It is there again at the next look, of which there are ten a second.
    #expect((ended - 0.02...bound).contains(gap.end.seconds))
    #expect(track.left.seconds(gap.start.seconds + 0.01, gap.end.seconds - 0.01).allSatisfy { $0.magnitude < 0.000_05 })
    let late = try lateness(of: recording, track, in: [0...gap.start.seconds, gap.end.seconds...end.seconds])
    #expect(late.count >= 2)
    #expect(late.allSatisfy { abs($0) < 20 }, "\(late)")
    #expect(recording.warnings.count == 1)
    #expect(abs(track.samples.count / 2 - Int((end.seconds * 48_000).rounded())) <= 1)
  }

  @Test func aSessionThatBeginsLateHasItsSoundFromTheFirstMomentOn() throws {
    // Longer than there are blocks for.
    let recording = try AudioRecording(options(ClockedDevice()), delay: 3_000_000_000)
    try recording.wait(until: 0.6)
    let track = try recording.finish(at: recording.now)
    #expect(recording.gaps.isEmpty, "\(recording.gaps)")
    // The device is never silent for long.
    for start in stride(from: 0, to: 0.5, by: 0.01) {
      #expect(track.left.seconds(start, start + 0.01).contains { $0 != 0 })
    }
  }

  @Test func overrunsShiftNothing() throws {
    let device = try ClockedDevice()
    let recording = try AudioRecording(options(device))
    var bounds: [(time: Double, end: Double)] = []
    for beat in 1...8 {
      try recording.wait(until: Double(beat) * 0.5)
      let busy = ProcessorWait(of: [getpid()])
      let (count, time) = (try device.heard().count, recording.now.seconds)
      try device.suffer(.overrun)
      try waitUntil("sound again") { try device.heard().count > count && device.heard().last?.end == nil }
      bounds.append((time, time + 0.2 + busy.seconds))
    }
    try recording.wait(until: 6.5)
    let end = recording.now
    let track = try recording.finish(at: end)
    let late = try lateness(of: recording, track, in: [0...end.seconds])
    #expect(late.count >= 2)
    #expect(late.allSatisfy { abs($0) < 20 }, "\(late)")
    #expect(recording.warnings.isEmpty)
    #expect(recording.gaps.allSatisfy { $0.reason == "the device was read too late" })
    // The device is never silent: by 200 ms after an overrun each 10 ms have sound again, until the next.
    let sound = track.left
    for (bound, next) in zip(bounds, bounds.dropFirst().map(\.time) + [end.seconds - 0.1]) {
      for time in stride(from: bound.end, to: next - 0.01, by: 0.01) {
        #expect(sound.seconds(time, time + 0.01).contains { $0 != 0 }, "no sound at \(time)")
      }
    }
  }
}
