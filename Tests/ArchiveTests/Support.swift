import Glibc
import SessionModel
import TestSupport

@testable import Archive

/// The session id that `text` spells.
func sessionID(_ text: String) throws -> SessionID {
  guard let id = SessionID(text) else { throw TestFailure("\(text) is no session id") }
  return id
}

/// The manifest of a display session that began at 2026-11-30 02:15:33 UTC on a clock an hour east of Greenwich.
func sampleManifest(_ id: SessionID) -> Manifest {
  var video = Manifest.Track(index: 0, kind: .video, codec: "h264")
  video.size = PixelSize(width: 641, height: 479)
  video.encodedSize = PixelSize(width: 642, height: 480)
  return Manifest(
    id: id, generator: "recorder 0.1.0",
    clock: Manifest.Clock(
      utc: WallTime(nanoseconds: 1_796_004_933_000_000_000), monotonic: 5_000_000_000, utcOffset: 3600),
    host: Manifest.Host(name: "host", display: ":1"),
    source: Manifest.Source(specification: .display, rect: PixelRect(x: 0, y: 0, width: 641, height: 479)),
    options: RecordingOptions(), tracks: [video],
    segments: [Manifest.Segment(file: "media/000001.mkv", start: .zero)])
}

/// Permission bits of the file at `path`; nil when there is none.
func mode(_ path: String) -> mode_t? {
  var status = stat()
  return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}

/// Where the session `id` of the archive at `root` is.
func sessionPath(_ root: String, _ id: SessionID) -> String {
  "\(root)/sessions/\(id.dateComponents.joined(separator: "/"))/\(id)"
}

/// The error that `body` throws; nil when it throws none.
func failure<Result: ~Copyable>(_ body: () throws(RecorderError) -> Result) -> RecorderError? {
  do throws(RecorderError) {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

/// An archive of a test's own, not made yet.
struct TestArchive {
  let folder: TemporaryFolder
  let root: String
  let reader: ArchiveReader

  init() throws {
    folder = try TemporaryFolder()
    root = folder.file("a/b/archive")
    reader = ArchiveReader(ArchiveLocation(path: root))
  }

  func create(_ id: SessionID) throws(RecorderError) -> SessionWriter {
    try SessionWriter.create(in: reader.location, id: id, manifest: sampleManifest(id))
  }
}
