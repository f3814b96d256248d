internal import Capture
import SessionModel
import Synchronization
internal import Threading

/// The work of one input's capture thread: opens the device, hands on what it delivers, and opens it again when it is
/// lost. What it tells the person, it tells once an outage.
struct AudioCaptureLoop: ~Copyable {
  let input: AudioInput
  let shared: AudioShared
  /// Told once what became of the first attempt to open the device.
  let opened: BoundedQueue<RecorderError?>

  private var block = AudioBlock()
  /// What lies before the next block, and whether the device begins with it.
  private var hole = AudioHole.none
  private var isBeginning = false
  /// The outage that the person was told of.
  private var isTold = false
  private var wasOpen = false
  /// Whether anything was ever heard of it, and whether the person was told that it plays nothing yet.
  private var wasHeard = false
  private var isAwaited = false
  private var soundGuard: SoundGuard
  private var isMuted = false
  /// Whether the person chose another device, which is to be opened next.
  private var isSwitching = false
  /// Tells when a missing device may have come; nil while there is no server to ask.
  private var watch: PulseWatch?

  /// Nanoseconds between two attempts to open a device of which nobody tells: half of the 200 ms in which it is to be
  /// heard again.
  private static var retryInterval: Int64 { 100_000_000 }
  /// Nanoseconds between two attempts when the server tells of changes, in case that it does not.
  private static var watchInterval: Int64 { 2_000_000_000 }
  /// A device that delivers nothing for so many ns is opened again (DESIGN section 6b): some report no error. It is also
  /// how long the mix waits for it.
  private static var watchdog: Int64 { 500_000_000 }
  /// Nanoseconds for which sound of before a switch-off may still be on its way: what servers and devices hold back.
  private static var leftover: Int64 { 200_000_000 }
  /// How often a silent device's thread looks whether it is to end, in ns.
  private static var patience: Int64 { 50_000_000 }

  init(
    input: AudioInput, shared: AudioShared, opened: BoundedQueue<RecorderError?>
  ) {
    (self.input, self.shared, self.opened) = (input, shared, opened)
    soundGuard = SoundGuard(isNeverSilent: input.role == .microphone)
  }

  /// Captures until `input.isStopping`.
  mutating func run() {
    while !input.isStopping.load(ordering: .relaxed) {
      guard input.offSince == nil else {
        rest()
        continue
      }
      let start = MonotonicClock.now()
      var failure: RecorderError?
      for device in input.devices {
        do throws(RecorderError) {
          try capture(device)
          failure = nil
          break
        } catch {
          // The first device is the one that was meant: its failure is what to tell, unless a later one was at work.
          if failure == nil || error.code == .sourceLost { failure = error }
          if error.code == .sourceLost { break }
        }
      }
      guard let failure else { continue }
      // One that was switched on again and is not there is switched off no longer.
      if hole == .none || hole == .off { hole = .lost }
      if input.outage == .off, input.offSince == nil { input.outage = .lost }
      tell(failure)
      // One that was open for a while may be there again at once, under its name or as another default.
      if MonotonicClock.now() - start < Self.retryInterval { waitForChange() }
    }
  }

  /// Leaves the device closed until the input is switched on again, or stops.
  private mutating func rest() {
    watch = nil
    (input.outage, hole) = (.off, .off)
    (wasOpen, isTold) = (false, false)
    input.failure = nil
    _ = opened.tryPush(nil)
    while input.offSince != nil, !input.isStopping.load(ordering: .relaxed) {
      _ = input.wake.wait(until: .max)
      input.wake.drain()
    }
  }

  private mutating func capture(_ device: AudioDevice) throws(RecorderError) {
    switch device {
    case .pulse(let name):
      var source = try PulseSource(
        source: name, channel: input.channel, server: input.server, explains: !isTold)
      try capture(&source)
    case .alsa(let name):
      var source = try ALSASource(pcm: name, channel: input.channel, explains: !isTold)
      try capture(&source)
    case .application(let application):
      var source = try PulseApplicationSource(application, server: input.server)
      try capture(&source)
    }
  }

  /// Hands on what `source` delivers until the input stops or is switched off, or the person has chosen another device.
  /// - Throws: `RecorderError` (sourceLost) when it has to be opened again.
  private mutating func capture(_ source: inout some AudioSource & ~Copyable) throws(RecorderError) {
    if let channel = input.channel, channel > source.format.channels {
      throw RecorderError(
        .usage,
        "The \(input.title)'s device \(source.deviceName.printable(atMost: 120)) has no channel \(channel).",
        hint: "It has \(source.format.channels).")
    }
    watch = nil
    tellOpened(source.deviceName, awaited: source.awaited)
    wasOpen = true
    defer { input.isLive.store(false, ordering: .relaxed) }
    var lastSound = MonotonicClock.now()
    while !input.isStopping.load(ordering: .relaxed), !source.isOutdated {
      let now = MonotonicClock.now()
      if let off = input.offSince, now >= off + Self.leftover { break }
      do throws(RecorderError) {
        guard try source.read(into: &block, until: now + Self.patience) else {
          input.outage = source.outage
          if now - lastSound >= Self.watchdog { throw stalled(source.deviceName) }
          continue
        }
      } catch {
        input.outage = source.outage
        hole = source.outage
        throw error
      }
      if source.isMuted != isMuted { tellMuted(source.isMuted, source.deviceName) }
      lastSound = MonotonicClock.now()
      if input.offSince == nil { input.outage = .stalled }
      input.lastSound.store(lastSound, ordering: .relaxed)
      input.isLive.store(true, ordering: .relaxed)
      if isTold { tellReturned(source.deviceName) }
      if isAwaited, source.awaited == nil { tellPlays(source.deviceName) }
      wasHeard = true
      // Servers also deliver what they heard before they were asked.
      if block.time < input.onSince.load(ordering: .relaxed) {
        isBeginning = isBeginning || block.isBeginning
        continue
      }
      if let off = input.offSince, cut(at: off) { break }
      handOn()
    }
    isSwitching = source.isOutdated
    if isSwitching { hole = .switched }
  }

  /// Hands on what the block has of the time before `end` (monotonic ns), when it reaches that.
  /// - Returns: whether it does; what follows is not wanted.
  private mutating func cut(at end: Int64) -> Bool {
    let wanted = max(0, Timestamp(nanoseconds: end - block.time).frames(at: block.format.sampleRate))
    guard wanted <= block.frames else { return false }
    block.frames = wanted
    if wanted > 0 { handOn() }
    return true
  }

  /// Waits until it is worth trying again to open the device, or the input stops.
  private mutating func waitForChange() {
    if watch == nil, input.devices.contains(where: \.isServed) {
      do throws(RecorderError) {
        watch = try PulseWatch(server: input.server)
        // What changed before the server was asked to tell is not told: the device is tried once more.
        return
      } catch {}
    }
    let end = MonotonicClock.now() + Self.watchInterval
    while !input.isStopping.load(ordering: .relaxed), MonotonicClock.now() < end {
      switch watch?.wait(until: MonotonicClock.now() + Self.patience) {
      case nil:
        _ = input.wake.wait(until: MonotonicClock.now() + Self.retryInterval)
        input.wake.drain()
        return
      case true?:
        if watch?.isAlive == false { watch = nil }
        return
      case false?: break
      }
    }
  }

  /// Gives the block away for an empty one. Without one the sound is left out, and the next block says so; but before
  /// the session begins, what is oldest is, since it is not going to be heard.
  private mutating func handOn() {
    if hole != .none { block.hole = hole }
    if isBeginning { block.isBeginning = true }
    if block.isBeginning, block.part == 0 { shared.reporter.note(block.format, of: input) }
    block.input = input.index
    if let channel = input.channel { block.keep(channel: channel) }
    let count = block.frames * block.format.channels
    let samples = UnsafeBufferPointer(start: block.samples, count: count)
    input.note(level: samples.reduce(0) { max($0, $1.magnitude) })
    // The streams of an application play at the same time as its silence, which counts the time.
    let seconds = block.part == 0 ? Double(block.frames) / Double(block.format.sampleRate) : 0
    if let finding = soundGuard.look(at: samples, seconds: seconds) { tell(finding) }
    let isWaiting = !shared.isMixing.load(ordering: .relaxed)
    guard var empty = shared.free.tryPop() ?? (isWaiting ? shared.filled.tryPop() : nil) else {
      hole = block.hole == .none ? .backlog : block.hole
      isBeginning = block.isBeginning
      return
    }
    (hole, isBeginning) = (.none, false)
    swap(&block, &empty)
    _ = shared.filled.push(empty)
  }

  /// Tells which device it is that was opened.
  /// - Parameter awaited: that what is meant plays nothing yet.
  private mutating func tellOpened(_ name: String, awaited: String?) {
    _ = opened.tryPush(nil)
    if isSwitching {
      shared.reporter.tell(
        .device, "The \(input.title) is recorded from \(name.printable(atMost: 120)) now, as was chosen.")
      isSwitching = false
    }
    if let awaited, !wasHeard {
      isAwaited = true
      shared.reporter.tell(.warning, "\(awaited) It is recorded as soon as it does.", isAdvice: true)
    }
    if wasOpen || isTold || isAwaited { return }
    shared.reporter.tell(.device, "The \(input.title) is recorded from \(name.printable(atMost: 120)).")
  }

  private mutating func tellPlays(_ name: String) {
    isAwaited = false
    shared.reporter.tell(.device, "The \(input.title) is recorded from \(name.printable(atMost: 120)).")
  }

  private mutating func tellReturned(_ name: String) {
    isTold = false
    input.failure = nil
    let words = wasHeard ? "there again" : "there"
    shared.reporter.tell(.device, "The \(input.title) is \(words): \(name.printable(atMost: 120)).")
  }

  private mutating func tell(_ failure: RecorderError) {
    _ = opened.tryPush(failure)
    guard !isTold else { return }
    isTold = true
    let sentence = "\(failure.message) The \(input.title) is silent until it is there\(wasHeard ? " again" : "")."
    input.failure = sentence
    shared.reporter.tell(.warning, sentence)
  }

  private mutating func tellMuted(_ isMuted: Bool, _ name: String) {
    self.isMuted = isMuted
    let name = name.printable(atMost: 120)
    if isMuted {
      shared.reporter.tell(
        .warning, "The \(input.title) is muted in the sound server (\(name)): it is silent.", isAdvice: true)
    } else {
      shared.reporter.tell(.device, "The \(input.title) is no longer muted (\(name)).")
    }
  }

  private func tell(_ finding: SoundGuard.Finding) {
    switch finding {
    case .silent:
      // Why has been told already.
      if isMuted || isAwaited { return }
      let hint =
        input.role == .application ? "does anything play on this device" : "is it muted, or another device meant"
      shared.reporter.tell(
        .warning, "The \(input.title) has been wholly silent for four seconds: \(hint)?", isAdvice: true)
    case .clipped:
      shared.reporter.tell(
        .warning, "The \(input.title) is too loud and clips: turn it down at its source.", isAdvice: true)
    }
  }

  private func stalled(_ name: String) -> RecorderError {
    RecorderError(.sourceLost, "The sound device \(name.printable(atMost: 120)) delivers nothing.")
  }
}
