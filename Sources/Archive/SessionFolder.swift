import FoundationEssentials
import Glibc
import SessionModel

/// What writing and reading a session share: its folder's place, its manifest and its lines.
extension Folder {
  /// The folder of the session `id` below an archive's root; nil when there is none.
  func session(_ id: SessionID) throws(RecorderError) -> Folder? {
    try day(of: id)?.folder(id.description)
  }

  /// The folder of the day of the session `id`; nil when there is none.
  func day(of id: SessionID) throws(RecorderError) -> Folder? {
    var folder = try folder(ArchiveLocation.Name.sessions)
    for name in id.dateComponents { folder = try folder?.folder(name) }
    return folder
  }

  /// Puts `manifest` in the place of the one that is here, so that a reader finds the old or the new one whole, even
  /// after a power cut.
  func replaceManifest(_ manifest: Manifest) throws(RecorderError) {
    let name = ArchiveLocation.Name.manifest
    let temporary = "\(name).new"
    // One that was left by a process that was killed.
    try removeFile(temporary)
    let file = try createFile(temporary)
    try file.write(try encode(manifest, pretty: true))
    try file.synchronize()
    try rename(temporary, to: name)
    try synchronize()
  }

  /// Appends `annotation` to the session in this folder, so that it survives a power cut; from any process.
  func append(_ annotation: Annotation) throws(RecorderError) {
    let file = try openOrCreateFile(ArchiveLocation.Name.annotations, appending: true)
    _ = try file.lock(waiting: true)
    var annotation = annotation
    annotation.previous = try file.lastLineDigest()
    var line = try encode(annotation) + [Line.end]
    if try !file.endsWithWholeLine() { line.insert(Line.end, at: 0) }
    try file.append(line: line)
    try file.synchronize()
  }
}

extension FileDescriptor {
  /// The hash of the last line, half a line included; of nothing when there is none.
  func lastLineDigest() throws(RecorderError) -> String {
    var last: [UInt8] = []
    let whole = try Line.forEach(in: self) { (line) throws(RecorderError) in last = Array(line) }
    let rest = try size() - whole
    if rest > 0 {
      last = [UInt8](repeating: 0, count: Int(min(rest, Int64(Line.longest))))
      _ = try read(into: &last, at: whole)
    }
    return Digest.of(last)
  }

  /// Whether the file is empty or its last byte ends a line: a writer that was killed may have left half a line.
  func endsWithWholeLine() throws(RecorderError) -> Bool {
    let size = try size()
    guard size > 0 else { return true }
    var last: [UInt8] = [0]
    _ = try read(into: &last, at: size - 1)
    return last == [Line.end]
  }
}

/// `value` as JSON bytes.
func encode(_ value: some Encodable, pretty: Bool = false) throws(RecorderError) -> [UInt8] {
  do {
    return Array(try JSONEncoder.canonical(pretty: pretty).encode(value))
  } catch {
    throw RecorderError(
      .brokenInvariant, "A value cannot be written as JSON: \(String(describing: error).printable(atMost: 200)).")
  }
}
