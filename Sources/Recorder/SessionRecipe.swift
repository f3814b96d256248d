internal import Archive
internal import Capture
import Glibc
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// A session of the archive that is being written, as the threads of a capture share it.
final class OpenSession: Sendable {
  let writer: SessionWriter
  let manifest: SessionManifest
  /// The session's time 0 on the capture's time line.
  let origin: Timestamp
  /// What the capture had counted before it.
  let before: Counts
  /// Who looks after its disk; none before that has begun.
  private let keeper = Mutex<DiskKeeper?>(nil)

  /// Frames of a capture.
  struct Counts: Sendable {
    var frames = 0
    var dropped = 0
  }

  init(writer: SessionWriter, manifest: SessionManifest, origin: Timestamp, before: Counts) {
    (self.writer, self.manifest, self.origin, self.before) = (writer, manifest, origin, before)
  }

  /// Has the disk looked after from now on.
  /// - Parameter report: takes events, whose times are the capture's, for the session and the person.
  /// - Throws: `RecorderError` (systemCall) when there can be no more threads.
  func watchDisk(control: PipelineControl, report: @escaping @Sendable (Event) -> Void) throws(RecorderError) {
    let made = try DiskKeeper(writer, manifest.value.options.storage, control: control, report: report)
    keeper.withLock { $0 = made }
  }

  /// Ends that.
  /// - Parameter patience: ns for which the disk may hang before it is given up.
  /// - Returns: whether what had been begun is done.
  func stopWatchingDisk(patience: Int64) -> Bool {
    let made = keeper.withLock { keeper in
      defer { keeper = nil }
      return keeper
    }
    return made?.stop(patience: patience) ?? true
  }

  /// Takes the session away again; it has kept nothing.
  func discard(in archive: ArchiveLocation) {
    writer.close()
    try? ArchiveReader(archive).delete(writer.id, as: nil)
  }
}

/// A session that has just been made: its manifest names its first file, which is empty.
struct NewSession: Sendable {
  let session: OpenSession
  /// The file, which whoever writes it takes over.
  let fileDescriptor: Int32
  /// The picture of that file, and the sound's streams after it.
  let format: PictureFormat
  let sound: [StreamDescription]
  /// What players show of the file.
  let metadata: [String: String]
}

/// What it takes to make a session of a capture: one when a recording begins, one for each save, one when a held capture
/// is published.
struct SessionRecipe: Sendable {
  let archive: ArchiveLocation
  let plan: RecordingPlan
  let source: ResolvedSource
  /// The picture that the capture begins with, and the sound's streams, which follow it in the file.
  let format: PictureFormat
  let sound: [StreamDescription]
  /// Which inputs each of the sound's tracks carries.
  let trackInputs: [[String]]
  /// The command that it is recorded for.
  let command: Manifest.WrappedCommand?
  /// The capture's epoch, in monotonic ns.
  let epoch: Int64

  /// How many streams a file has.
  var streamCount: Int { 1 + sound.count }

  /// Makes a session.
  /// - Parameters:
  ///   - origin: its time 0 on the capture's time line.
  ///   - format: its first picture's; nil when it begins with the capture.
  ///   - state: what was in force then; nil when it begins with the capture.
  ///   - before: what the capture had counted before it.
  ///   - title: its title; nil is the one of the options.
  ///   - tags: its tags beside those of the options.
  /// - Throws: `RecorderError` (cannotCreate, permission, writeFailed); nothing is left in the archive then.
  func makeSession(
    at origin: Timestamp = .zero, format: PictureFormat? = nil, state: StateInForce? = nil,
    before: OpenSession.Counts = OpenSession.Counts(),
    title: String? = nil, tags: [String] = []
  ) throws(RecorderError) -> NewSession {
    let clock = Self.clock(epoch: epoch + origin.nanoseconds)
    let format = format ?? self.format
    var plan = plan
    if let title { plan.options.title = title }
    plan.options.tags += tags.filter { !plan.options.tags.contains($0) }
    let options = plan.options
    let writer = try SessionWriter.create(in: archive, at: clock.utc) { id in
      makeManifest(id, options, clock, format, state)
    }
    var manifest = makeManifest(writer.id, options, clock, format, state)
    do throws(RecorderError) {
      let (descriptor, file) = try writer.createSegment(1)
      manifest.segments = [Manifest.Segment(file: file, start: .zero)]
      do throws(RecorderError) {
        try writer.replaceManifest(manifest)
        if let title = options.title { try writer.annotate(Annotation(added: clock.utc, kind: .title, text: title)) }
        for tag in options.tags { try writer.annotate(Annotation(added: clock.utc, kind: .tag, text: tag)) }
      } catch {
        close(descriptor)
        throw error
      }
      let session = OpenSession(
        writer: writer, manifest: SessionManifest(manifest), origin: origin, before: before)
      return NewSession(
        session: session, fileDescriptor: descriptor, format: format, sound: sound, metadata: manifest.mediaMetadata)
    } catch {
      writer.close()
      try? ArchiveReader(archive).delete(writer.id, as: nil)
      throw error
    }
  }

  /// The wall clock at a monotonic time, by what both say now: a capture may have been held for days, and the clock was
  /// set meanwhile.
  private static func clock(epoch: Int64) -> Manifest.Clock {
    let utc = WallTime(nanoseconds: WallTime.now().nanoseconds - (MonotonicClock.now() - epoch))
    return Manifest.Clock(utc: utc, monotonic: epoch, utcOffset: utc.localUTCOffset)
  }

  private func makeManifest(
    _ id: SessionID, _ options: RecordingOptions, _ clock: Manifest.Clock, _ format: PictureFormat,
    _ state: StateInForce?
  ) -> Manifest {
    var picture = Manifest.Track(index: 0, kind: .video, codec: format.stream.codecName)
    (picture.size, picture.encodedSize) = (format.size, format.stream.size)
    let sounds = zip(sound, trackInputs).enumerated().map { index, input in
      var track = Manifest.Track(index: 1 + index, kind: .audio, codec: input.0.codecName)
      (track.sampleRate, track.channels, track.inputs) = (input.0.sampleRate, input.0.channels, input.1)
      return track
    }
    var found = source.source
    found.rect = state?.rect ?? found.rect
    found.window = state?.recorded ?? found.window
    if let id = found.window?.id { found.window = state?.windows.first { $0.id == id } ?? found.window }
    var manifest = Manifest(
      id: id, generator: "recorder \(recorderVersion)", clock: clock,
      host: Manifest.Host(name: Self.hostName, display: source.display), source: found, options: options,
      tracks: [picture] + sounds)
    manifest.command = command
    return manifest
  }

  private static var hostName: String {
    var name = utsname()
    uname(&name)
    return withUnsafeBytes(of: &name.nodename) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
