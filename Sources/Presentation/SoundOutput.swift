package import SessionModel
import Synchronization
import Threading

/// Gives an output its sound, on the output's own thread.
package protocol SoundSource: ~Copyable, SendableMetatype {
  /// Goes to `time` of the session: the next frame read is the one heard then.
  mutating func seek(to time: Timestamp) throws(RecorderError)
  /// Fills `samples` (interleaved floats in `AudioFormat.mix`) with the next frames.
  /// - Returns: frames given; fewer than there is room for only at the end.
  mutating func read(into samples: UnsafeMutableBufferPointer<Float>) throws(RecorderError) -> Int
}

/// The default sound output, on a thread of its own, and the clock that it makes: PulseAudio's, else ALSA's.
package final class SoundOutput: Sendable {
  /// What a device is given to fall silent, in ns: a server that answers takes a few ms.
  private static let patience: Int64 = 1_000_000_000

  private let control: SoundControl
  private let thread: WorkerThread

  /// Starts the thread, which opens the device and stands still until `play`.
  /// - Parameters:
  ///   - volume: 0 (digital silence) to 1.
  ///   - makeSource: makes the source of the sound, on the new thread.
  /// - Throws: `RecorderError` (systemCall) when no thread can be started. A missing device is told by `failure`.
  package init<Source: SoundSource & ~Copyable>(
    volume: Double, makeSource: @escaping @Sendable () throws(RecorderError) -> Source
  ) throws(RecorderError) {
    let control = try SoundControl(volume: volume)
    self.control = control
    thread = try WorkerThread(name: "sound") { Self.run(control, makeSource) }
  }

  deinit {
    control.end()
    // A thread that hangs in a call to a stopped server keeps nobody: the program ends without it.
    thread.join(until: MonotonicClock.now() + Self.patience)
  }

  /// Plays from `time` of the session on; what was playing is cut off.
  package func play(from time: Timestamp) { control.wish(from: time) }

  /// Falls silent until the next `play`.
  package func stop() { control.wish(from: nil) }

  /// Sets the volume, 0 (digital silence) to 1.
  package func setVolume(_ volume: Double) { control.setVolume(volume) }

  /// The session's time that is heard at `now` (ns of CLOCK_MONOTONIC): from `play` on the asked one until sound comes
  /// out, and then in step with the device. nil after `stop`, and when there is no device that moves.
  package func position(at now: Int64) -> Timestamp? { control.position(at: now) }

  /// Why there is no sound; nil when there is some.
  package var failure: RecorderError? { control.failure }

  // MARK: - The thread

  private static func run<Source: SoundSource & ~Copyable>(
    _ control: SoundControl, _ makeSource: () throws(RecorderError) -> Source
  ) {
    do throws(RecorderError) {
      var source = try makeSource()
      let noServer: RecorderError
      do throws(RecorderError) {
        var device = try PulseSoundDevice(wake: control.wake)
        return try play(&device, &source, control)
      } catch {
        noServer = error
      }
      // A server that was there and went takes the sound with it: the bare device would be another output.
      guard !control.hasPlayed else { throw noServer }
      var device = try openALSA(control.wake, otherwise: noServer)
      try play(&device, &source, control)
    } catch {
      control.fail(error)
    }
  }

  private static func openALSA(
    _ wake: WakeSignal, otherwise noServer: RecorderError
  ) throws(RecorderError) -> ALSASoundDevice {
    do throws(RecorderError) {
      return try ALSASoundDevice(wake: wake)
    } catch {
      throw RecorderError(.unavailable, "There is no sound output. \(noServer.message) \(error.message)")
    }
  }

  private static func play<Device: SoundDevice & ~Copyable, Source: SoundSource & ~Copyable>(
    _ device: inout Device, _ source: inout Source, _ control: SoundControl
  ) throws(RecorderError) {
    let samples = UnsafeMutableBufferPointer<Float>.allocate(
      capacity: SoundTiming.chunkFrames * AudioFormat.mix.channels)
    defer { samples.deallocate() }
    var (number, written, isPlaying, began) = (0, 0, false, Int64(0))
    while let orders = control.orders() {
      if orders.number != number {
        number = orders.number
        if isPlaying { try device.stop() }
        isPlaying = orders.from != nil
        written = 0
        if let from = orders.from {
          try source.seek(to: from)
          try device.start()
          began = MonotonicClock.now()
        }
      }
      if isPlaying {
        let most = SoundTiming.mostFrames(in: MonotonicClock.now() - began)
        while case let room = min(try device.writableFrames(), most - written), room > 0 {
          let part = UnsafeMutableBufferPointer(
            rebasing: samples[..<(min(room, SoundTiming.chunkFrames) * AudioFormat.mix.channels)])
          try fill(part, from: &source, volume: orders.volume)
          try device.write(UnsafeBufferPointer(part))
          written += part.count / AudioFormat.mix.channels
        }
        if let latency = device.latencyFrames() {
          control.measure(wish: number, heard: min(max(0, written - latency), written), written: written)
        }
      }
      try device.wait()
    }
  }

  /// Fills `samples` with the source's sound at `volume`, and with silence past its end.
  private static func fill<Source: SoundSource & ~Copyable>(
    _ samples: UnsafeMutableBufferPointer<Float>, from source: inout Source, volume: Float
  ) throws(RecorderError) {
    let count = try source.read(into: samples) * AudioFormat.mix.channels
    for index in 0..<count { samples[index] = volume == 0 ? 0 : samples[index] * volume }
    for index in count..<samples.count { samples[index] = 0 }
  }
}
