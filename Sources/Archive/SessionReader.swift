import FoundationEssentials
import Glibc
package import SessionModel

/// Reads one session, trusting nothing in it: half a line at the end, words that a later version wrote and paths that
/// lead elsewhere are all met.
package struct SessionReader: Sendable {
  /// The session's name.
  package let id: SessionID
  let folder: Folder

  /// The largest manifest that is read, in bytes: 100,000 segments of 150 bytes each.
  static let largestManifest = 16 << 20

  init(id: SessionID, folder: Folder) { (self.id, self.folder) = (id, folder) }

  /// The manifest as it is now.
  /// - Throws: `RecorderError` (damagedData) when it is missing, damaged, or of a format newer than this program.
  package func manifest() throws(RecorderError) -> Manifest {
    guard let file = try folder.file(ArchiveLocation.Name.manifest) else {
      throw RecorderError(.damagedData, "The session \(id) has no manifest.")
    }
    let data = Data(try file.readAll(atMost: Self.largestManifest))
    guard let format = try checkFormat(data), format > 0,
      let manifest = try? JSONDecoder().decode(Manifest.self, from: data), manifest.isPlausible
    else {
      throw RecorderError(.damagedData, "The manifest of session \(id) is damaged.")
    }
    guard manifest.id == id else {
      throw RecorderError(.damagedData, "The manifest of session \(id) is that of \(manifest.id).")
    }
    return manifest
  }

  /// What has to be so before anything of the session is changed: a newer recorder may keep there what this one does not
  /// know of, a protection as well. One whose manifest is missing or damaged is a person's to change.
  /// - Throws: `RecorderError` (damagedData) when a newer recorder wrote it.
  func checkFormat() throws(RecorderError) {
    guard let file = try folder.file(ArchiveLocation.Name.manifest) else { return }
    _ = try checkFormat(Data(try file.readAll(atMost: Self.largestManifest)))
  }

  /// The format that a manifest says it has; nil when it says none.
  /// - Throws: `RecorderError` (damagedData) when it is a newer one.
  private func checkFormat(_ manifest: Data) throws(RecorderError) -> Int? {
    struct Header: Decodable { let format: Int }
    let format = try? JSONDecoder().decode(Header.self, from: manifest).format
    guard let format, format > Manifest.currentFormat else { return format }
    throw RecorderError(
      .damagedData,
      "The session \(id) was written by a newer recorder (format \(format)); this one reads format \(Manifest.currentFormat).",
      hint: "Update recorder to read or change it.")
  }

  /// Gives each event to `body`, in the order they were written. A line that is no event is passed over, and so is half
  /// a line at the end.
  /// - Throws: `RecorderError` of `body`, or when the file cannot be read.
  package func forEachEvent(_ body: (Event) throws(RecorderError) -> Void) throws(RecorderError) {
    guard let file = try folder.file(ArchiveLocation.Name.events) else { return }
    let decoder = JSONDecoder()
    _ = try Line.forEach(in: file) { (line) throws(RecorderError) in
      guard let event = try? decoder.decode(Event.self, from: line), event.isPlausible else { return }
      try body(event)
    }
  }

  /// All events, in the order they were written.
  /// - Throws: `RecorderError` when the file cannot be read.
  package func events() throws(RecorderError) -> [Event] {
    var events: [Event] = []
    try forEachEvent { (event) throws(RecorderError) in events.append(event) }
    return events
  }

  /// The time of the last event, found without reading those before it; zero when there is none.
  /// - Throws: `RecorderError` when the file cannot be read.
  package func lastEventTime() throws(RecorderError) -> Timestamp {
    guard let file = try folder.file(ArchiveLocation.Name.events) else { return .zero }
    return try file.lastEvent(before: file.size())?.time ?? .zero
  }

  /// All annotations, in the order they were added.
  /// - Throws: `RecorderError` when the file cannot be read.
  package func annotations() throws(RecorderError) -> [Annotation] {
    guard let file = try folder.file(ArchiveLocation.Name.annotations) else { return [] }
    let decoder = JSONDecoder()
    var annotations: [Annotation] = []
    _ = try Line.forEach(in: file) { (line) throws(RecorderError) in
      guard var annotation = try? decoder.decode(Annotation.self, from: line), annotation.time?.isPlausible ?? true
      else { return }
      // The place in the file is told by the order.
      annotation.previous = nil
      annotations.append(annotation)
    }
    return annotations
  }

  /// Opens the media file of `segment` for reading.
  /// - Returns: its descriptor, which the caller closes.
  /// - Throws: `RecorderError` (damagedData) when it is missing or its path is none of a session's own.
  package func openSegment(_ segment: Manifest.Segment) throws(RecorderError) -> Int32 {
    guard let path = SegmentPath(file: segment.file) else {
      throw RecorderError(
        .damagedData,
        "The manifest of session \(id) names \"\(segment.file.printable(atMost: 60))\", which is no media file of it.")
    }
    guard let media = try folder.folder(ArchiveLocation.Name.media), let file = try media.file(path.name) else {
      throw RecorderError(.damagedData, "The session \(id) has no \(path.file).")
    }
    return file.take()
  }

  /// Whether a process records it now.
  package func isLive() throws(RecorderError) -> Bool {
    guard let file = try folder.file(ArchiveLocation.Name.lock) else { return false }
    guard try file.lock(waiting: false, shared: true) else { return true }
    file.unlock()
    return false
  }

  /// The bytes that its media files have on disk.
  package func mediaBytes() throws(RecorderError) -> Int64 {
    var total: Int64 = 0
    for path in try segmentPaths() {
      total += try tolerating(0) { () throws(RecorderError) in
        try folder.folder(ArchiveLocation.Name.media)?.file(path.name)?.size() ?? 0
      }
    }
    return total
  }

  /// The bytes that all its files have on disk, but for what a lock or a thumbnail takes.
  package func bytes() throws(RecorderError) -> Int64 {
    var total = try mediaBytes()
    for name in ArchiveLocation.Name.files {
      total += try tolerating(0) { () throws(RecorderError) in try folder.file(name)?.size() ?? 0 }
    }
    return total
  }

  /// Why no clean-up may delete it; nil when one may.
  package func protection() throws(RecorderError) -> String? {
    SessionLabels(manifest: nil, annotations: try annotations()).protection
  }

  /// The media files that are there, in order.
  func segmentPaths() throws(RecorderError) -> [SegmentPath] {
    try tolerating([]) { () throws(RecorderError) in
      try folder.folder(ArchiveLocation.Name.media)?.names().compactMap { SegmentPath(name: $0) }.sorted() ?? []
    }
  }
}
