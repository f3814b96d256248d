internal import Archive
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The session's media files as they are written, one after the other, without a gap between them.
///
/// A new file begins with a keyframe of the picture, where a person or a limit asked for it, and where the picture takes
/// another size. The sound of the moments before it is still on its way then, since
/// it is mixed later than the picture is encoded: the file before stays open until that has come.
struct MediaFiles: ~Copyable {
  /// One file that is being written.
  private struct Open: ~Copyable {
    var container: ContainerWriter
    /// Its place in the manifest's segments.
    let index: Int
    /// The session's time at the file's time 0.
    let start: Timestamp
  }

  private let session: OpenSession
  private let control: PipelineControl
  /// The picture of the current file.
  private var format: PictureFormat
  private let sound: [StreamDescription]
  private let metadata: [String: String]
  private let notes: FileNotes
  private var clock = ClockKeeper()
  private var current: Open
  private var previous: Open?
  /// The streams whose packets of before the current file's start may still come, a bit each.
  private var late: UInt64 = 0
  private var closedBytes: Int64 = 0
  /// Bytes of a file at which the next one is asked for: three quarters of what it can have, so that what comes until a
  /// frame begins the next one, and its index, find room.
  private let fullSize: Int64

  /// Begins the first file, which the manifest names already.
  /// - Throws: `RecorderError` when the file cannot be begun.
  init(_ new: NewSession, control: PipelineControl) throws(RecorderError) {
    let container = try ContainerWriter(
      format: .matroska, fileDescriptor: new.fileDescriptor, streams: [new.format.stream] + new.sound,
      metadata: new.metadata)
    notes = try FileNotes(new.session, control: control)
    current = Open(container: container, index: 0, start: .zero)
    (session, self.control) = (new.session, control)
    (format, sound, metadata) = (new.format, new.sound, new.metadata)
    fullSize = session.writer.largestFile.map { $0 / 4 * 3 } ?? .max
  }

  /// Adds a packet, whose times are the capture's, to the file that holds its time.
  /// - Throws: `RecorderError` (writeFailed, cannotCreate).
  mutating func write(_ item: consuming MuxItem) throws(RecorderError) {
    let (stream, startsSegment, picture) = (item.stream, item.startsSegment, item.format ?? format)
    var packet = item.takePacket()
    packet.shift(by: -session.origin.nanoseconds)
    let time = packet.pts
    if startsSegment || picture !== format, time > current.start {
      let isNewPicture = picture !== format
      format = picture
      try begin(at: time, isAskedFor: startsSegment, isNewPicture: isNewPicture)
    }
    let bit = UInt64(1) << UInt64(stream)
    if late & bit != 0 {
      if time < current.start, var file = previous.take() {
        packet.shift(by: -file.start.nanoseconds)
        // One that cannot be written is not written again.
        try file.container.write(packet, stream: stream)
        previous = consume file
        return
      }
      late &= ~bit
      if late == 0 { try finishPrevious() }
    }
    packet.shift(by: -current.start.nanoseconds)
    try current.container.write(packet, stream: stream)
    if current.container.bytesTaken >= fullSize, !control.splits.isPending { control.split { _ in } }
  }

  /// Begins a new file at `time`.
  /// - Parameters:
  ///   - isAskedFor: whether somebody is to be told once the manifest has it.
  ///   - isNewPicture: whether its size may be another, which the manifest alone tells: it has it before the first packet.
  private mutating func begin(at time: Timestamp, isAskedFor: Bool, isNewPicture: Bool) throws(RecorderError) {
    // Of a second split within the sound's delay, the first one's sound is in no file's way any more.
    try finishPrevious()
    let index = current.index + 1
    let (descriptor, file) = try session.writer.createSegment(index + 1)
    let container = try ContainerWriter(
      format: .matroska, fileDescriptor: descriptor, streams: [format.stream] + sound, metadata: metadata)
    let (size, control) = (format.size, control)
    // By this a recovery knows when it began.
    try session.writer.append(Event(time: time, kind: .split, text: "\(index + 1)"))
    notes.add(isAwaited: isNewPicture) { isKept in
      if isKept, isAskedFor { control.splits.finish(Split(number: index + 1, time: time)) }
    } _: { manifest in
      let isTracks = manifest.tracks.contains { $0.kind == .video && $0.size == size }
      manifest.segments[index - 1].end = time
      manifest.segments.append(Manifest.Segment(file: file, start: time, size: isTracks ? nil : size))
    }
    control.log?.note(
      .info, .archive, "A new media file begins.",
      ["number": "\(index + 1)", "at": "\(time)", "size": "\(size)"])
    let next = Open(container: container, index: index, start: time)
    previous = exchange(&current, with: next)
    // The picture is stream 0.
    late = 0
    for number in sound.indices { late |= 1 << UInt64(number + 1) }
    if late == 0 { try finishPrevious() }
    control.segments.store(index + 1, ordering: .relaxed)
  }

  private mutating func finishPrevious() throws(RecorderError) {
    guard var file = previous.take() else { return }
    late = 0
    let (index, bytes) = (file.index, try file.container.finish(isKept: false))
    closedBytes += bytes
    notes.add(isOfFinishedFile: true) { manifest in manifest.segments[index].bytes = bytes }
  }

  /// Writes down that the recorder lives: `alive`, whose time is the capture's. It goes past the event track, whose thread
  /// then sleeps on a still screen. What the clocks did is told to `report`.
  mutating func attest(_ alive: Event, _ report: (Event) -> Void) {
    do throws(RecorderError) {
      if let alive = alive.moved(to: session.origin) { try session.writer.append(alive) }
    } catch {
      // The file can still be finished.
      control.fail(.writeFailed, error)
    }
    clock.look(session.manifest, notes, epoch: control.epoch, report)
  }

  /// Hands all that was written to the kernel.
  mutating func flush() throws(RecorderError) {
    var bytes = closedBytes
    if var file = previous.take() {
      try file.container.flush()
      bytes += file.container.bytesWritten
      previous = consume file
    }
    try current.container.flush()
    control.bytes.store(bytes + current.container.bytesWritten, ordering: .relaxed)
  }

  /// Finishes all files.
  /// - Returns: the bytes of all of them, and of the last one.
  mutating func finish() throws(RecorderError) -> (all: Int64, last: Int64) {
    try finishPrevious()
    let last = try current.container.finish()
    notes.finish()
    return (closedBytes + last, last)
  }
}

extension Packet {
  /// Moves its times by so many ns.
  fileprivate mutating func shift(by nanoseconds: Int64) {
    pts = pts + nanoseconds
    dts = dts + nanoseconds
  }
}
