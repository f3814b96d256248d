import Media
package import SessionModel

/// What of a session is to be written to which file.
package struct ExportRequest: Hashable, Sendable {
  /// The file to write.
  package var file: FilePath
  /// Where the part begins; nil is the session's start.
  package var from: Timestamp?
  /// Where it ends; nil is the session's end.
  package var to: Timestamp?
  /// Whether it is encoded again although copying would do, so that it begins at the very frame and sample.
  package var isExact = false
  /// Whether a file that is there already is replaced.
  package var replaces = false
  /// What the file's name says.
  let format: ContainerWriter.Format

  /// Makes a request for all of a session.
  /// - Throws: `RecorderError` (usage) when the file's name ends in neither .mkv nor .mp4.
  package init(file: FilePath) throws(RecorderError) {
    switch file.fileExtension {
    case "mkv": format = .matroska
    case "mp4": format = .mp4
    default:
      throw RecorderError(
        .usage, "\(file) names no format that is written.", hint: "Let the name end in .mkv or .mp4.")
    }
    self.file = file
  }
}

/// How an export ended.
package enum ExportResult: Hashable, Sendable {
  /// The packets were copied as they are.
  case copied
  /// Picture and sound were encoded again.
  case encoded
  /// It was told to stop; no file was made.
  case stopped
}

/// Writes a session, or a part of it, as one file.
package struct Exporter: Sendable {
  private let timeline: Timeline

  /// Makes an exporter of `timeline`.
  package init(_ timeline: Timeline) { self.timeline = timeline }

  /// Writes what `request` asks for. The file is as long as the part: its last picture stands to the end.
  /// - Parameter proceed: is told how much is done, 0 to 1, and says whether to go on.
  /// - Throws: `RecorderError`: usage for a part that is none, cannotCreate when the file exists, writeFailed,
  ///   damagedData, unavailable when FFmpeg lacks an encoder. No file is left behind then.
  package func export(
    _ request: ExportRequest, proceed: (Double) -> Bool = { _ in true }
  ) throws(RecorderError) -> ExportResult {
    let span = ExportSpan(start: request.from ?? .zero, end: request.to ?? timeline.duration)
    guard span.start >= .zero, span.start < span.end, span.end <= timeline.duration else {
      throw RecorderError(
        .usage, "There is nothing from \(span.start) to \(span.end): the session is \(timeline.duration) long.",
        hint: "Name a beginning before the end, both within the session.")
    }
    if !request.isExact, let copy = try PacketCopy(timeline, span, format: request.format) {
      return try copy.write(request, proceed: proceed) ? .copied : .stopped
    }
    return try Transcode(timeline, span).write(request, proceed: proceed) ? .encoded : .stopped
  }
}

/// A part of a session.
struct ExportSpan {
  /// The first moment.
  var start: Timestamp
  /// The moment after the last one.
  var end: Timestamp

  /// How much of it is done at `time`, 0 to 1.
  func progress(at time: Timestamp) -> Double {
    min(1, max(0, Double(time - start) / Double(max(1, end - start))))
  }
}
