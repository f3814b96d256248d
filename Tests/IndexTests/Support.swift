import Archive
import Glibc
import SessionModel
import TestSupport

@testable import Index

/// Nanoseconds of `seconds`.
func ns(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }

/// A window by its title and class.
func window(_ id: UInt32, _ title: String, _ className: String? = nil) -> WindowInfo {
  var window = WindowInfo(id: id, title: title)
  window.className = className
  return window
}

/// An event at `seconds`.
func event(_ seconds: Double, _ kind: Event.Kind, _ window: WindowInfo? = nil, text: String? = nil) -> Event {
  Event(time: Timestamp(nanoseconds: ns(seconds)), kind: kind, window: window, text: text)
}

/// An archive of a test's own with the sessions that the test writes.
struct IndexedArchive {
  let folder: TemporaryFolder
  let location: ArchiveLocation
  let reader: ArchiveReader

  init() throws {
    folder = try TemporaryFolder()
    location = ArchiveLocation(path: folder.file("archive"))
    reader = ArchiveReader(location)
  }

  var database: String { "\(location.path)/index.sqlite" }

  func path(of id: SessionID) -> String {
    "\(location.path)/sessions/\(id.dateComponents.joined(separator: "/"))/\(id)"
  }

  /// The session that began `second` seconds after 2026-11-30 02:15:00 UTC, an hour east of Greenwich.
  func manifest(second: Int, duration: Double?, title: String? = nil, tags: [String] = []) throws -> Manifest {
    let text = "20261130T02\(15 + second / 60)\(padded(second % 60, 2))Z-aaaa"
    guard let id = SessionID(text), let began = id.began else { throw TestFailure(text) }
    var options = RecordingOptions()
    (options.title, options.tags) = (title, tags)
    var manifest = Manifest(
      id: id, generator: "recorder", clock: Manifest.Clock(utc: began, monotonic: 0, utcOffset: 3600),
      host: Manifest.Host(name: "host", display: ":1"),
      source: Manifest.Source(
        specification: .display, rect: PixelRect(PixelSize(width: 640, height: 480))),
      options: options, tracks: [])
    if let duration {
      manifest.state = .finished
      manifest.end = Manifest.End(reason: .duration, time: Timestamp(nanoseconds: ns(duration)))
    }
    return manifest
  }

  /// Writes a session; one without a duration is left as a killed recorder would.
  @discardableResult
  func add(
    _ second: Int, duration: Double? = 10, title: String? = nil, tags: [String] = [], _ events: [Event] = []
  ) throws -> SessionID {
    let (writer, id) = try begin(second, title: title, tags: tags, events)
    if duration != nil {
      try writer.replaceManifest(manifest(second: second, duration: duration, title: title, tags: tags))
    }
    writer.close()
    return id
  }

  /// Begins a session and leaves it open.
  func begin(
    _ second: Int, title: String? = nil, tags: [String] = [], _ events: [Event] = []
  ) throws -> (SessionWriter, SessionID) {
    let manifest = try manifest(second: second, duration: nil, title: title, tags: tags)
    let writer = try SessionWriter.create(in: location, id: manifest.id, manifest: manifest)
    for event in events { try writer.append(event) }
    return (writer, manifest.id)
  }

  /// An index that knows what was written.
  func index() async throws -> SessionIndex {
    let index = SessionIndex(location)
    try await index.refresh()
    return index
  }

  /// Runs SQL on the file with Debian's own SQLite, through Python.
  @discardableResult
  func sql(_ statements: String) throws -> String {
    let script = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1])
      for statement in sys.stdin.read().split(";"):
          for row in database.execute(statement): print(*row)
      database.commit()
      """
    let result = try run(["python3", "-c", script, database], input: statements)
    guard result.status == 0 else { throw TestFailure(result.errorText) }
    return result.text
  }
}

extension SessionIndex {
  /// The snippets that `words` finds, best first.
  func snippets(_ words: String) throws(RecorderError) -> [String] {
    try search(SearchQuery(words: words)).map(\.snippet)
  }
}

/// The error that `body` throws; nil when it throws none.
func failure<Result>(_ body: () async throws -> Result) async -> RecorderError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? RecorderError
  }
}
