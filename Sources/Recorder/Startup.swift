internal import Archive
internal import Capture
import Control
import Glibc
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// What a recording consists of while it runs.
struct RecordingParts: Sendable {
  let control: PipelineControl
  let sink: CaptureSink
  let video: VideoPipeline
  let audio: AudioPipeline?
  let mux: MuxPipeline
  let events: WindowEventSource
  let controls: SessionControls
  let health: PipelineHealth
  let changes: SourceReporter
  /// Keeps what a held capture is told to keep; nil when it is recorded from its beginning.
  let hold: HoldKeeper?
  /// How much room the disk has.
  let room: DiskRoom
  /// What was asked for, as it was resolved.
  let options: RecordingOptions
}

/// Brings a recording up in an order in which whatever is wrong is known before anything is written: source, plan, sound
/// devices, encoder; then the session's folder and file, or the ring; then the threads that fill them. A failure on the
/// way takes everything down again and leaves nothing in the archive.
struct Startup {
  let options: RecordingOptions
  let archive: ArchiveLocation
  /// The command that it is recorded for.
  let command: Manifest.WrappedCommand?
  /// The sound inputs that begin switched off.
  let off: Set<ControlRequest.Input>
  /// Told each state that the recording takes, and why.
  let follow: @Sendable (RecordingState, String?) -> Void
  /// Told that the disk has little room left.
  let diskIsLow: @Sendable (Event) -> Void
  /// Told what the person should know at once.
  let notify: @Sendable (Event) -> Void
  /// Takes each line of the log too.
  let journal: RecorderLog.Output

  func run() throws(RecorderError) -> RecordingParts {
    let (log, began) = (try RecorderLog(journal), MonotonicClock.now())
    log.note(
      .info, .control, "A recording is prepared.",
      ["source": options.source.text, "version": recorderVersion, "process": "\(getpid())"])
    do throws(RecorderError) {
      let parts = try run(log)
      let milliseconds = (MonotonicClock.now() - began) / 1_000_000
      log.note(.info, .control, "The recording runs.", ["milliseconds": "\(milliseconds)"])
      return parts
    } catch {
      log.note(.error, .control, error.message)
      log.finish()
      throw error
    }
  }

  private func run(_ log: RecorderLog) throws(RecorderError) -> RecordingParts {
    try options.check()
    let resolver = try SourceResolver(display: options.display)
    let source = try resolver.resolve(
      options.source, decorations: options.video.decorations, exclusions: options.exclusions ?? [])
    let plan = try RecordingPlan.resolve(
      options, sourceSize: options.video.followsSize ? source.ownSize : source.canvas)
    // Opening sound devices takes a while: the epoch comes after it.
    let audio = try AudioPipeline(
      plan.options.audio, windowProcess: source.source.window?.pid, off: Set(off.map(\.rawValue)),
      isStrict: plan.options.strict, log: log)
    let control = try PipelineControl(
      epoch: MonotonicClock.now(), log: log,
      diskTimeout: plan.options.storage.timeout ?? StorageOptions.standardTimeout)
    let changes = SourceReporter(epoch: control.epoch)
    let packets = BoundedQueue<MuxItem>(
      capacity: MuxPipeline.packetsAStream * (1 + (audio?.streams.count ?? 0)))
    let sizes = PictureSizes(plan.pictureSize, follows: plan.options.video.followsSize) { error in
      changes.warn("The picture keeps its size: \(error.message)", at: MonotonicClock.now())
    }
    let video = try VideoPipeline(plan.encoder, sizes: sizes, control: control, packets: packets)
    let recipe = SessionRecipe(
      archive: archive, plan: plan, source: source, format: video.format, sound: audio?.streams ?? [],
      trackInputs: audio?.trackInputs ?? [], command: command, epoch: control.epoch)
    var (session, file, track) = (NewSession?.none, MuxPipeline?.none, EventTrack?.none)
    do throws(RecorderError) {
      if options.hold != nil {
        control.refreshInterval.store(VideoTiming.heldKeyframeInterval, ordering: .relaxed)
      }
      try startGrabbing(plan, source, video, control, changes)
      let sink: CaptureSink
      if let hold = options.hold {
        sink = CaptureSink(HoldRing(hold, streams: recipe.streamCount, control: control))
      } else {
        let new = try recipe.makeSession()
        session = new
        log.begin(try new.session.writer.makeLog(), epoch: control.epoch)
        let events = try EventTrack(new.session.writer, control)
        track = events
        sink = CaptureSink(new.session, events)
      }
      let report = makeReport(to: sink)
      let mux = try MuxPipeline(
        session, sink: sink, control: control, packets: packets, report: log.noting(.capture, report))
      file = mux
      report(Event(time: .zero, kind: .start, text: plan.options.source.text))
      changes.start(log.noting(.capture, report))
      if let warning = source.ambiguity {
        log.noting(.capture, report)(Event(time: .zero, kind: .warning, text: warning))
      }
      audio?.start(
        epoch: control.epoch,
        emit: { packet, track in _ = packets.push(MuxItem(packet: packet, stream: 1 + track)) },
        report: soundReport(log.noting(.audio, report), control), advise: log.noting(.audio, report),
        heldSince: { [isHeld = options.hold != nil] in
          isHeld ? Timestamp(nanoseconds: control.heldSince.load(ordering: .relaxed)) : nil
        },
        fail: { error in control.fail(.failed, error) })
      let events = try WindowEventSource(
        display: source.display, epoch: control.epoch, exclusions: options.exclusions ?? [], emit: report,
        ended: eventsEnded(log.noting(.capture, report), control))
      try waitForStart(control, mux)
      if plan.options.strict, let failure = control.firstFailure { throw failure }
      let controls = SessionControls(
        control: control, audio: audio, isHeld: sink.ring != nil, report: log.noting(.control, report),
        follow: { [follow] state, why in
          log.note(state: state, why)
          follow(state, why)
        })
      let restart = try GrabRestart(video: video, control: control) { () throws(RecorderError) in
        try DisplayProbe.run(source.display)
      }
      let health = try PipelineHealth(
        control: control, audio: audio, controls: controls, restart: restart, report: log.noting(.capture, report))
      let note = log.noting(.archive, report)
      let reportDisk: @Sendable (Event) -> Void = { [diskIsLow] event in
        note(event)
        // What the clocks did is no warning.
        if event.kind == .warning { diskIsLow(event) }
      }
      let hold = sink.ring.map { ring in
        HoldKeeper(
          ring: ring, sink: sink, recipe: recipe, control: control, video: video, mux: mux,
          openGaps: { time in
            let silent = audio?.openGaps(at: time, epoch: control.epoch) ?? []
            return controls.openGaps(at: time) + changes.openGaps(at: time) + health.openGaps(at: time) + silent
          },
          heard: { start, end in audio?.heard(from: start, to: end) },
          published: { session in
            audio?.keepHeard(from: session.origin)
            Self.wasPublished(session, controls, control, reportDisk)
          })
      }
      try session?.session.watchDisk(control: control, report: reportDisk)
      let patience = DiskPatience(control: control, mux: mux, hold: hold)
      health.watch { patience.look(at: $0) }
      try health.start()
      return RecordingParts(
        control: control, sink: sink, video: video, audio: audio, mux: mux, events: events, controls: controls,
        health: health, changes: changes, hold: hold, room: DiskRoom(archive), options: plan.options)
    } catch {
      throw takeDown(after: error, control, packets, video, audio, file, session, track)
    }
  }

  /// Waits until the first frame is on disk, or held.
  /// - Throws: `RecorderError` when there is none, or the disk hangs.
  private func waitForStart(_ control: PipelineControl, _ mux: MuxPipeline) throws(RecorderError) {
    while true {
      switch control.started.pop(until: MonotonicClock.now() + Self.startInterval) {
      case .element: return
      case .closed: throw RecorderError(.brokenInvariant, "No frame reached the disk.")
      case .timedOut: DiskPatience(control: control, mux: mux, hold: nil).look(at: MonotonicClock.now())
      }
    }
  }

  /// Nanoseconds between two looks at the disk while the first frame is on its way.
  private static let startInterval: Int64 = 500_000_000

  /// What follows when a held capture has become a recording.
  private static func wasPublished(
    _ session: OpenSession, _ controls: SessionControls, _ control: PipelineControl,
    _ report: @escaping @Sendable (Event) -> Void
  ) {
    controls.wasPublished()
    do throws(RecorderError) {
      control.log?.begin(
        try session.writer.makeLog(), epoch: control.epoch + session.origin.nanoseconds)
      try session.watchDisk(control: control, report: report)
    } catch {
      control.fail(.failed, error)
    }
  }

  private func startGrabbing(
    _ plan: RecordingPlan, _ source: ResolvedSource, _ pipeline: VideoPipeline, _ control: PipelineControl,
    _ changes: SourceReporter
  ) throws(RecorderError) {
    let video = plan.options.video
    var options = X11SourceOptions(
      cursor: video.showsCursor, frameInterval: 1_000_000_000 / Int64(video.framesPerSecond), wake: control.wake)
    options.followsSize = video.onResize != .crop
    // What is never closed has no need of it; it may be the configuration's.
    options.waitsWhenClosed = video.onClose == .wait && source.source.window != nil
    options.report = { change, time in changes.note(change, at: time) }
    options.decorations = video.decorations
    options.popups = video.popups == true
    options.exclusions = self.options.exclusions ?? []
    let breaker = ConnectionBreaker()
    options.breaker = breaker
    let sourceOptions = options
    try pipeline.start(
      enlarges: video.upscale == true,
      source: { () throws(RecorderError) in
        try X11VideoSource(source, sourceOptions)
      }, cut: { breaker.cut() })
  }

  /// Ends what was started; nothing was recorded, so the session goes too.
  /// - Returns: what to report: a thread's own reason before the one that was noticed here.
  private func takeDown(
    after error: RecorderError, _ control: PipelineControl, _ packets: BoundedQueue<MuxItem>, _ video: VideoPipeline,
    _ audio: AudioPipeline?, _ file: MuxPipeline?, _ new: NewSession?, _ track: EventTrack?
  ) -> RecorderError {
    control.stop(at: MonotonicClock.now())
    packets.close()
    _ = video.finish()
    _ = audio?.stop(at: .zero)
    _ = file?.finish()
    _ = track?.finish()
    if let new {
      // Of a disk that hangs nothing can be taken away.
      let isIdle = new.session.stopWatchingDisk(patience: control.diskPatience)
      if isIdle, control.diskError == nil { new.session.discard(in: archive) }
    }
    return control.firstFailure ?? error
  }

  /// Has an event written to the session, or holds it, and passes on what the person should know.
  private func makeReport(to sink: CaptureSink) -> @Sendable (Event) -> Void {
    let notify = notify
    return { event in
      sink.append(event)
      if event.kind == .warning || event.kind == .gap { notify(event) }
    }
  }

  /// What the sound has to tell; that an input is missing ends a strict recording.
  private func soundReport(
    _ report: @escaping @Sendable (Event) -> Void, _ control: PipelineControl
  ) -> @Sendable (Event) -> Void {
    guard options.strict else { return report }
    return { event in
      report(event)
      guard event.kind == .warning else { return }
      control.fail(.failed, Self.strictError(event.text ?? "The sound failed."))
    }
  }

  /// What is done when the event track has ended by itself; that the display went is told by who grabs it.
  private func eventsEnded(
    _ report: @escaping @Sendable (Event) -> Void, _ control: PipelineControl
  ) -> @Sendable (RecorderError?) -> Void {
    let isStrict = options.strict
    return { error in
      guard let error, SourceLoss(error) == nil, control.stopRequested == nil else { return }
      let text = "No windows are written down any more: \(error.message)"
      let time = Timestamp(nanoseconds: MonotonicClock.now() - control.epoch)
      report(Event(time: time, kind: .warning, text: text))
      if isStrict { control.fail(.failed, Self.strictError(text)) }
    }
  }

  private static func strictError(_ text: String) -> RecorderError {
    RecorderError(.incomplete, text, hint: "The recording is strict, so it ends here; what was recorded is kept.")
  }
}
