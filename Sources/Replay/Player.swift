import Media
import Presentation
package import SessionModel
package import Threading

/// How a session is played.
package struct ReplayOptions: Hashable, Sendable {
  /// The moment that is shown first.
  package var start = Timestamp.zero
  /// How fast, from 0.25 to 4.
  package var speed = 1.0
  /// How loud, from 0 (digital silence) to 1.
  package var volume = 1.0
  /// Which sound is played; nil is the mix.
  package var track: SoundTrackSpecification?
  /// Whether it stands at the start until a key says otherwise.
  package var isPaused = false
  /// Whether it begins on the whole screen.
  package var isFullScreen = false
  /// The X display; nil is $DISPLAY.
  package var display: String?

  /// Makes the defaults: all of it, as it was.
  package init() {}

  /// Refuses what cannot be played.
  /// - Throws: `RecorderError` (usage).
  package func check() throws(RecorderError) {
    let speeds = PlaybackClock.speeds
    guard speeds.contains(speed) else {
      throw RecorderError(.usage, "A speed of \(speed) cannot be played.", hint: "Give one from 0.25 to 4.")
    }
    guard (0...1).contains(volume) else {
      throw RecorderError(.usage, "A volume of \(volume) cannot be played.", hint: "Give one from 0 to 1.")
    }
  }
}

/// Plays a session in a window of its own: the picture follows the sound that is heard, or the machine's clock where
/// there is none. One thread makes, runs and ends it.
package struct Player: ~Copyable {
  private let timeline: Timeline
  private let warn: (RecorderError) -> Void
  private var window: PresentationWindow
  private var view: PictureView
  private var cursor: VideoCursor
  private var moment: Moment
  private var isDrawn = false
  private var title = ""
  private var clock: PlaybackClock
  private var sound: SoundOutput?
  /// The place among the sound tracks of the one that is played.
  private var track = 0
  private var volume: Double
  private var isMuted = false

  /// How far the arrow keys go, in ns: 5 s and a minute.
  private static let nearJump: Int64 = 5_000_000_000
  private static let farJump: Int64 = 60_000_000_000
  /// What a volume key adds.
  private static let volumeStep = 0.1
  /// The longest wait while time passes, in ns: the title's clock and the sound's clock are looked at so often.
  private static let longestWait: Int64 = 100_000_000
  /// So long may pictures be decoded without one being shown, in ns, on a machine too slow for the speed.
  private static let longestDecoding: Int64 = 100_000_000

  /// Opens the window and shows the picture at the start.
  /// - Parameter warn: takes what goes wrong without ending the replay: no sound, a part that cannot be decoded.
  /// - Throws: `RecorderError`: usage, unavailable without a display, damagedData when there is no picture.
  package init(
    _ timeline: Timeline, options: ReplayOptions, warn: @escaping (RecorderError) -> Void
  ) throws(RecorderError) {
    try options.check()
    if let wanted = try options.track.map({ (track) throws(RecorderError) in try timeline.audioTrack(track) }) {
      track = timeline.audioTracks.firstIndex(of: wanted) ?? 0
    }
    var cursor = VideoCursor(timeline)
    let moment = try cursor.moment(at: options.start)
    let window = try PresentationWindow(
      display: options.display, size: moment.current.size, title: timeline.name, fullScreen: options.isFullScreen)
    if timeline.audioTrack != nil {
      sound = try Self.output(of: timeline, track: track, volume: options.volume)
    }
    (self.timeline, self.warn, volume) = (timeline, warn, options.volume)
    clock = PlaybackClock(at: options.start, end: timeline.duration, speed: options.speed)
    view = PictureView()
    self.window = window
    self.cursor = cursor
    self.moment = moment
    if !options.isPaused { run() }
  }

  /// Makes the output of a sound track.
  private static func output(
    of timeline: Timeline, track: Int, volume: Double
  ) throws(RecorderError) -> SoundOutput {
    try SoundOutput(volume: volume) { SoundCursor(timeline, track: track) }
  }

  /// Plays until the person ends it, or `stop` is set.
  /// - Throws: `RecorderError` (unavailable) when the display goes away.
  package mutating func play(until stop: WakeSignal) throws(RecorderError) {
    // A deadline in the past: only a look whether it is set.
    while !stop.wait(until: 0) {
      while let event = try window.nextEvent() {
        switch event {
        case .closed, .key(.quit): return
        case .resized: isDrawn = false
        case .key(let key): try press(key)
        }
      }
      try show()
      let deadline = deadline()
      try window.wait(until: deadline, wake: stop)
    }
  }

  private mutating func press(_ key: PresentationKey) throws(RecorderError) {
    switch key {
    case .pause: clock.isRunning ? pause() : try resume()
    case .back: try seek(to: time() + -Self.nearJump)
    case .forward: try seek(to: time() + Self.nearJump)
    case .farBack: try seek(to: time() + -Self.farJump)
    case .farForward: try seek(to: time() + Self.farJump)
    case .stepBack: try stepBack()
    case .stepForward: try stepForward()
    case .slower: setSpeed(clock.speed / 2)
    case .faster: setSpeed(clock.speed * 2)
    case .mute: setVolume(volume, isMuted: !isMuted)
    case .quieter: setVolume(volume - Self.volumeStep, isMuted: false)
    case .louder: setVolume(volume + Self.volumeStep, isMuted: false)
    case .track: try nextTrack()
    case .fullScreen: window.toggleFullScreen()
    case .quit: break
    }
  }

  // MARK: - Time

  /// The session's time now: what is heard, where sound is heard.
  private mutating func time() -> Timestamp {
    let now = MonotonicClock.now()
    if let failure = sound?.failure {
      sound = nil
      warn(failure)
    }
    if let heard = sound?.position(at: now) { clock.set(heard, at: now) }
    return clock.time(at: now)
  }

  /// Lets time and sound pass.
  private mutating func run() {
    let now = MonotonicClock.now()
    clock.run(true, at: now)
    // At another speed sound would have another pitch: there is none.
    if clock.speed == 1 { sound?.play(from: clock.time(at: now)) }
  }

  private mutating func pause() {
    let time = time()
    sound?.stop()
    clock.run(false, at: MonotonicClock.now())
    clock.set(time, at: MonotonicClock.now())
  }

  private mutating func resume() throws(RecorderError) {
    if time() >= clock.end { try seek(to: .zero) }
    run()
  }

  private mutating func seek(to time: Timestamp) throws(RecorderError) {
    let time = min(max(time, .zero), clock.end)
    do throws(RecorderError) {
      moment = try cursor.moment(at: time)
    } catch {
      guard error.code == .damagedData else { throw error }
      return warn(error)
    }
    isDrawn = false
    let isRunning = clock.isRunning
    clock.run(false, at: 0)
    clock.set(time, at: 0)
    if isRunning { run() }
  }

  private mutating func stepForward() throws(RecorderError) {
    pause()
    guard let time = moment.next?.time else { return }
    try advance()
    clock.set(time, at: MonotonicClock.now())
  }

  private mutating func stepBack() throws(RecorderError) {
    pause()
    try seek(to: moment.current.time + -1)
    clock.set(moment.current.time, at: MonotonicClock.now())
  }

  private mutating func setSpeed(_ speed: Double) {
    let time = time()
    let now = MonotonicClock.now()
    clock.set(time, at: now)
    clock.setSpeed(speed, at: now)
    sound?.stop()
    if clock.isRunning { run() }
  }

  private mutating func setVolume(_ volume: Double, isMuted: Bool) {
    self.volume = min(max(volume, 0), 1)
    self.isMuted = isMuted
    sound?.setVolume(isMuted ? 0 : self.volume)
  }

  /// Plays the next sound track, from where the one before has come to and as loud.
  private mutating func nextTrack() throws(RecorderError) {
    // An output that was lost is told once, and not looked for again.
    guard timeline.audioTracks.count > 1, sound != nil else { return }
    let time = time()
    track = (track + 1) % timeline.audioTracks.count
    sound = try Self.output(of: timeline, track: track, volume: isMuted ? 0 : volume)
    clock.set(time, at: MonotonicClock.now())
    if clock.isRunning { run() }
  }

  // MARK: - Pictures

  /// Brings the picture and the title up to the time.
  private mutating func show() throws(RecorderError) {
    let (time, began) = (time(), MonotonicClock.now())
    while let due = moment.next?.time, due <= time, MonotonicClock.now() - began < Self.longestDecoding {
      try advance()
    }
    if clock.isRunning, time >= clock.end { pause() }
    if !isDrawn {
      let surface = try window.surface()
      try view.draw(moment.current, on: surface)
      window.show(surface)
      isDrawn = true
    }
    setTitle(time)
  }

  /// Takes the next picture for the current one.
  private mutating func advance() throws(RecorderError) {
    if try moment.advance(cursor: &cursor) { isDrawn = false }
  }

  /// When to look again, in ns of CLOCK_MONOTONIC; nil while time stands.
  private mutating func deadline() -> Int64? {
    let now = MonotonicClock.now()
    guard clock.isRunning else { return nil }
    let longest = now + Self.longestWait
    guard let due = moment.next?.time, let wanted = clock.moment(of: due, now: now) else { return longest }
    return min(longest, wanted)
  }

  /// Session, wall clock, place, and what is not as usual.
  private mutating func setTitle(_ time: Timestamp) {
    let clockText = timeline.manifest.clock.wallTime(of: time).text(utcOffset: timeline.manifest.clock.utcOffset)
    // While time passes whole seconds do, without the milliseconds' four characters.
    let place = clock.isRunning ? String(time.description.dropLast(4)) : time.description
    var parts = [timeline.name, clockText, "\(place) / \(clock.end)"]
    if !clock.isRunning { parts.append("paused") }
    if clock.speed != 1 { parts.append("\(clock.speed)x") }
    if track > 0 { parts.append(timeline.audioTracks[track].soundName.printable) }
    if isMuted { parts.append("muted") }
    let text = parts.joined(separator: " – ")
    guard text != title else { return }
    title = text
    window.setTitle(text)
  }
}
