internal import Archive
import SessionModel
internal import Threading

/// Notices that the machine slept and that its wall clock was set. Pure.
struct ClockWatch {
  /// What happened between two looks.
  struct Change: Equatable {
    /// The monotonic time of the look before, in ns: it happened after that.
    let since: Int64
    /// The wall clock at `since`, by what it says now.
    let utc: WallTime
    /// Nanoseconds that the machine slept.
    let slept: Int64
    /// Nanoseconds by which the wall clock was moved, which a sleep does not: negative is back.
    let moved: Int64
  }

  /// By how much the wall clock may be off, in ns, before it counts as moved. NTP's slewing of half a millisecond a second
  /// (adjtime(3)) adds up, so it is told as well, seldom.
  private static let tolerance: Int64 = 100_000_000

  private var last: ClockReading
  /// The wall clock less the monotonic one as the session has it.
  private var offset: Int64

  /// - Parameter clock: how the session's times map to the wall clock.
  init(_ clock: Manifest.Clock, at reading: ClockReading) {
    last = reading
    offset = clock.utc.nanoseconds - clock.monotonic
  }

  /// Looks at the clocks.
  /// - Returns: what happened since the last look; nil when nothing did.
  mutating func look(at reading: ClockReading) -> Change? {
    let before = last
    last = reading
    let found = reading.wall - reading.monotonic
    let slept = (reading.boot - reading.monotonic) - (before.boot - before.monotonic)
    let sleep = slept >= Self.tolerance ? slept : 0
    let moved = found - offset - sleep
    let move = moved.magnitude >= Self.tolerance.magnitude ? moved : 0
    guard sleep != 0 || move != 0 else { return nil }
    offset = found
    return Change(
      since: before.monotonic, utc: WallTime(nanoseconds: before.monotonic + found), slept: sleep, moved: move)
  }
}

extension ClockWatch.Change {
  /// What the session is told: a gap of the stretch in which the machine slept, and that the clock was set.
  /// - Parameters:
  ///   - epoch: the capture's epoch, in monotonic ns.
  ///   - now: the monotonic time of the look, in ns.
  func events(epoch: Int64, now: Int64) -> [Event] {
    let (start, end) = (Timestamp(nanoseconds: max(0, since - epoch)), Timestamp(nanoseconds: now - epoch))
    var events: [Event] = []
    if slept > 0 {
      let reason = "the machine slept for \(Timestamp(nanoseconds: slept))"
      events.append(
        Event(
          time: end, kind: .gap, gap: Gap(track: Track.machine, start: start, end: end, reason: reason),
          text: "The machine slept for \(Timestamp(nanoseconds: slept)), which the recording does not have."))
    }
    if moved != 0 {
      let length = Timestamp(nanoseconds: Int64(clamping: moved.magnitude))
      events.append(
        Event(time: end, kind: .clock, text: "The wall clock was set \(moved < 0 ? "back" : "forward") by \(length)."))
    }
    return events
  }
}

/// Keeps the mapping in a session's manifest right.
struct ClockKeeper {
  /// Begins with the first look at which the clocks could be read.
  private var watch: ClockWatch?

  /// Looks at the clocks; a step is noted for the manifest and told.
  mutating func look(_ manifest: SessionManifest, _ notes: FileNotes, epoch: Int64, _ report: (Event) -> Void) {
    guard let reading = ClockReading.now() else { return }
    guard watch != nil else {
      watch = ClockWatch(manifest.value.clock, at: reading)
      return
    }
    guard let change = watch?.look(at: reading) else { return }
    for event in change.events(epoch: epoch, now: reading.monotonic) { report(event) }
    notes.add { manifest in
      let time = Timestamp(nanoseconds: max(0, change.since - manifest.clock.monotonic))
      manifest.clock.steps = (manifest.clock.steps ?? []) + [Manifest.Clock.Step(time: time, utc: change.utc)]
    }
  }
}

extension Track {
  /// No track of the file's: the machine itself.
  static let machine = "machine"
}
