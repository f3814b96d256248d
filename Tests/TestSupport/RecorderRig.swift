import FoundationEssentials
import Glibc
package import SessionModel

/// The built `recorder` with an archive of its own, and a display when there is one.
package final class RecorderRig: Sendable {
  /// The folder the archive is in.
  package let folder: TemporaryFolder
  /// The display that is recorded.
  package let display: VirtualDisplay?
  private let extra: [String: String?]

  /// Makes a rig with an archive that does not exist yet.
  package init(display: VirtualDisplay? = nil, environment: [String: String?] = [:]) throws {
    folder = try TemporaryFolder()
    self.display = display
    extra = environment
  }

  /// The archive's path.
  package var archive: String { folder.file("archive") }

  /// What the program finds in its environment.
  package var environment: [String: String?] {
    var values: [String: String?] = [
      "RECORDER_ARCHIVE": archive, "XDG_RUNTIME_DIR": folder.path, "DISPLAY": nil, "WAYLAND_DISPLAY": nil, "TZ": "UTC",
      "XDG_CONFIG_HOME": folder.file("config"), "XDG_CONFIG_DIRS": folder.file("etc"),
    ]
    if let display { values.merge(display.environment) { _, new in new } }
    return values.merging(extra) { _, new in new }
  }

  /// Runs `recorder` with `arguments` to its end.
  package func run(
    _ arguments: [String], environment changes: [String: String?] = [:], rawArguments: [[UInt8]]? = nil,
    seconds: Double = 60
  ) throws -> ChildProcess.Result {
    let program = builtProgram("recorder")
    return try TestSupport.run(
      [program] + arguments, environment: environment.merging(changes) { _, new in new },
      rawArguments: rawArguments.map { [Array(program.utf8)] + $0 }, seconds: seconds)
  }

  /// A recording that runs.
  package struct Recording: Sendable {
    /// The process.
    package let process: ChildProcess
    /// The session it writes.
    package let id: SessionID
  }

  /// Starts `recorder record` with `arguments` and waits until it says which session it records.
  package func record(
    _ arguments: [String] = [], environment changes: [String: String?] = [:], ownGroup: Bool = false
  ) throws -> Recording {
    let process = try ChildProcess(
      [builtProgram("recorder"), "record"] + arguments,
      environment: environment.merging(changes) { _, new in new }, ownGroup: ownGroup)
    try waitUntil("the session's id") {
      guard process.isRunning else { throw TestFailure("record ended: \(process.errorsSoFar)") }
      return process.outputSoFar.hasSuffix("\n")
    }
    guard let id = SessionID(process.outputSoFar.dropLast()) else {
      throw TestFailure("no session id: \(process.outputSoFar)")
    }
    return Recording(process: process, id: id)
  }

  /// Records until the duration is over.
  /// - Returns: the session.
  package func record(seconds: Double, _ arguments: [String] = []) throws -> SessionID {
    let recording = try record(arguments + ["--duration", "\(seconds)"])
    let result = try recording.process.wait(seconds: seconds + 60)
    guard result.status == 0 else { throw TestFailure("record: \(result.ending) \(result.errorText)") }
    return recording.id
  }

  /// The folder of a session.
  package func session(_ id: SessionID) -> String {
    ([archive, "sessions"] + id.dateComponents + [id.description]).joined(separator: "/")
  }

  /// A session's one media file.
  package func media(_ id: SessionID) -> String { "\(session(id))/media/000001.mkv" }

  /// Keeps a session that was not as it must be, for a look at it after the test.
  /// - Returns: the path of the copy.
  package func keep(_ id: SessionID) throws -> String {
    let copy = "\(JSONSchema.repository)/.build/kept/\(id)"
    let result = try TestSupport.run(["sh", "-c", "mkdir -p \"${1%/*}\" && cp -r \"$0\" \"$1\"", session(id), copy])
    guard result.status == 0 else { throw TestFailure("\(copy): \(result.errorText)") }
    return copy
  }

  /// A session's manifest as it is on disk.
  package func manifest(_ id: SessionID) throws -> Manifest {
    try JSONDecoder().decode(Manifest.self, from: Data(try readFile("\(session(id))/manifest.json")))
  }

  /// A session's events; a torn last line is left out.
  package func events(_ id: SessionID) throws -> [Event] {
    try String(decoding: readFile("\(session(id))/events.ndjson"), as: UTF8.self).split(separator: "\n").compactMap {
      try? JSONDecoder().decode(Event.self, from: Data($0.utf8))
    }
  }
}

/// What an independent decoder (the ffmpeg program) finds in a media file.
package enum MediaFile {
  /// What ffprobe says of `path`, a line each. One that could not say it has not found nothing.
  package static func probe(_ path: String, _ arguments: [String]) throws -> [String] {
    let result = try run(["ffprobe", "-v", "error"] + arguments + [path])
    guard result.status == 0 else { throw TestFailure("ffprobe: \(result.ending) \(result.errorText)") }
    return result.lines
  }

  /// Every picture's time in ms, in order.
  package static func times(_ path: String) throws -> [Int] {
    try probe(path, ["-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0"]).compactMap { line in
      Double(line.filter { $0.isNumber || $0 == "." }).map { Int(($0 * 1000).rounded()) }
    }
  }

  /// Where one stream ends (`v:0`, `a:0`), in ns of the file's time; 0 when it has no packet.
  package static func end(_ path: String, _ stream: String) throws -> Int64 {
    let lines = try probe(
      path, ["-select_streams", stream, "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0"])
    return lines.reduce(0) { last, line in
      let times = line.split(separator: ",").compactMap { Double($0) }
      return max(last, Int64((times.reduce(0, +) * 1e9).rounded()))
    }
  }

  /// One stream's or the file's entries (`width`, `duration`), by name.
  package static func entries(_ path: String, _ stream: String = "v") throws -> [String: String] {
    var entries: [String: String] = [:]
    for line in try probe(path, ["-select_streams", stream, "-show_streams", "-show_format"]) {
      let parts = line.split(separator: "=", maxSplits: 1)
      if parts.count == 2, entries[String(parts[0])] == nil || parts[1] != "N/A" {
        entries[String(parts[0])] = String(parts[1])
      }
    }
    return entries
  }

  /// Every picture's pixels in `rect` as BGRX, four bytes a pixel, in order.
  package static func pictures(_ path: String, _ rect: PixelRect) throws -> [[UInt8]] {
    let result = try run(
      [
        "ffmpeg", "-v", "error", "-i", path, "-vf",
        "format=bgr0,crop=\(rect.width):\(rect.height):\(rect.x):\(rect.y)", "-fps_mode", "passthrough",
        "-enc_time_base", "1:1000", "-f", "rawvideo", "-",
      ], seconds: 120)
    guard result.status == 0 else { throw TestFailure("ffmpeg: \(result.errorText)") }
    let size = rect.area * 4
    return stride(from: 0, to: result.output.count - size + 1, by: size).map { Array(result.output[$0..<$0 + size]) }
  }

  /// One sound track's left channel at 48 kHz, from the file's time 0 on.
  /// - Parameter track: its number among the sound tracks, from 0.
  package static func sound(_ path: String, track: Int = 0) throws -> [Float] {
    let result = try run(
      [
        "ffmpeg", "-v", "error", "-copyts", "-i", path, "-map", "0:a:\(track)", "-af",
        "aresample=48000:async=1:first_pts=0,pan=mono|c0=c0", "-f", "f32le", "-",
      ], seconds: 120)
    guard result.status == 0 else { throw TestFailure("ffmpeg: \(result.errorText)") }
    return result.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  /// How many frames a sound track holds, as they are in the file.
  /// - Parameter track: its number among the sound tracks, from 0.
  package static func soundFrames(_ path: String, track: Int) throws -> Int {
    let result = try run(
      ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a:\(track)", "-ac", "1", "-f", "u8", "-"], seconds: 120)
    guard result.status == 0 else { throw TestFailure("ffmpeg: \(result.errorText)") }
    return result.output.count
  }

  /// The drawn counter of every picture, in order; nil where there is none.
  package static func counters(_ path: String, x: Int = 0, y: Int = 0) throws -> [Int?] {
    let size = PatternLayout.counterSize
    let rect = PixelRect(x: x, y: y, width: size.width, height: size.height)
    return try pictures(path, rect).map { picture in
      picture.withUnsafeBytes { bytes in
        bytes.baseAddress.flatMap { CounterPattern.counter(in: $0, bytesPerRow: size.width * 4) }
      }
    }
  }
}
