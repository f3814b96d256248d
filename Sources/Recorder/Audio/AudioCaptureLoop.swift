internal import Capture
import SessionModel
import Synchronization
internal import Threading

/// The work of one input's capture thread: opens the device, hands on what it delivers, and opens it again when it is
/// lost. What it tells the person, it tells once an outage.
struct AudioCaptureLoop: ~Copyable {
  let input: AudioInput
  let reporter: AudioReporter
  /// Blocks to fill, and filled ones of all inputs. The latter hold as many as there are, so that a push never waits.
  let free: BoundedQueue<AudioBlock>
  let filled: BoundedQueue<AudioBlock>
  /// Told once what became of the first attempt to open the device.
  let opened: BoundedQueue<RecorderError?>

  private var block = AudioBlock()
  private var hole = AudioHole.none
  /// The outage that the person was told of.
  private var isTold = false
  private var wasOpen = false

  /// Nanoseconds between two attempts to open a device.
  private static var retryInterval: Int64 { 1_000_000_000 }
  /// A device that delivers nothing for so many ns is opened again (DESIGN section 6b): some report no error.
  private static var watchdog: Int64 { 1_000_000_000 }
  /// How often a silent device's thread looks whether it is to end, in ns.
  private static var patience: Int64 { 50_000_000 }

  init(
    input: AudioInput, reporter: AudioReporter, free: BoundedQueue<AudioBlock>, filled: BoundedQueue<AudioBlock>,
    opened: BoundedQueue<RecorderError?>
  ) {
    (self.input, self.reporter, self.free, self.filled, self.opened) = (input, reporter, free, filled, opened)
  }

  /// Captures until `input.isStopping`.
  mutating func run() {
    while !input.isStopping.load(ordering: .relaxed) {
      var failure: RecorderError?
      for device in input.devices {
        do throws(RecorderError) {
          switch device {
          case .pulse(let name):
            var source = try PulseSource(source: name, server: input.server)
            try capture(&source)
          case .alsa(let name):
            var source = try ALSASource(pcm: name)
            try capture(&source)
          }
          return
        } catch {
          // The first device is the one that was meant: its failure is what to tell, unless a later one was at work.
          if failure == nil || error.code == .sourceLost { failure = error }
          if error.code == .sourceLost { break }
        }
      }
      if let failure { tell(failure) }
      _ = input.wake.wait(until: MonotonicClock.now() + Self.retryInterval)
      input.wake.drain()
    }
  }

  /// Hands on what `source` delivers until the input stops.
  /// - Throws: `RecorderError` (sourceLost) when it has to be opened again.
  private mutating func capture(_ source: inout some AudioSource & ~Copyable) throws(RecorderError) {
    tellOpened(source.deviceName)
    wasOpen = true
    defer { input.isLive.store(false, ordering: .relaxed) }
    var lastSound = MonotonicClock.now()
    while !input.isStopping.load(ordering: .relaxed) {
      let now = MonotonicClock.now()
      guard try source.read(into: &block, until: now + Self.patience) else {
        if now - lastSound >= Self.watchdog { throw stalled(source.deviceName) }
        continue
      }
      lastSound = MonotonicClock.now()
      input.isLive.store(true, ordering: .relaxed)
      if isTold { tellReturned(source.deviceName) }
      handOn()
    }
  }

  /// Gives the block away for an empty one. Without one the sound is left out, and the next block says so.
  private mutating func handOn() {
    if block.hole == .none { block.hole = hole }
    block.input = input.index
    let count = block.frames * block.format.channels
    input.note(level: UnsafeBufferPointer(start: block.samples, count: count).reduce(0) { max($0, $1.magnitude) })
    guard var empty = free.tryPop() else {
      hole = block.hole == .opened ? .opened : .backlog
      return
    }
    hole = .none
    swap(&block, &empty)
    _ = filled.push(empty)
  }

  private func tellOpened(_ name: String) {
    _ = opened.tryPush(nil)
    if wasOpen || isTold { return }
    reporter.tell(.device, "The \(input.title) is recorded from \(name.printable(atMost: 120)).")
  }

  private mutating func tellReturned(_ name: String) {
    isTold = false
    reporter.tell(.device, "The \(input.title) is there again: \(name.printable(atMost: 120)).")
  }

  private mutating func tell(_ failure: RecorderError) {
    _ = opened.tryPush(failure)
    // A device demanded by name that was never there ends the recording before it begins; nothing is to be told.
    guard !isTold, wasOpen || !input.isDemanded else { return }
    isTold = true
    reporter.tell(
      .warning, "\(failure.message) The \(input.title) is silent until it can be opened; it is tried every second.")
  }

  private func stalled(_ name: String) -> RecorderError {
    RecorderError(.sourceLost, "The sound device \(name.printable(atMost: 120)) has delivered nothing for a second.")
  }
}
