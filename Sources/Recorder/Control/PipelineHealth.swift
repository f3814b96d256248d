import Control
import SessionModel
import Synchronization
internal import Threading

/// Whether each stage of a recording works, judged by the stages themselves and not by what they carry: a still screen
/// and a silent room are healthy. It looks twice a second, and whenever somebody asks; while nothing happens the threads
/// look after each other (`PipelineControl.lookAfterOthers`), and it looks when one of them wakes it.
final class PipelineHealth: Sendable {
  /// What was wrong at the last look.
  private struct Found {
    /// The stage of the picture that hangs, and since when, in monotonic ns.
    var stall: (stage: String, since: Int64)?
    var message: String?
    var pace = PaceWatch()
    /// Whether the sources have been told to stop: what they do is no sign of anything any more.
    var isEnding = false
  }

  private let control: PipelineControl
  private let audio: AudioPipeline?
  private let controls: SessionControls
  private let restart: GrabRestart?
  private let lastPatience: Int64
  private let report: @Sendable (Event) -> Void
  private let found = Mutex(Found())
  private let others = Mutex<[@Sendable () -> RecorderStatus.Stage]>([])
  private let watchers = Mutex<[@Sendable (Int64) -> Void]>([])
  private let end: WakeSignal
  private let thread = Mutex<WorkerThread?>(nil)

  /// A stage that gave no sign of life for so many ns hangs: three times what the slowest sign takes, and early enough
  /// to be told within two seconds.
  static let patience: Int64 = 1_500_000_000
  /// A disk that is made to take what the system has for so many ns is slower than what is recorded needs: 5 s of a large,
  /// busy screen are 50 MB, which a bad USB stick takes in that time.
  static let syncPatience: Int64 = 10_000_000_000
  /// A grab or encode thread that hangs for so many ns is not waited for any longer: the recording ends, and says why. A
  /// server that swaps or a debugger that holds it comes back sooner. For the disk there is `DiskPatience`.
  static let lastPatience: Int64 = 60_000_000_000
  /// Encoded frames that wait for so many ns wait for the disk: it usually has them within one.
  private static let diskDelay: Int64 = 1_000_000_000
  /// Nanoseconds between two looks.
  private static let interval: Int64 = 500_000_000
  /// The same while nothing happens: both of those that look after each other may hang.
  private static let restInterval: Int64 = 5_000_000_000

  /// - Parameters:
  ///   - restart: what helps a grab thread that hangs; nil only waits for it.
  ///   - lastPatience: ns after which a stage of the picture that hangs ends the recording.
  init(
    control: PipelineControl, audio: AudioPipeline?, controls: SessionControls, restart: GrabRestart?,
    lastPatience: Int64 = PipelineHealth.lastPatience, report: @escaping @Sendable (Event) -> Void
  ) throws(RecorderError) {
    (self.control, self.audio, self.controls, self.report) = (control, audio, controls, report)
    (self.restart, self.lastPatience) = (restart, lastPatience)
    end = try WakeSignal()
  }

  /// Begins to look by itself.
  func start() throws(RecorderError) {
    let worker = try WorkerThread(name: "health") { [self] in
      while !end.wait(orFor: control.alarm.fileDescriptor, until: nextLook) {
        control.alarm.drain()
        look()
        let now = MonotonicClock.now()
        for watch in watchers.withLock({ $0 }) { watch(now) }
      }
    }
    thread.withLock { $0 = worker }
  }

  /// Takes no sign of the stages as one of a fault any more, and ends what hangs now; later calls do nothing.
  func willStop() {
    restart?.stop()
    found.withLock { found in
      found.isEnding = true
      follow(nil, &found, at: MonotonicClock.now(), goesOn: false)
    }
  }

  /// Stops looking; later calls do nothing.
  func stop() {
    willStop()
    end.notify()
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }

  /// Whether nothing happens that the other threads do not tell of.
  private var isAtRest: Bool {
    audio == nil && !controls.isHeld && !control.isAtWork && found.withLock { $0.message } == nil
  }

  /// When to look next, in monotonic ns: twice a second, or just when a stage has been silent for too long.
  private var nextLook: Int64 {
    if isAtRest { return MonotonicClock.now() + Self.restInterval }
    let (now, beats) = (MonotonicClock.now(), [control.heartbeat.load(ordering: .relaxed)])
    let work = [control.encodingSince.load(ordering: .relaxed), control.writingSince.load(ordering: .relaxed)]
    let signs = beats + work.filter { $0 != 0 } + (audio?.lastSound.map(\.time) ?? [])
    let due = signs.map { $0 + Self.patience + 1 }.filter { $0 > now }
    return min(now + Self.interval, due.min() ?? .max)
  }

  /// Adds a stage that the pipeline does not know; one that hangs is shown, and makes no recording a bad one.
  func add(_ stage: @escaping @Sendable () -> RecorderStatus.Stage) { others.withLock { $0.append(stage) } }

  /// Has `watch` called whenever it looks, with the time in monotonic ns, on its thread, until it stops.
  func watch(_ watch: @escaping @Sendable (Int64) -> Void) { watchers.withLock { $0.append(watch) } }

  /// The stretch in which a stage of the picture hangs, as far as it has come at `time`.
  func openGaps(at time: Timestamp) -> [Gap] {
    look()
    return found.withLock { found in
      guard let stall = found.stall else { return [] }
      let start = Timestamp(nanoseconds: max(0, stall.since - control.epoch))
      return start < time ? [Self.gap(stall.stage, from: start, to: time)] : []
    }
  }

  /// The stages, from the source on.
  func stages() -> [RecorderStatus.Stage] {
    look() + others.withLock { $0 }.map { $0() }
  }

  /// Looks at the pipeline's stages, and has the recording's state follow.
  @discardableResult
  private func look() -> [RecorderStatus.Stage] {
    found.withLock { found in
      let now = MonotonicClock.now()
      let stages = pipelineStages(at: now)
      if found.isEnding { return stages }
      // What hangs last in the order of the stages is what those before it wait for.
      let picture = stages.prefix(3).last { $0.state == .stalled }
      let sound = stages.dropFirst(3).first { $0.state != .ok }
      let slow = lookAtPace(&found.pace, at: now)
      let message = (picture ?? sound).map { failure(of: $0) ?? Self.sentence($0) } ?? slow
      let trigger: RecordingTrigger = picture != nil ? .stall : message != nil ? .degrade : .recover
      controls.note(trigger, message: message)
      follow(picture, &found, at: now)
      if message != found.message, let message, picture != nil || message == slow { tell(message, at: now) }
      found.message = message
      if picture?.name == "grab" { restart?.consider(since: control.heartbeat.load(ordering: .relaxed)) }
      if let picture, picture.age >= lastPatience, picture.name != "mux" {
        control.fail(
          .failed,
          RecorderError(
            picture.name == "grab" ? .sourceLost : .incomplete,
            "\(Self.sentence(picture)) It was waited for long enough."
          ))
      }
      return stages
    }
  }

  /// Whether frames are left out because what comes after the grab thread is too slow for them.
  /// - Returns: the reason, in a sentence that stays the same while it lasts.
  private func lookAtPace(_ pace: inout PaceWatch, at now: Int64) -> String? {
    let counts = (
      frames: control.frames.load(ordering: .relaxed), dropped: control.droppedFrames.load(ordering: .relaxed)
    )
    guard pace.look(frames: counts.frames, dropped: counts.dropped, at: now) else { return nil }
    let unwritten = control.lastEncoded.load(ordering: .relaxed) - control.lastWritten.load(ordering: .relaxed)
    return unwritten > Self.diskDelay
      ? "The disk cannot keep up: fewer frames are recorded. A smaller --size or --quality small makes less."
      : "The encoder cannot keep up: fewer frames are recorded. A smaller --size, a lower --fps or --quality fast takes "
        + "less of the processor."
  }

  /// Reports the stretch in which a stage of the picture hung, once that is over.
  private func follow(_ picture: RecorderStatus.Stage?, _ found: inout Found, at now: Int64, goesOn: Bool = true) {
    if let picture {
      if found.stall == nil { found.stall = (picture.name, now - picture.age) }
    } else if let stall = found.stall {
      found.stall = nil
      let start = Timestamp(nanoseconds: max(0, stall.since - control.epoch))
      let gap = Self.gap(stall.stage, from: start, to: Timestamp(nanoseconds: now - control.epoch))
      report(Event(time: gap.end, kind: .gap, gap: gap, text: goesOn ? "The picture is recorded again." : nil))
    }
  }

  private static func gap(_ stage: String, from start: Timestamp, to end: Timestamp) -> Gap {
    Gap(track: Track.video, start: start, end: end, reason: "\(stage) stalled")
  }

  private func tell(_ text: String, at now: Int64) {
    report(Event(time: Timestamp(nanoseconds: now - control.epoch), kind: .warning, text: text))
  }

  private func pipelineStages(at now: Int64) -> [RecorderStatus.Stage] {
    var stages = [
      RecorderStatus.Stage("grab", since: control.heartbeat.load(ordering: .relaxed), at: now),
      RecorderStatus.Stage("encode", since: control.encodingSince.load(ordering: .relaxed), at: now),
      RecorderStatus.Stage("mux", since: control.diskSince, at: now),
    ]
    func time(_ value: Int64) -> Timestamp? { value < 0 ? nil : Timestamp(nanoseconds: value) }
    stages[0].last = time(control.lastFrame.load(ordering: .relaxed))
    stages[0].dropped = control.droppedFrames.load(ordering: .relaxed)
    stages[1].last = time(control.lastEncoded.load(ordering: .relaxed))
    stages[2].last = time(control.lastWritten.load(ordering: .relaxed))
    stages[2].bytes = control.bytes.load(ordering: .relaxed)
    stages += soundStages(at: now)
    // What is held is on no disk.
    if controls.isHeld { return stages }
    var disk = RecorderStatus.Stage("disk", since: control.syncingSince.load(ordering: .relaxed), at: now)
    disk.state = disk.age > Self.syncPatience ? .stalled : .ok
    return stages + [disk]
  }

  private func soundStages(at now: Int64) -> [RecorderStatus.Stage] {
    guard let audio else { return [] }
    func time(_ value: Int64) -> Timestamp? { value < 0 ? nil : Timestamp(nanoseconds: value) }
    var stages: [RecorderStatus.Stage] = []
    for ((name, level), (last, gain)) in zip(zip(audio.inputs, audio.levels), zip(audio.lastSound, audio.gains)) {
      // One that is switched off is not missed.
      guard last.isOn else { continue }
      // One that never delivered has been missed since the beginning.
      var stage = RecorderStatus.Stage(name, since: last.time == 0 ? control.epoch : last.time, at: now)
      if stage.state == .stalled, !last.isLive { stage.state = .lost }
      // Of one that was not there at the start nothing has to be waited for to know that.
      if last.time == 0, failure(of: stage) != nil { stage.state = .lost }
      (stage.level, stage.gain) = (level, gain)
      stage.last = last.time == 0 ? nil : time(max(0, last.time - control.epoch))
      stage.isMuted = ControlRequest.Input(rawValue: name).map { controls.isMuted($0) } ?? false
      stages.append(stage)
    }
    return stages
  }

  /// Why the sound input of that name is silent, in the words that the person was told; nil of any other stage.
  private func failure(of stage: RecorderStatus.Stage) -> String? {
    guard let audio, let index = audio.inputs.firstIndex(of: stage.name) else { return nil }
    return audio.failures[index]
  }

  private static func sentence(_ stage: RecorderStatus.Stage) -> String {
    switch stage.name {
    case "grab": "The X server does not answer: no picture is recorded until it does."
    case "encode": "The encoder hangs: no picture is recorded until it goes on."
    case "mux": "The disk takes nothing: no picture is recorded until it does."
    case "disk": "The disk does not confirm what it was given: a power cut would cost it."
    case ControlRequest.Input.microphone.rawValue: "The microphone delivers nothing; it is tried again."
    default: "The application sound delivers nothing; it is tried again."
    }
  }
}

extension RecorderStatus.Stage {
  /// The stage `name`, which began what it does at `now`, or gave its last sign of life, at `since` (monotonic ns); 0 is
  /// one that waits for work.
  package init(_ name: String, since: Int64, at now: Int64) {
    let age = since == 0 ? 0 : max(0, now - since)
    self.init(name: name, state: age > PipelineHealth.patience ? .stalled : .ok, age: age)
  }
}
