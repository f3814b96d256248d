internal import Capture
import SessionModel
import Synchronization
internal import Threading

/// One sound input of a recording and the thread that captures it: opened at once, opened again whenever it is lost.
final class AudioInput: Sendable {
  /// What a person may record.
  enum Role: String, Sendable {
    /// What the applications play.
    case application
    /// What the person says.
    case microphone
  }

  /// Which input it is.
  let role: Role
  /// Its place among the recording's inputs: `AudioBlock.input`.
  let index: Int
  /// The devices that are tried, in this order.
  let devices: [AudioDevice]
  /// The one channel that is recorded, from 1; nil is all of them.
  let channel: Int?
  /// Whether one device was asked for by its name.
  let isDemanded: Bool
  /// The address of the sound server; nil is $PULSE_SERVER or the default.
  let server: String?

  /// Whether a device is open and delivers.
  let isLive = Atomic<Bool>(false)
  /// Why nothing comes while nothing comes.
  var outage: AudioHole {
    get { AudioHole(rawValue: outageValue.load(ordering: .relaxed)) ?? .lost }
    set { outageValue.store(newValue.rawValue, ordering: .relaxed) }
  }
  /// Why nothing comes of `time` (monotonic ns) while nothing comes.
  func outage(at time: Int64) -> AudioHole { time < onSince.load(ordering: .relaxed) ? .off : outage }
  private let outageValue = Atomic<UInt8>(AudioHole.lost.rawValue)
  /// When it last delivered sound, in monotonic ns.
  let lastSound = Atomic<Int64>(0)
  /// Since when it is switched off, in monotonic ns: what is said later is not recorded, and the device is closed. Nil
  /// while it is on.
  var offSince: Int64? {
    get {
      let time = offTime.load(ordering: .acquiring)
      return time == .max ? nil : time
    }
    set { offTime.store(newValue ?? .max, ordering: .releasing) }
  }
  private let offTime: Atomic<Int64>
  /// When it was switched on last, in monotonic ns: what was said before is not recorded.
  let onSince = Atomic<Int64>(0)
  /// Why it is silent, in the words that the person was told; nil while it is not.
  var failure: String? {
    get { failureText.withLock { $0 } }
    set { failureText.withLock { $0 = newValue } }
  }
  private let failureText = Mutex<String?>(nil)
  /// Set to end the thread.
  let isStopping = Atomic<Bool>(false)
  /// Wakes the thread while it waits to try again, or to be switched on.
  let wake: WakeSignal
  private let loudest = Atomic<UInt32>(0)
  /// By how much it is made louder before it is summed.
  let gain: AudioGain

  /// Describes the input that `specification` names.
  /// - Parameters:
  ///   - channel: the one that is recorded, from 1; nil is all of them.
  ///   - gain: in dB.
  ///   - windowProcess: the process of the recorded window, as far as it is known.
  ///   - isOff: whether it begins switched off.
  /// - Throws: `RecorderError`: unavailable when the window's process is meant and not known, systemCall when no
  ///   descriptor is left.
  init(
    _ role: Role, index: Int, specification: AudioDeviceSpecification, channel: Int?, gain: Double,
    windowProcess: Int?, server: String?, isOff: Bool
  ) throws(RecorderError) {
    (self.role, self.index, self.channel, self.server) = (role, index, channel, server)
    self.gain = AudioGain(gain)
    offTime = Atomic(isOff ? 0 : .max)
    switch specification {
    case .standard: devices = role == .application ? [.defaultMonitor] : AudioDevice.defaultMicrophones
    case .pulse(let source): devices = [.pulse(source: source)]
    case .alsa(let pcm): devices = [.alsa(pcm: pcm)]
    case .application(let name): devices = [.application(.name(name))]
    case .process(let id): devices = [.application(.process(id))]
    case .window:
      guard let windowProcess else {
        throw RecorderError(
          .unavailable, "Of the recorded picture it is not known which process plays its sound.",
          hint: "`window` goes with a window that tells its process; else name it as app:NAME or pid:N.")
      }
      devices = [.application(.process(windowProcess))]
    }
    isDemanded = specification != .standard
    wake = try WakeSignal()
  }

  /// What a person calls it.
  var title: String { role == .application ? "application sound" : "microphone" }

  /// Notes how loud a block was.
  func note(level: Float) {
    // The capture thread alone raises it; what a reader takes away in between is not missed.
    if level > Float(bitPattern: loudest.load(ordering: .relaxed)) {
      loudest.store(level.bitPattern, ordering: .relaxed)
    }
  }

  /// The loudest sample since the last call, 1 being full scale.
  func takeLevel() -> Float { Float(bitPattern: loudest.exchange(0, ordering: .relaxed)) }
}
