import Control
import SessionModel
import Synchronization
internal import Threading

/// What a recording can be told while it runs, from any thread, and the state it is in. Each call takes effect at one
/// point of the session's time line, which it returns; what is so already is no error and changes nothing.
final class SessionControls: Sendable {
  private struct State {
    var machine: RecordingStateMachine
    var pausedSince: Timestamp?
    var mutedSince: [ControlRequest.Input: Timestamp] = [:]
    /// Why it is degraded, stalled or failed.
    var message: String?
  }

  private let state: Mutex<State>
  private let control: PipelineControl
  private let audio: AudioPipeline?
  private let report: @Sendable (Event) -> Void
  private let follow: @Sendable (RecordingState, String?) -> Void
  /// Lines of the recorded command that were noted.
  private let lineCount = Atomic<Int>(0)

  /// - Parameters:
  ///   - isHeld: whether nothing is kept until somebody asks for it.
  ///   - follow: told each state that the recording takes, and one sentence why when something is wrong, in order; it
  ///     must not call back.
  init(
    control: PipelineControl, audio: AudioPipeline?, isHeld: Bool, report: @escaping @Sendable (Event) -> Void,
    follow: @escaping @Sendable (RecordingState, String?) -> Void
  ) {
    let machine = RecordingStateMachine(isHeld ? .holding : .recording)
    state = Mutex(State(machine: machine))
    (self.control, self.audio, self.report, self.follow) = (control, audio, report, follow)
    follow(machine.state, nil)
  }

  /// What it is doing, and one sentence why when something is wrong.
  var current: (state: RecordingState, message: String?) { state.withLock { ($0.machine.state, $0.message) } }

  /// Whether nothing is kept until somebody asks for it.
  var isHeld: Bool { state.withLock { $0.machine.isHeld } }

  /// Whether `input` is silent because it was told to be.
  func isMuted(_ input: ControlRequest.Input) -> Bool { state.withLock { $0.mutedSince[input] != nil } }

  /// Goes on in time without recording.
  func pause() throws(RecorderError) -> Timestamp {
    // Whoever waits for a frame would wait for the end of the pause. Told outside the lock, which the answer takes.
    defer { if current.state == .paused { control.splits.refuse(Self.paused) } }
    return try change { (state, now) throws(RecorderError) in
      if let since = state.pausedSince { return since }
      guard state.machine.apply(.pause) else { throw Self.ending }
      state.pausedSince = now
      control.pause(at: control.epoch + now.nanoseconds)
      audio?.silence(nil, from: now, because: .pause)
      report(Event(time: now, kind: .pause))
      return now
    }
  }

  /// Records again.
  func resume() throws(RecorderError) -> Timestamp {
    try change { (state, now) throws(RecorderError) in
      guard let since = state.pausedSince else {
        if state.machine.state.isLive, state.machine.state != .stopping { return now }
        throw Self.ending
      }
      guard state.machine.apply(.resume) else { throw Self.ending }
      state.pausedSince = nil
      control.resume(at: control.epoch + now.nanoseconds)
      audio?.hear(nil, from: now, because: .pause)
      for gap in pauseGaps(from: since, to: now) { report(gap) }
      report(Event(time: now, kind: .resume))
      return now
    }
  }

  /// Leaves `input` silent.
  func mute(_ input: ControlRequest.Input) throws(RecorderError) -> Timestamp {
    try change { (state, now) throws(RecorderError) in
      try requireRecorded(input)
      if let since = state.mutedSince[input] { return since }
      guard state.machine.state != .stopping, state.machine.state.isLive else { throw Self.ending }
      state.mutedSince[input] = now
      audio?.silence(input.rawValue, from: now, because: .mute)
      report(Event(time: now, kind: .mute, text: input.rawValue))
      return now
    }
  }

  /// Records `wanted` again, or all that are muted when it is nil.
  func unmute(_ wanted: ControlRequest.Input?) throws(RecorderError) -> Timestamp {
    try change { (state, now) throws(RecorderError) in
      guard state.machine.state != .stopping, state.machine.state.isLive else { throw Self.ending }
      for input in ControlRequest.Input.allCases where input == wanted ?? input {
        guard let since = state.mutedSince.removeValue(forKey: input) else { continue }
        audio?.hear(input.rawValue, from: now, because: .mute)
        report(muteGap(of: input, from: since, to: now))
        report(Event(time: now, kind: .unmute, text: input.rawValue))
      }
      return now
    }
  }

  /// Opens the device of `input`, or closes it.
  func set(_ input: ControlRequest.Input, isOn: Bool) throws(RecorderError) -> Timestamp {
    try change { (state, now) throws(RecorderError) in
      guard let audio, audio.inputs.contains(input.rawValue) else {
        throw RecorderError(.unavailable, "This recording has no track for the \(input.title).")
      }
      guard state.machine.state != .stopping, state.machine.state.isLive else { throw Self.ending }
      if audio.set(input.rawValue, isOn: isOn, at: control.epoch + now.nanoseconds) {
        report(Event(time: now, kind: .device, text: "The \(input.title) was switched \(isOn ? "on" : "off")."))
      }
      return now
    }
  }

  /// Makes inputs louder or softer in the mix.
  func setGains(_ gains: GainChange) throws(RecorderError) -> Timestamp {
    guard gains.isPossible else {
      throw RecorderError(
        .usage, "The request names no gain, or one that no input can have.",
        hint: "Name application, microphone or both, from -60 to 30 dB.")
    }
    let wanted = [(ControlRequest.Input.application, gains.application), (.microphone, gains.microphone)]
    return try change { (state, now) throws(RecorderError) in
      for (input, gain) in wanted where gain != nil { try requireRecorded(input) }
      guard state.machine.state != .stopping, state.machine.state.isLive else { throw Self.ending }
      for case (let input, let gain?) in wanted {
        audio?.setGain(gain, of: input.rawValue, from: now)
        report(Event(time: now, kind: .gain, text: "\(input.rawValue) \(gain) dB"))
      }
      return now
    }
  }

  /// - Throws: `RecorderError` (unavailable) when the recording has no such input.
  private func requireRecorded(_ input: ControlRequest.Input) throws(RecorderError) {
    if audio?.inputs.contains(input.rawValue) == true { return }
    throw RecorderError(
      .unavailable, "The \(input.title) is not recorded.",
      hint: "Start the recording with \(input == .microphone ? "--microphone" : "--app-audio").")
  }

  /// Marks this moment.
  func mark(_ text: String?) throws(RecorderError) -> Timestamp {
    try change { (state, now) throws(RecorderError) in
      guard state.machine.state.isLive, state.machine.state != .stopping else { throw Self.ending }
      report(Event(time: now, kind: .marker, text: text))
      return now
    }
  }

  /// Notes a line that the recorded command wrote.
  /// - Returns: how many were noted; nil when the recording ends and takes no more.
  func note(line: String) -> Int? {
    guard current.state.isLive else { return nil }
    report(Event(time: Timestamp(nanoseconds: MonotonicClock.now() - control.epoch), kind: .text, text: line))
    return lineCount.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Begins a new media file with the next frame, which comes at once.
  /// - Parameter answer: told where it began, or why it did not.
  func split(_ answer: @escaping @Sendable (Result<Timestamp, RecorderError>) -> Void) {
    let refusal: RecorderError? = state.withLock { state in
      if state.machine.isHeld { return Self.held }
      switch state.machine.state {
      case .idle, .stopping, .finished, .failed: return Self.ending
      case .paused: return Self.paused
      case .recording, .holding, .degraded, .stalled:
        control.split { split in answer(split.map(\.time)) }
        return nil
      }
    }
    if let refusal { answer(.failure(refusal)) }
  }

  /// Notes what the health of the stages is.
  func note(_ trigger: RecordingTrigger, message: String?) {
    locked { state in
      // What is said of its end stays.
      guard state.machine.state.isLive else { return }
      state.machine.apply(trigger)
      let isWrong = state.machine.state == .degraded || state.machine.state == .stalled
      state.message = isWrong ? message : nil
    }
  }

  /// Notes that a held capture has become a recording.
  func wasPublished() { locked { _ = $0.machine.apply(.publish) } }

  /// Notes that the recording begins to end.
  func willStop() { locked { _ = $0.machine.apply(.stop) } }

  /// Reports the stretches that were still paused or muted at the end.
  func closeGaps(at end: Timestamp) {
    for gap in openGaps(at: end) { report(gap) }
    state.withLock { state in (state.pausedSince, state.mutedSince) = (nil, [:]) }
  }

  /// The stretches that are still paused or muted at `time`, as far as they have come.
  func openGaps(at time: Timestamp) -> [Gap] {
    state.withLock { state in
      let paused = state.pausedSince.map { pauseGaps(from: $0, to: max($0, time)) } ?? []
      return paused + state.mutedSince.map { muteGap(of: $0.key, from: $0.value, to: max($0.value, time)) }
    }
  }

  /// Notes how it ended.
  /// - Parameter message: what there is to say when nothing went wrong.
  func didStop(_ error: RecorderError?, message: String? = nil) {
    locked { state in
      state.machine.apply(error == nil ? .finish : .fail)
      state.message = error?.message ?? message
    }
  }

  private func change(
    _ body: (inout State, Timestamp) throws(RecorderError) -> Timestamp
  ) throws(RecorderError) -> Timestamp {
    try locked { (state) throws(RecorderError) in
      try body(&state, Timestamp(nanoseconds: MonotonicClock.now() - control.epoch))
    }
  }

  /// Changes the state, and tells who follows it.
  private func locked<Value, Failure: Error>(_ body: (inout State) throws(Failure) -> Value) throws(Failure) -> Value {
    try state.withLock { (state) throws(Failure) in
      let before = (state.machine.state, state.message)
      defer {
        let now = (state.machine.state, state.message)
        if now != before { follow(now.0, now.1) }
      }
      return try body(&state)
    }
  }

  private func pauseGaps(from start: Timestamp, to end: Timestamp) -> [Gap] {
    ([Track.video] + (audio?.inputs ?? [])).map { Gap(track: $0, start: start, end: end, reason: "paused") }
  }

  private func muteGap(of input: ControlRequest.Input, from start: Timestamp, to end: Timestamp) -> Gap {
    Gap(track: input.rawValue, start: start, end: end, reason: "muted")
  }

  private func report(_ gap: Gap) { report(Event(time: gap.end, kind: .gap, gap: gap)) }

  /// The refusal of a recording that ends.
  static var ending: RecorderError { RecorderError(.busy, "The recording is just ending.") }
  /// The refusal of a new file while nothing is kept.
  private static var held: RecorderError {
    RecorderError(.busy, "A held capture has no files.", hint: "recorder publish makes a recording of it.")
  }
  /// The refusal of a new file while paused.
  private static var paused: RecorderError {
    RecorderError(.busy, "A paused recording has no frame for a new file to begin with.", hint: "Resume it first.")
  }
}

/// Names of tracks in gaps that no input has.
enum Track {
  /// The picture.
  static let video = "video"
}

extension ControlRequest.Input {
  /// What a person calls it.
  fileprivate var title: String { self == .microphone ? "microphone" : "application sound" }
}
