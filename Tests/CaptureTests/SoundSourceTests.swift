import Capture
import Glibc
import SessionModel
import TestSupport
import Testing
import Threading

/// What a source delivered, with the time line that its blocks gave.
private struct Capture {
  var samples: [Float] = []
  var blocks: [(time: Int64, frames: Int)] = []
  var format = AudioFormat(sampleRate: 0, channels: 0)
  var channel: [Float] { stride(from: 0, to: samples.count, by: format.channels).map { samples[$0] } }
}

/// Reads `frames` frames from `source`.
private func record(
  _ frames: Int, from source: inout some AudioSource & ~Copyable, settling: Int = 0
) throws -> Capture {
  var (capture, skipped) = (Capture(), 0)
  var block = AudioBlock()
  while capture.blocks.reduce(0, { $0 + $1.frames }) < frames {
    guard try source.read(into: &block, until: MonotonicClock.now() + 5_000_000_000) else {
      throw TestFailure("no sound for five seconds")
    }
    capture.format = block.format
    if skipped < settling {
      skipped += block.frames
      continue
    }
    capture.blocks.append((block.time, block.frames))
    capture.samples += UnsafeBufferPointer(start: block.samples, count: block.frames * block.format.channels)
  }
  return capture
}

@Suite struct SoundSourceTests {
  @Test func theDefaultOutputsMonitorDeliversWhatIsPlayed() throws {
    let server = try SoundServer()
    var source = try PulseSource(source: "@DEFAULT_MONITOR@", server: server.address)
    #expect(source.format == AudioFormat(sampleRate: 48_000, channels: 2))
    #expect(source.deviceName == "desktop.monitor")
    let player = try server.playTone(1000, amplitude: 0.25, seconds: 3)
    let capture = try record(48_000 * 2, from: &source)
    let start = try #require(onset(in: capture.channel, above: 0.01))
    let tone = Array(capture.channel[(start + 4800)...].prefix(24_000))
    #expect(abs(decibels(usualAmplitude(of: 1000, in: tone), over: 0.25)) < 0.1)
    #expect(abs(pitch(of: tone) - 1000) < 0.1)
    _ = player
  }

  @Test func blocksAreSmallAndFollowOneAnother() throws {
    let server = try SoundServer()
    var source = try PulseSource(source: "@DEFAULT_MONITOR@", server: server.address)
    let capture = try record(96_000, from: &source, settling: 9600)
    let frames = capture.blocks.map(\.frames).sorted()
    // Asked for are 480; an idle sink without a reader in a hurry would send pieces of seconds.
    #expect(frames[frames.count / 2] <= 960)
    let first = try #require(capture.blocks.first)
    var expected = first.time
    let errors = capture.blocks.map { block in
      defer { expected += Int64(block.frames) * 1_000_000_000 / 48_000 }
      return abs(block.time - expected)
    }.sorted()
    // Half of all blocks lie within 5 ms of where counting samples puts them.
    #expect(errors[errors.count / 2] < 5_000_000)
  }

  @Test(arguments: [8000, 16_000, 44_100, 96_000])
  func theDevicesOwnRateIsUsed(rate: Int) throws {
    let server = try SoundServer(desktopRate: rate)
    var source = try PulseSource(source: "desktop.monitor", server: server.address)
    #expect(source.format.sampleRate == rate)
    let player = try server.playTone(1000, seconds: 3)
    let capture = try record(rate * 3 / 2, from: &source)
    let start = try #require(onset(in: capture.channel, above: 0.01))
    let tone = Array(capture.channel[(start + rate / 10)...].prefix(rate / 2))
    #expect(abs(pitch(of: tone, sampleRate: rate) - 1000) < 1)
    _ = player
  }

  @Test func aMissingServerAndAMissingSourceAreNamed() throws {
    let folder = try TemporaryFolder()
    let nowhere = #expect(throws: RecorderError.self) {
      _ = try PulseSource(source: "@DEFAULT_MONITOR@", server: "unix:\(folder.file("none"))")
    }
    #expect(nowhere?.code == .unavailable)
    #expect(nowhere?.message == "No sound server answers (Connection refused).")
    let server = try SoundServer()
    let unknown = #expect(throws: RecorderError.self) {
      _ = try PulseSource(source: "nonesuch", server: server.address)
    }
    #expect(unknown?.code == .unavailable)
    #expect(unknown?.message == "There is no sound device pulse:nonesuch.")
    for (asked, there) in [
      ("micrphone", "pulse:microphone, pulse:desktop.monitor and pulse:feed.monitor"),
      ("feed", "pulse:feed.monitor, pulse:desktop.monitor and pulse:microphone"),
      ("FEED.MONITR", "pulse:feed.monitor, pulse:desktop.monitor and pulse:microphone"),
    ] {
      let slip = #expect(throws: RecorderError.self) {
        _ = try PulseSource(source: asked, server: server.address, explains: true)
      }
      #expect(slip?.message == "There is no sound device pulse:\(asked); there are \(there).")
    }
  }

  @Test func aServerThatEndsIsNoticed() throws {
    let server = try SoundServer()
    var source = try PulseSource(source: "@DEFAULT_MONITOR@", server: server.address)
    _ = try record(4800, from: &source)
    try server.kill()
    var block = AudioBlock()
    var failure: RecorderError?
    do throws(RecorderError) {
      while try source.read(into: &block, until: MonotonicClock.now() + 5_000_000_000) {}
    } catch { failure = error }
    #expect(failure?.code == .sourceLost)
  }

  @Test func aMonoPCMThroughALSA() throws {
    let server = try SoundServer()
    var source = try ALSASource(pcm: server.alsaPCM(source: "microphone"))
    #expect(source.format == AudioFormat(sampleRate: 48_000, channels: 2))
    let player = try server.playTone(440, amplitude: 0.5, seconds: 3, on: "feed")
    let capture = try record(48_000 * 2, from: &source)
    let start = try #require(onset(in: capture.channel, above: 0.01))
    let tone = Array(capture.channel[(start + 4800)...].prefix(24_000))
    #expect(abs(decibels(usualAmplitude(of: 440, in: tone), over: 0.5)) < 0.1)
    _ = player
  }

  @Test(arguments: [16_000, 44_100])
  func aPCMOfAnotherRateThroughALSA(rate: Int) throws {
    let server = try SoundServer()
    var source = try ALSASource(pcm: server.alsaPCM(source: "microphone", rate: rate))
    #expect(source.format.sampleRate == rate)
    let player = try server.playTone(1000, seconds: 3, on: "feed")
    let capture = try record(rate * 2, from: &source)
    let start = try #require(onset(in: capture.channel, above: 0.01))
    let tone = Array(capture.channel[(start + rate / 10)...].prefix(rate / 2))
    #expect(abs(pitch(of: tone, sampleRate: rate) - 1000) < 1)
    _ = player
  }

  @Test func missingPCMsAreNamed() throws {
    let unknown = #expect(throws: RecorderError.self) { _ = try ALSASource(pcm: "nonesuch") }
    #expect(unknown?.code == .unavailable)
    #expect(unknown?.message == "There is no sound device alsa:nonesuch.")
    let explained = #expect(throws: RecorderError.self) { _ = try ALSASource(pcm: "lavrat", explains: true) }
    #expect(explained?.message.hasPrefix("There is no sound device alsa:lavrat; there are alsa:lavrate, ") == true)
    #expect(explained?.message.hasSuffix(" more.") == true)
    let server = try SoundServer()
    let source = #expect(throws: RecorderError.self) {
      _ = try ALSASource(pcm: server.alsaPCM(source: "nonesuch"))
    }
    #expect(source?.code == .unavailable)
  }
}
