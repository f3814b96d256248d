import Archive
import Arguments
import Commands
import Control
import FoundationEssentials
import Glibc
import SessionModel

extension StatusCommand: Command {
  func run() throws {
    let recordings = try OpenRecordings()
    if watch { return try Self.watch(recordings.running.connect(recording.name)) }
    var statuses = try recordings.running.all()
    statuses += try Self.unreachable(in: ArchiveReader(recordings.archive), besides: statuses)
    if let name = recording.name { statuses = [try Self.choose(name, statuses, ArchiveReader(recordings.archive))] }
    if output.json { return try StandardOutput.jsonLines(statuses) }
    if statuses.isEmpty { return Diagnostics.message("Nothing is being recorded.") }
    for status in statuses { try StandardOutput.line(status.text) }
  }

  /// Prints each status that the recorder sends, until it ends.
  private static func watch(_ client: consuming ControlClient) throws {
    try client.send(ControlRequest(.watch))
    while let response = try client.next(until: nil) {
      if let failure = response.failure { throw failure }
      if let status = response.status { try StandardOutput.jsonLines([status]) }
    }
  }

  /// The sessions that say they are being recorded and answer to nobody: their recorder was killed, or its sockets are
  /// elsewhere.
  private static func unreachable(
    in archive: ArchiveReader, besides known: [RecorderStatus]
  ) throws(RecorderError) -> [RecorderStatus] {
    var found: [RecorderStatus] = []
    for id in try archive.pending() where !known.contains(where: { $0.session == id }) {
      guard let session = try? archive.session(id), let manifest = try? session.manifest(), manifest.state == .recording
      else { continue }
      let isLive = (try? session.isLive()) ?? false
      // What a held capture is just being saved as is no recording of its own.
      if isLive, manifest.options.hold != nil, known.contains(where: { $0.hold != nil }) { continue }
      found.append(status(of: manifest, isLive: isLive))
    }
    return found
  }

  /// The recording that `name` means: one of `statuses`, else a session of the archive.
  private static func choose(
    _ name: String, _ statuses: [RecorderStatus], _ archive: ArchiveReader
  ) throws(RecorderError) -> RecorderStatus {
    do { return try RunningRecordings.choose(name, among: statuses) } catch {
      guard let id = try? archive.resolve(name), let session = try? archive.session(id) else { throw error }
      return status(of: try session.manifest(), isLive: false)
    }
  }

  /// What the manifest and the lock alone tell of a session.
  private static func status(of manifest: Manifest, isLive: Bool) -> RecorderStatus {
    let state: RecordingState =
      switch manifest.state {
      case .recording: isLive ? .recording : .failed
      case .finished: manifest.end?.reason.isRequested == false ? .failed : .finished
      case .interrupted: .failed
      }
    var status = RecorderStatus(name: manifest.id.description, state: state)
    (status.session, status.source) = (manifest.id, manifest.options.source.text)
    status.elapsed = manifest.end?.time.nanoseconds
    status.message = manifest.end?.message
    (status.frames, status.droppedFrames) = (manifest.statistics?.frames, manifest.statistics?.droppedFrames)
    (status.bytes, status.segments) = (manifest.statistics?.bytes, manifest.segments.count)
    if manifest.state == .recording {
      status.message = isLive ? "Its control socket is not here." : "Its recorder was killed."
    }
    return status
  }
}

extension RecorderStatus {
  /// What a person reads: a line about the recording, and one about its stages.
  fileprivate var text: String {
    var parts = ["\(name.printable): \(state.rawValue)"]
    if let session, session.description != name { parts.append(session.description) }
    if let source { parts.append(source.printable(atMost: 40)) }
    if let elapsed { parts.append(Timestamp(nanoseconds: elapsed).description) }
    if let hold {
      parts.append(
        "\(Timestamp(nanoseconds: hold.span)) of \(Timestamp(nanoseconds: hold.wanted)) held in \(ByteCount.text(hold.bytes))"
      )
      if hold.isShort { parts.append("\(ByteCount.text(hold.memory)) hold no more") }
    }
    if let bytes { parts.append(ByteCount.text(bytes)) }
    if let frames { parts.append("\(frames) frames, \(droppedFrames ?? 0) left to the next") }
    if let segments, segments > 1 { parts.append("\(segments) files") }
    if let diskFree {
      parts.append(
        "\(ByteCount.text(diskFree)) free\(isDiskLow == true ? ", which is little," : "")"
          + (timeLeft.map { " for \(Self.hours($0))" } ?? ""))
    }
    var lines = [parts.joined(separator: "  ")]
    if let message { lines.append("  \(message.printable)") }
    if !stages.isEmpty { lines.append("  " + stages.map(Self.text).joined(separator: "  ")) }
    return lines.joined(separator: "\n")
  }

  private static func text(_ stage: Stage) -> String {
    var text = "\(stage.name.printable) \(stage.state.rawValue)"
    if stage.isMuted == true { text += " muted" }
    if let gain = stage.gain, gain != 0 { text += " gain \(gain > 0 ? "+" : "")\(gain) dB" }
    if let level = stage.level, stage.state == .ok {
      text += level > 0.00001 ? " \(Int((20 * log10(level)).rounded())) dB" : " silent"
    }
    return text
  }

  /// A length of time by its largest unit: what is left need not be known better.
  private static func hours(_ nanoseconds: Int64) -> String {
    let minutes = nanoseconds / 60_000_000_000
    if minutes < 120 { return "\(minutes) minutes" }
    return minutes < 2 * 24 * 60 ? "\(minutes / 60) hours" : "\(minutes / 60 / 24) days"
  }
}
